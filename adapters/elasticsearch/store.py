"""Writing chunks: nothing is seen before the refresh that ends a write."""

import time
from collections.abc import Collection, Sequence

import anyio.to_thread

from evidence_lookup.adapters.chunks import check_one_document
from evidence_lookup.adapters.elasticsearch.bulk import send
from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.driver import Driver
from evidence_lookup.adapters.elasticsearch.errors import has_type
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.mapping import index_body
from evidence_lookup.adapters.elasticsearch.metadata_filter import left_out
from evidence_lookup.adapters.elasticsearch.rows import Action, deleted, written
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.elasticsearch.stored import stored_rows
from evidence_lookup.domain.errors import BackendUnavailableError, InvalidChunkError
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

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
    if not chunks:
        await delete_documents(connection, (doc_id,))
        return

    async def write() -> None:
        layout = await _layout(connection)
        _check_ids([doc_id], layout, connection.settings)
        # An interrupted write may have left rows that nobody has seen yet.
        await _refresh(connection)
        old = await stored_rows(connection, (doc_id,), layout)
        # Later than all that is there, also where it was written by a clock that is ahead.
        version = max(time.time_ns(), *(row.highest + 1 for row in old)) if old else time.time_ns()
        new = await _written(connection, chunks, layout, version=version)
        kept = {action.id for action in new}
        surplus = [row.id for row in old if row.id not in kept]
        gone = deleted(surplus, version=version if layout.is_own else None)
        conflicts = await send(connection, [*new, *gone])
        await _refresh(connection)
        if layout.is_own:
            await _clear(connection, doc_id, layout, version, has_conflicts=bool(conflicts))

    await connection.write(write)


async def _clear(
    connection: ElasticsearchConnection,
    doc_id: str,
    layout: Layout,
    version: int,
    *,
    has_conflicts: bool,
) -> None:
    """Leave the newest version alone: another event loop or process may have written beside."""
    rows = await stored_rows(connection, (doc_id,), layout)
    newest = max((row.version for row in rows if row.version is not None), default=0)
    if has_conflicts and newest <= version:
        raise BackendUnavailableError(
            f"document {doc_id!r} was deleted a moment ago, by a machine whose clock is ahead of "
            "this one's: write it again in a minute"
        )
    older = [row.id for row in rows if row.version is not None and row.version < newest]
    if older:
        await send(connection, deleted(older, version=newest))
        await _refresh(connection)


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
            rows = await stored_rows(connection, part, layout)
            await send(connection, deleted([row.id for row in rows]))
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


def _is_storable(doc_id: str) -> bool:
    try:
        doc_id.encode()
    except UnicodeEncodeError:
        return False
    return True
