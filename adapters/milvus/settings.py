"""Where the collection is, and how it is called."""

import re
from pathlib import Path

from attrs import Attribute, field, frozen
from attrs.validators import gt, in_

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


def _identifier(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _NAME.fullmatch(value):
        key = attribute.name.replace("_", "-")
        raise ValueError(
            f"milvus.{key} is {value!r}: use a letter or _, then letters, digits and _"
        )


def _without_credentials(_: object, attribute: "Attribute[str]", value: str) -> None:
    # The address stands in messages and records.
    if "://" in value and "@" in value.split("://", 1)[1].split("/", 1)[0]:
        raise ValueError("milvus.uri holds credentials: use milvus.token (user:password)")


@frozen
class MilvusSettings:
    """How to reach one collection, and what its fields are called.

    `uri` is the path of an embedded database, or ``http(s)://host:port``; whoever opens the
    adapter replaces an empty one. `metric` (``COSINE``,
    ``L2`` or ``IP``) and `analyzer` count for a collection that the product creates; one that is
    there already is used as it stands. `analyzer` is ``multilingual`` or one of Milvus' own types
    (``chinese``, ``english``, ``standard``). Every call ends within `timeout_seconds`.

    Raises:
        ValueError: the address holds credentials, a name is no identifier, a choice is unknown or
            the timeout is not above 0.
    """

    uri: str = field(default="", validator=_without_credentials)
    token: str = field(default="", repr=False)
    database: str = ""
    secure: bool = False
    server_pem_path: str = ""
    server_name: str = ""
    ca_pem_path: str = ""
    client_pem_path: str = ""
    client_key_path: str = ""
    collection: str = field(default="knowledge", validator=_identifier)
    id_field: str = field(default="id", validator=_identifier)
    content_field: str = field(default="content", validator=_identifier)
    vector_field: str = field(default="vector", validator=_identifier)
    metadata_field: str = field(default="metadata", validator=_identifier)
    keyword_field: str = field(default="keyword_text", validator=_identifier)
    sparse_field: str = field(default="sparse", validator=_identifier)
    metric: str = field(default="COSINE", validator=in_(("COSINE", "L2", "IP")))
    analyzer: str = field(
        default="multilingual", validator=in_(("multilingual", "chinese", "english", "standard"))
    )
    consistency: str = field(
        default="Strong", validator=in_(("Strong", "Session", "Bounded", "Eventually"))
    )
    timeout_seconds: float = field(default=10.0, validator=gt(0))

    @property
    def path(self) -> Path | None:
        """The file of an embedded database, or None for a server."""
        return None if "://" in self.uri else Path(self.uri).expanduser().absolute()
