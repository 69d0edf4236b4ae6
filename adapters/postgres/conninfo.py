"""What ``postgres.url`` says, and how much of it may be shown."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.domain.errors import SettingsError

_EXAMPLE = "postgresql://user:password@host:5432/database"
_KEEPALIVES = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def connection_parameters(settings: PostgresSettings) -> dict[str, Any]:
    """The parameters of a connection by libpq's names, with our own where the url is silent.

    Raises:
        SettingsError: the url is empty, or is none; it may hold a password, so it is not shown.
    """
    if not settings.url.strip():
        raise SettingsError([f"postgres.url is not set: give one such as {_EXAMPLE}"])
    try:
        given = conninfo_to_dict(settings.url)
    except psycopg.Error:
        # Its text may quote a part of the password.
        raise _unreadable() from None
    host, port = str(given.get("host") or ""), str(given.get("port") or "")
    database = str(given.get("dbname") or "")
    # A password's own @ or / moves the rest of it into other parts.
    is_shifted = "@" in host or ("@" in database and "/" in database)
    if is_shifted or not all(one.isdigit() or not one for one in port.split(",")):
        raise _unreadable()
    return {
        "fallback_application_name": "evidence-lookup",
        **_KEEPALIVES,
        "tcp_user_timeout": milliseconds(settings.timeout_seconds),
        **given,
        "client_encoding": "utf8",
    }


def milliseconds(seconds: float) -> int:
    """*seconds* as the server's and libpq's limits take them, where 0 would be no limit."""
    return int(min(max(seconds * 1000, 1), 2**31 - 1))


def place(settings: PostgresSettings) -> str:
    """Where the server is, for messages: host and port, without user, password and database."""
    given = connection_parameters(settings)
    hosts = str(given.get("host") or given.get("hostaddr") or "").split(",")
    ports = str(given.get("port") or "").split(",")
    if len(ports) < len(hosts):
        ports = ports[:1] * len(hosts)
    pairs = zip(hosts, ports, strict=False)
    return ", ".join(f"{host}:{port}" if port else host for host, port in pairs) or "its place"


def without_password(text: str, settings: PostgresSettings) -> str:
    """*text* of a driver, where the password of the url would stand in it."""
    password = str(connection_parameters(settings).get("password") or "")
    return text.replace(password, "…") if len(password) > 3 else text


def _unreadable() -> SettingsError:
    return SettingsError(
        [
            f"postgres.url cannot be read: give one such as {_EXAMPLE}, in the password %40 for @, "
            "%2F for / and %25 for %"
        ]
    )
