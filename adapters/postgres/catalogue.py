"""The catalogue in the table `document`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidence_lookup.adapters.postgres.database import PostgresDatabase
from evidence_lookup.adapters.postgres.rows import rows_of, values_of
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.texts import stored
from evidence_lookup.domain.document import CatalogueEntry

if TYPE_CHECKING:
    from evidence_lookup.adapters.postgres.connection import Connection

_COLUMNS = (
    "doc_id, source, root, title, category, keywords, entities, headings, language, scope, "
    "content_hash, recipe, chunk_count"
)
_SELECT = "SELECT row_to_json(one)::text FROM {document} AS one"
_PUT = f"""
    INSERT INTO {{document}} ({_COLUMNS})
    SELECT {_COLUMNS} FROM json_to_recordset(%s::json) AS entry (
        doc_id text, source text, root text, title text, category text, keywords json,
        entities json, headings json, language text, scope json, content_hash text, recipe text,
        chunk_count bigint
    )
    ON CONFLICT (doc_id) DO UPDATE SET
        (source, root, title, category, keywords, entities, headings, language, scope,
         content_hash, recipe, chunk_count)
        = (excluded.source, excluded.root, excluded.title, excluded.category, excluded.keywords,
           excluded.entities, excluded.headings, excluded.language, excluded.scope,
           excluded.content_hash, excluded.recipe, excluded.chunk_count)
"""
_REMOVE = "DELETE FROM {document} WHERE doc_id = ANY(%s)"
_REVISION = "SELECT revision FROM {document_revision}"
_REVISE = "UPDATE {document_revision} SET revision = gen_random_uuid()::text"


class PostgresCatalogue:
    """The indexed documents in a PostgreSQL database that several hosts share.

    The tables are made by `migrate`; until then all raises CollectionMissingError. All raises
    BackendTimeoutError where the server does not answer within `timeout_seconds`.
    """

    def __init__(self, settings: PostgresSettings) -> None:
        """Nothing is opened yet."""
        self._database = PostgresDatabase(settings)

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """Every entry, ordered by `doc_id`.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        rows = await self._database.rows(f"{_SELECT} ORDER BY doc_id")
        return await values_of(CatalogueEntry, rows)

    async def get(self, doc_ids: Sequence[str]) -> dict[str, CatalogueEntry]:
        """The entries of *doc_ids*; one that is not there is left out.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        if not doc_ids:
            return {}
        rows = await self._database.rows(
            f"{_SELECT} WHERE doc_id = ANY(%s) ORDER BY doc_id", [_stored(doc_ids)]
        )
        return {entry.doc_id: entry for entry in await values_of(CatalogueEntry, rows)}

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """Write *entries* in their order, each over the entry of the same `doc_id`: all or none.

        Raises:
            StorageError: the server's disk is full.
            BackendError: the server does not answer, or refuses.
        """
        if not entries:
            return
        last = {entry.doc_id: entry for entry in entries}
        written = await rows_of(list(last.values()))

        async def work(connection: "Connection") -> None:
            async with connection.transaction():
                # First: who holds this row writes, and others wait here, before any other lock.
                await connection.execute(self._database.statement(_REVISE))
                await connection.execute(self._database.statement(_PUT), [written])

        await self._database.run(work)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove the entries of *doc_ids*: all or none; an unknown id is no error.

        Raises:
            StorageError: the server's disk is full.
            BackendError: the server does not answer, or refuses.
        """
        if not doc_ids:
            return
        gone = _stored(doc_ids)

        async def work(connection: "Connection") -> None:
            async with connection.transaction():
                await connection.execute(self._database.statement(f"{_REVISION} FOR UPDATE"))
                done = await connection.execute(self._database.statement(_REMOVE), [gone])
                if done.rowcount:
                    await connection.execute(self._database.statement(_REVISE))

        await self._database.run(work)

    async def revision(self) -> str:
        """A text that changes whenever an entry does, by whichever process; one small read.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        ((revision,),) = await self._database.rows(_REVISION)
        return str(revision)

    async def aclose(self) -> None:
        """Close the connections; may be repeated, and used again after."""
        await self._database.aclose()


def _stored(doc_ids: Sequence[str]) -> list[str]:
    return [stored(one) for one in doc_ids]
