"""The part of the official client that is used, typed, and how it is opened."""

import importlib
import ssl
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import MissingExtraError, SettingsError


class Indices(Protocol):
    """`elasticsearch.AsyncElasticsearch.indices`."""

    async def create(self, *, index: str, body: dict[str, Any]) -> Any: ...
    async def delete(self, *, index: str, ignore_unavailable: bool) -> Any: ...
    async def exists(self, *, index: str) -> Any: ...
    async def get_mapping(self, *, index: str) -> Any: ...
    async def refresh(self, *, index: str) -> Any: ...


class Driver(Protocol):
    """`elasticsearch.AsyncElasticsearch`; answers are read by their `body`."""

    @property
    def indices(self) -> Indices: ...
    async def search(self, *, body: dict[str, Any], **kwargs: Any) -> Any: ...
    async def bulk(self, *, index: str, operations: list[bytes]) -> Any: ...
    async def open_point_in_time(self, *, index: str, keep_alive: str) -> Any: ...
    async def close_point_in_time(self, *, body: dict[str, Any]) -> Any: ...
    async def close(self) -> None: ...


def load() -> None:
    """Read the driver's modules; the first time takes about a second.

    Raises:
        MissingExtraError: they are not installed.
    """
    try:
        importlib.import_module("elasticsearch")
        importlib.import_module("aiohttp")
    except ImportError as error:
        raise MissingExtraError("elasticsearch", "knowledge in Elasticsearch") from error


def open_driver(settings: ElasticsearchSettings) -> Driver:
    """A client that has not connected yet; `load` goes before.

    Raises:
        SettingsError: the certificates cannot be read.
    """
    from elasticsearch import AsyncElasticsearch

    options: dict[str, Any] = {}
    if settings.api_key:
        options["api_key"] = settings.api_key
    if settings.username:
        # Encoded here, since the driver takes nothing but ASCII.
        pair = f"{settings.username}:{settings.password}".encode()
        options["basic_auth"] = b64encode(pair).decode()
    if settings.is_encrypted:
        options["verify_certs"] = settings.verify_certificates
        if not settings.verify_certificates:
            options["ssl_show_warn"] = False
        if settings.ca_cert_path:
            options["ca_certs"] = _readable(settings.ca_cert_path)
        if settings.certificate_fingerprint:
            options["ssl_assert_fingerprint"] = settings.certificate_fingerprint
            # The fingerprint says which certificate it is, whoever signed it.
            options.update(verify_certs=False, ssl_show_warn=False)
    try:
        client = AsyncElasticsearch(
            settings.address,
            request_timeout=settings.timeout_seconds,
            # A retry would begin the time anew.
            max_retries=0,
            retry_on_timeout=False,
            **options,
        )
    except (ssl.SSLError, OSError) as error:
        raise SettingsError(
            [f"elasticsearch.ca-cert-path: no certificates in {settings.ca_cert_path!r}: {error}"]
        ) from error
    return cast("Driver", client)


def body_of(answer: Any, *names: str) -> Mapping[str, Any]:
    """The object in *answer*, with *names* in it.

    Raises:
        elastic_transport.SerializationError: something else came, such as a page of a proxy.
    """
    from elastic_transport import SerializationError

    body: Any = answer.body
    if not isinstance(body, Mapping) or not all(name in body for name in names):
        raise SerializationError("the answer is not of the kind that was asked for")
    return cast("Mapping[str, Any]", body)


def _readable(path: str) -> str:
    found = Path(path).expanduser()
    if not (found.is_file() or found.is_dir()):
        raise SettingsError([f"elasticsearch.ca-cert-path: there is no file or folder {path!r}"])
    return str(found)
