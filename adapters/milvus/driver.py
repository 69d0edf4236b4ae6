"""The part of pymilvus' asynchronous client that is used, typed, and how it is opened."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from evidence_lookup.adapters.milvus.settings import MilvusSettings


class Driver(Protocol):
    """`pymilvus.AsyncMilvusClient`; rows are mappings by field name."""

    def create_schema(self, **kwargs: Any) -> Any: ...
    def prepare_index_params(self) -> Any: ...
    async def get_server_version(self, **kwargs: Any) -> str: ...
    async def has_collection(self, collection_name: str, **kwargs: Any) -> bool: ...
    async def create_collection(self, collection_name: str, **kwargs: Any) -> None: ...
    async def drop_collection(self, collection_name: str, **kwargs: Any) -> None: ...
    async def load_collection(self, collection_name: str, **kwargs: Any) -> None: ...
    async def describe_collection(self, collection_name: str, **kwargs: Any) -> dict[str, Any]: ...
    async def list_indexes(self, collection_name: str, **kwargs: Any) -> list[str]: ...
    async def describe_index(
        self, collection_name: str, index_name: str, **kwargs: Any
    ) -> dict[str, Any]: ...
    async def search(self, collection_name: str, **kwargs: Any) -> Sequence[Sequence[Any]]: ...
    async def query(self, collection_name: str, **kwargs: Any) -> Sequence[dict[str, Any]]: ...
    async def upsert(
        self, collection_name: str, data: list[dict[str, Any]], **kwargs: Any
    ) -> object: ...
    async def delete(self, collection_name: str, **kwargs: Any) -> object: ...
    async def close(self) -> None: ...


def pymilvus() -> Any:
    """The driver's module; the first time takes most of a second (pandas)."""
    return import_module("pymilvus")


def client_options(settings: MilvusSettings, uri: str) -> dict[str, Any]:
    """What a client of its own connection to *uri* is made with, synchronous or not."""
    options: dict[str, Any] = {
        "uri": uri,
        "token": settings.token,
        "db_name": settings.database,
        "timeout": settings.timeout_seconds,
        # A shared connection would outlive the loop it was made in.
        "dedicated": True,
        # Otherwise a new client shares the attempts of those that failed, which gRPC makes ever
        # rarer, up to one in two minutes: a server that is back would stay lost as long.
        "grpc_options": {"grpc.use_local_subchannel_pool": 1},
    }
    if settings.secure:
        options["secure"] = True
    for name in (
        "server_pem_path", "server_name", "ca_pem_path", "client_pem_path", "client_key_path",
    ):  # fmt: skip
        if value := getattr(settings, name):
            options[name] = value
    return options


async def open_driver(settings: MilvusSettings, uri: str) -> Driver:
    """A client of its own connection to *uri*, connected within the settings' time."""
    client = pymilvus().AsyncMilvusClient(**client_options(settings, uri))
    await client.__aenter__()
    return cast("Driver", client)
