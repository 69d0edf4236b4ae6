"""Whatever a record or entry holds, SQLite gives it back."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.arbitrary import any_of

from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import TraceFilter

_ENTRIES = st.lists(any_of(CatalogueEntry), max_size=4)
_RECORDS = st.lists(any_of(ToolInvocation), max_size=4, unique_by=lambda one: one.id)


@settings(deadline=None, max_examples=50)
@given(_ENTRIES)
def test_entries_come_back_equal(entries: list[CatalogueEntry]) -> None:
    """Any entry is found again by its id, and all of them in their order."""

    async def check(path: Path) -> None:
        catalogue = SqliteCatalogue(path)
        await catalogue.put(entries)
        last = {one.doc_id: one for one in entries}
        assert await catalogue.get(list(last)) == last
        assert list(await catalogue.entries()) == [last[doc_id] for doc_id in sorted(last)]
        await catalogue.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder, "knowledge.sqlite")))


@settings(deadline=None, max_examples=50)
@given(_RECORDS)
def test_records_come_back_equal(records: list[ToolInvocation]) -> None:
    """Any record is found again by its id and session, and all of them by their time."""

    async def check(path: Path) -> None:
        traces = SqliteTraces(path)
        await traces.record(records)
        for one in records:
            assert await traces.get(one.id) == one
            if one.session_id is not None:
                assert one in await traces.recent(
                    limit=9, where=TraceFilter(session_id=one.session_id)
                )
        times = [one.created_at for one in await traces.recent(limit=9)]
        assert times == sorted((one.created_at for one in records), reverse=True)
        await traces.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder, "knowledge.sqlite")))
