"""Writing chunks: nothing is seen before the refresh that ends a write."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import anyio.to_thread

from evidence_lookup.adapters.chunks import check_one_document
from evidence_lookup.adapters.elasticsearch.bulk import send
from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.driver import Driver, body_of
from evidence_lookup.adapters.elasticsearch.errors import has_type
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.mapping import index_body
from evidence_lookup.adapters.elasticsearch.metadata_filter import left_out
from evidence_lookup.adapters.elasticsearch.query import document_clause
from evidence_lookup.adapters.elasticsearch.rows import Action, deleted, written
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

_PAGE = 10_000
_IDS_PER_CALL = 1_000


async def prepare(connection: ElasticsearchConnection, *, model: str, dimension: int) -> bool:
    """See `KnowledgeStore.prepare`."""
    settings = connection.settings

    async def create(driver: Driver) -> bool:
        if (await driver.indices.exists(index=settings.index)).body:
            return False
        body = index_body(settings, model=model, dimension=dimension)
        try:
            await driver.indices.create(index=settings.index, body=body)
        except Exception as error:
            # Another process made it in the same moment.
            if has_type(error, "resource_already_exists_exception"):
                return False
            raise
        return True

    made = await connection.write(lambda: connection.call(create))
    layout = await connection.known_layout.get(fresh=True)
    check_fit(
        stored_model=layout.model,
        stored_dimension=layout.dimension,
        model=model,
        dimension=dimension,
    )
    return made


async def upsert(connection: ElasticsearchConnection, chunks: Sequence[EmbeddedChunk]) -> None:
    """See `KnowledgeStore.upsert`."""
    if not chunks:
        return

    async def write() -> None:
        layout = await _layout(connection)
        _check_ids({one.chunk.doc_id for one in chunks}, layout, connection.settings)
        await send(connection, await _written(connection, chunks, layout))
        await _refresh(connection)

    await connection.write(write)


async def replace_document(
    connection: ElasticsearchConnection, doc_id: str, chunks: Sequence[EmbeddedChunk]
) -> None:
    """See `KnowledgeStore.replace_document`."""
    check_one_document(doc_id, chunks)

    async def write() -> None:
        layout = await _layout(connection)
        _check_ids([doc_id], layout, connection.settings)
        new = await _written(connection, chunks, layout, version=time.time_ns())
        kept = {action.id for action in new}
        # An interrupted write may have left rows that nobody has seen yet.
        await _refresh(connection)
        old = await _ids_of(connection, (doc_id,), layout)
        surplus = [name for name in old if name not in kept]
        if new or surplus:
            await send(connection, [*new, *deleted(surplus)])
            await _refresh(connection)

    await connection.write(write)


async def delete_documents(connection: ElasticsearchConnection, doc_ids: Sequence[str]) -> None:
    """See `KnowledgeStore.delete_documents`."""
    wanted = [one for one in dict.fromkeys(doc_ids) if _is_storable(one)]
    if not wanted:
        return

    async def write() -> None:
        layout = await _layout(connection)
        _check_ids(wanted, layout, connection.settings)
        await _refresh(connection)
        for start in range(0, len(wanted), _IDS_PER_CALL):
            part = wanted[start : start + _IDS_PER_CALL]
            await send(connection, deleted(await _ids_of(connection, part, layout)))
        await _refresh(connection)

    await connection.write(write)


async def drop(connection: ElasticsearchConnection) -> None:
    """See `KnowledgeStore.drop`."""
    index = connection.settings.index
    await connection.write(
        lambda: connection.call(
            lambda driver: driver.indices.delete(index=index, ignore_unavailable=True)
        )
    )
    connection.known_layout.forget()


async def _layout(connection: ElasticsearchConnection) -> Layout:
    # Asked anew, since a write into a missing index would make one of no particular mapping.
    return await connection.known_layout.get(fresh=True)


def _check_ids(doc_ids: Collection[str], layout: Layout, settings: ElasticsearchSettings) -> None:
    """Refuse documents whose rows would never be found again."""
    if layout.is_own:
        return
    long = left_out("doc_id", list(doc_ids), layout, settings)
    if long:
        raise InvalidChunkError(
            f"the document id {long[0][:200]!r} is longer than index {settings.index!r} "
            "(elasticsearch.index) keeps of it (its ignore_above), so that its rows could neither "
            "be replaced nor deleted"
        )


async def _written(
    connection: ElasticsearchConnection,
    chunks: Sequence[EmbeddedChunk],
    layout: Layout,
    version: int | None = None,
) -> list[Action]:
    return await anyio.to_thread.run_sync(
        lambda: written(chunks, layout, connection.settings, version=version)
    )


async def _refresh(connection: ElasticsearchConnection) -> None:
    index = connection.settings.index
    await connection.call(lambda driver: driver.indices.refresh(index=index))


async def _ids_of(
    connection: ElasticsearchConnection, doc_ids: Sequence[str], layout: Layout
) -> list[str]:
    """The ids of all visible rows of *doc_ids*, page by page."""
    settings = connection.settings
    body: dict[str, Any] = {
        "query": {"bool": {"filter": [document_clause(doc_ids, layout, settings)]}},
        "size": _PAGE,
        "sort": ["_shard_doc"],
        "track_total_hits": False,
        "_source": False if layout.is_own else [f"{settings.metadata_field}.doc_id"],
    }

    async def read(driver: Driver) -> list[Mapping[str, Any]]:
        opened = await driver.open_point_in_time(index=settings.index, keep_alive="1m")
        name: str = body_of(opened, "id")["id"]
        hits: list[Mapping[str, Any]] = []
        try:
            while True:
                page = {**body, "pit": {"id": name, "keep_alive": "1m"}}
                if hits:
                    page["search_after"] = hits[-1]["sort"]
                answer = body_of(
                    await driver.search(body=page, allow_partial_search_results=False), "hits"
                )
                name = answer.get("pit_id", name)
                hits += answer["hits"]["hits"]
                if len(answer["hits"]["hits"]) < _PAGE:
                    return hits
        finally:
            await driver.close_point_in_time(body={"id": name})

    return [
        str(hit["_id"])
        for hit in await connection.call(read)
        if layout.is_own or _doc_id(hit, settings.metadata_field) in doc_ids
    ]


def _doc_id(hit: Mapping[str, Any], field: str) -> object:
    source: Mapping[str, Any] = hit.get("_source") or {}
    metadata = source.get(field)
    if not isinstance(metadata, dict):
        return None
    return cast("Mapping[str, object]", metadata).get("doc_id")


def _is_storable(doc_id: str) -> bool:
    try:
        doc_id.encode()
    except UnicodeEncodeError:
        return False
    return True
