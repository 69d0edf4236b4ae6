"""Where the index is, how to be let in, and how its fields are called."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from attrs import Attribute, field, frozen
from attrs.validators import gt, in_

from evidence_lookup.adapters.elasticsearch.helper_fields import HELPER_FIELDS

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,254}")
_INDEX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,254}")
_FINGERPRINT = re.compile(r"([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}|")
_HOST = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
_HEADER = re.compile(r"[!-~]*")
_PORTS = {"http": 80, "https": 443}
_FIELDS = ("content_field", "vector_field", "metadata_field", "keyword_field")


def _key(attribute: "Attribute[str]") -> str:
    return f"elasticsearch.{attribute.name.replace('_', '-')}"


def _field_name(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _FIELD.fullmatch(value) or value in HELPER_FIELDS:
        raise ValueError(
            f"{_key(attribute)} is {value!r}: use a letter, then letters, digits, _ and -, and "
            f"none of {', '.join(HELPER_FIELDS)}"
        )


def _index_name(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _INDEX.fullmatch(value):
        raise ValueError(
            f"{_key(attribute)} is {value!r}: use a small letter or digit, then up to 254 small "
            "letters, digits, _, . and -"
        )


def _address(_: object, attribute: "Attribute[str]", value: str) -> None:
    try:
        parts = urlsplit(value)
        is_right = parts.scheme in _PORTS and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:
        raise ValueError(f"{_key(attribute)} is no address: use http(s)://host:port") from None
    if "@" in parts.netloc:
        # Without the value, which holds a password.
        raise ValueError(
            f"{_key(attribute)} holds a user name: use elasticsearch.username and .password"
        )
    if not is_right or parts.query or parts.fragment:
        raise ValueError(f"{_key(attribute)} is {value!r}: use http(s)://host:port")


def _is_host(text: str) -> bool:
    if ":" in text:
        return bool(ip_address(text))
    # What a name beyond ASCII is called in DNS; a UnicodeError is a ValueError.
    return _HOST.fullmatch(text.encode("idna").decode()) is not None


def _header(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _HEADER.fullmatch(value):
        # Without the value, which is a secret.
        raise ValueError(f"{_key(attribute)} holds blanks, or characters that no key has")


def _user(_: object, attribute: "Attribute[str]", value: str) -> None:
    if ":" in value:
        raise ValueError(f"{_key(attribute)} is {value!r}: a name has no colon")


def _fingerprint(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _FINGERPRINT.fullmatch(value):
        raise ValueError(f"{_key(attribute)} is {value!r}: use a SHA-256 in hexadecimal")


@frozen
class ElasticsearchSettings:
    """How to reach one index, and what its fields are called.

    `url` is ``http(s)://host:port``. Either `api_key` or `username` with `password` lets in.
    `ca_cert_path` is a file or folder of PEM certificates; `certificate_fingerprint` is the
    SHA-256 of the server's own certificate, which is then trusted whoever signed it.
    `metric` (``COSINE``, ``L2`` or ``IP``) counts for an index that the product makes; one that
    is there already is used as it stands. Every call ends within `timeout_seconds`.

    Raises:
        ValueError: an address or name is malformed, two fields have one name, two ways to be let
            in are given, a choice is unknown, or the timeout is not above 0.
    """

    url: str = field(default="http://localhost:9200", validator=_address)
    api_key: str = field(default="", repr=False, validator=_header)
    username: str = field(default="", validator=_user)
    password: str = field(default="", repr=False)
    ca_cert_path: str = ""
    certificate_fingerprint: str = field(default="", validator=_fingerprint)
    verify_certificates: bool = True
    index: str = field(default="knowledge", validator=_index_name)
    content_field: str = field(default="content", validator=_field_name)
    vector_field: str = field(default="vector", validator=_field_name)
    metadata_field: str = field(default="metadata", validator=_field_name)
    keyword_field: str = field(default="keyword_text", validator=_field_name)
    metric: str = field(default="COSINE", validator=in_(("COSINE", "L2", "IP")))
    timeout_seconds: float = field(default=10.0, validator=gt(0))

    def __attrs_post_init__(self) -> None:
        if self.api_key and (self.username or self.password):
            raise ValueError(
                "elasticsearch.api-key and elasticsearch.username are both set: use one"
            )
        if bool(self.username) != bool(self.password):
            raise ValueError("elasticsearch.username and elasticsearch.password go together")
        names = [getattr(self, one) for one in _FIELDS]
        if len(set(names)) < len(names):
            raise ValueError(
                "elasticsearch.content-field, .vector-field, .metadata-field and .keyword-field "
                f"are {', '.join(names)}: they must differ"
            )

    @property
    def is_encrypted(self) -> bool:
        """Whether the way to the server is TLS."""
        return urlsplit(self.url).scheme == "https"

    @property
    def address(self) -> str:
        """`url` with its port, which the driver wants written out."""
        parts = urlsplit(self.url)
        port = parts.port or _PORTS[parts.scheme]
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"
