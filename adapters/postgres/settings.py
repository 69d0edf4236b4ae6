"""Which PostgreSQL database is used, and how it is reached."""

import re

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def _plain_name(_: object, attribute: "Attribute[str]", value: str) -> None:
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"postgres.{attribute.name} is {value!r}: use up to 63 lower-case letters, digits "
            "and _, not beginning with a digit"
        )


@frozen
class PostgresSettings:
    """A database that several hosts may share.

    `url` is a libpq connection string or URI, ``postgresql://user:password@host:5432/database``;
    what it lacks libpq takes from its own variables (``PGPASSWORD``) and files (``.pgpass``). Our
    tables stand in `schema`, one for each index. At most `pool_size` connections are open in each
    process. Times are in seconds: `connect_timeout_seconds` bound the opening of a connection,
    `timeout_seconds` each operation, the wait for a free connection included.

    Raises:
        ValueError: the schema is no plain lower-case name, or a number is not above 0.
    """

    url: str = field(default="", repr=False)
    schema: str = field(default="evidence_lookup", validator=_plain_name)
    pool_size: int = field(default=4, validator=ge(1))
    connect_timeout_seconds: float = field(default=5.0, validator=gt(0))
    timeout_seconds: float = field(default=10.0, validator=gt(0))
