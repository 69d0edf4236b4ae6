"""Writing chunks, one visible step for each document."""

import time
from collections.abc import Sequence

from evidence_lookup.adapters.batches import batches
from evidence_lookup.adapters.chunks import check_one_document
from evidence_lookup.adapters.milvus import schema
from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.driver import Driver
from evidence_lookup.adapters.milvus.expression import document_expression, id_expression
from evidence_lookup.adapters.milvus.room import require_room
from evidence_lookup.adapters.milvus.rows import Row, row_of, size_of, tombstone
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.errors import InvalidChunkError, ScopeError
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

_MAX_BATCH_BYTES = 16 * 1024 * 1024
# One call carries a whole document; servers take 64 MiB.
_MAX_DOCUMENT_BYTES = 48 * 1024 * 1024
_MAX_DOCUMENT_ROWS = 16_384
_IDS_PER_CALL = 1_000


async def prepare(connection: MilvusConnection, *, model: str, dimension: int) -> bool:
    """See `KnowledgeStore.prepare`."""
    settings = connection.settings
    made = False

    async def make() -> None:
        nonlocal made
        there = await connection.call(
            lambda driver: driver.has_collection(
                settings.collection, timeout=settings.timeout_seconds
            )
        )
        if not there:
            await connection.call(
                lambda driver: schema.create(driver, settings, model=model, dimension=dimension)
            )
            made = True

    await connection.write(make)
    layout = await connection.known_layout.get(fresh=True)
    check_fit(
        stored_model=layout.model,
        stored_dimension=layout.dimension,
        model=model,
        dimension=dimension,
    )
    return made


async def upsert(connection: MilvusConnection, chunks: Sequence[EmbeddedChunk]) -> None:
    """See `KnowledgeStore.upsert`; of chunks with one key the last one stays."""
    if not chunks:
        return
    layout = await connection.known_layout.get()
    rows = [row_of(chunk, layout, connection.settings) for chunk in chunks]
    last = _last_of_each_key(rows, connection.settings)

    async def write() -> None:
        for batch in batches(last, size_of, limit=_MAX_BATCH_BYTES):
            await _send(connection, batch)

    await connection.write(write)


async def replace_document(
    connection: MilvusConnection, doc_id: str, chunks: Sequence[EmbeddedChunk]
) -> None:
    """See `KnowledgeStore.replace_document`.

    One upsert holds the new rows and a tombstone over each old row that is left over; searches
    drop tombstones, which are deleted after it.
    """
    check_one_document(doc_id, chunks)
    if not chunks:
        await delete_documents(connection, (doc_id,))
        return
    settings = connection.settings
    layout = await connection.known_layout.get()
    version = time.time_ns()
    rows = _last_of_each_key(
        [row_of(chunk, layout, settings, version=version) for chunk in chunks], settings
    )
    size = sum(map(size_of, rows))
    if size > _MAX_DOCUMENT_BYTES or len(rows) > _MAX_DOCUMENT_ROWS:
        raise InvalidChunkError(
            f"document {doc_id!r} has {len(rows)} chunks of {size} bytes together, but one step "
            f"takes {_MAX_DOCUMENT_ROWS} chunks and {_MAX_DOCUMENT_BYTES} bytes: split it"
        )
    new = {row[settings.id_field] for row in rows}

    async def write() -> None:
        old = await _ids_of(connection, doc_id)
        surplus = [key for key in old if key not in new]
        hidden = [tombstone(key, rows[0], layout, settings) for key in surplus]
        await _send(connection, rows + hidden)
        for start in range(0, len(surplus), _IDS_PER_CALL):
            await _delete(
                connection,
                id_expression(settings.id_field, surplus[start : start + _IDS_PER_CALL]),
            )

    await connection.write(write)


async def delete_documents(connection: MilvusConnection, doc_ids: Sequence[str]) -> None:
    """See `KnowledgeStore.delete_documents`."""
    storable = [one for one in dict.fromkeys(doc_ids) if _is_storable(one)]
    if not storable:
        return
    field = connection.settings.metadata_field
    # Asked first, since a delete in a missing collection is no error everywhere.
    await connection.known_layout.get()

    async def write() -> None:
        for start in range(0, len(storable), _IDS_PER_CALL):
            await _delete(
                connection, document_expression(field, storable[start : start + _IDS_PER_CALL])
            )

    await connection.write(write)


async def drop(connection: MilvusConnection) -> None:
    """See `KnowledgeStore.drop`."""
    settings = connection.settings

    async def write() -> None:
        there = await connection.call(
            lambda driver: driver.has_collection(
                settings.collection, timeout=settings.timeout_seconds
            )
        )
        if there:
            await connection.call(
                lambda driver: driver.drop_collection(
                    settings.collection, timeout=settings.timeout_seconds
                )
            )

    await connection.write(write)
    connection.known_layout.forget()


def _last_of_each_key(rows: Sequence[Row], settings: MilvusSettings) -> list[Row]:
    return list({row[settings.id_field]: row for row in rows}.values())


async def _ids_of(connection: MilvusConnection, doc_id: str) -> list[str]:
    settings = connection.settings
    rows = await connection.call(
        lambda driver: driver.query(
            settings.collection,
            filter=document_expression(settings.metadata_field, (doc_id,)),
            output_fields=[settings.id_field],
            limit=_MAX_DOCUMENT_ROWS,
            consistency_level="Strong",
            timeout=settings.timeout_seconds,
        )
    )
    return [str(row[settings.id_field]) for row in rows]


async def _send(connection: MilvusConnection, rows: list[Row]) -> None:
    settings = connection.settings

    async def send(driver: Driver) -> None:
        # In here, what the file system says of a folder that is gone is translated too.
        require_room(settings, sum(map(size_of, rows)))
        await driver.upsert(settings.collection, rows, timeout=settings.timeout_seconds)

    await connection.call(send)


async def _delete(connection: MilvusConnection, expression: str) -> None:
    settings = connection.settings
    await connection.call(
        lambda driver: driver.delete(
            settings.collection, filter=expression, timeout=settings.timeout_seconds
        )
    )


def _is_storable(doc_id: str) -> bool:
    try:
        document_expression("metadata", (doc_id,))
    except ScopeError:
        return False
    return True
