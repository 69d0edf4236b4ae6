"""The quick JSON of a record says what the plain one says."""

from attrs import evolve
from hypothesis import given
from tests.arbitrary import any_of

from evidence_lookup.adapters.json_values import decode, dumps, dumps_utf8, from_json
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.testing.samples import SOME_TIME


@given(any_of(ToolInvocation))
def test_records_are_read_back_equal(record: ToolInvocation) -> None:
    """Whatever texts, numbers and times a record holds."""
    assert from_json(ToolInvocation, decode(dumps_utf8(record).decode())) == record


@given(any_of(ToolInvocation))
def test_the_json_is_that_of_dumps(record: ToolInvocation) -> None:
    """Names and values are the same, but for how a time is written."""
    record = evolve(record, created_at=SOME_TIME)
    quick = decode(dumps_utf8(record).decode())
    assert quick | {"created_at": ""} == decode(dumps(record)) | {"created_at": ""}


@given(any_of(CatalogueEntry))
def test_entries_are_read_back_equal(entry: CatalogueEntry) -> None:
    """Whatever a catalogue's entry holds."""
    assert from_json(CatalogueEntry, decode(dumps_utf8(entry).decode())) == entry
