"""A catalogue entry as a row of `document`."""

from collections.abc import Collection, Sequence
from typing import Any

from evidence_lookup.adapters.json_values.text import decode, encode
from evidence_lookup.adapters.sqlite.texts import loaded, loaded_or_none, stored
from evidence_lookup.domain.document import CatalogueEntry

COLUMNS = (
    "doc_id", "source", "root", "title", "category", "keywords", "entities", "headings",
    "language", "scope", "content_hash", "recipe", "chunk_count",
)  # fmt: skip


def row_of(entry: CatalogueEntry) -> tuple[object, ...]:
    """The values of `COLUMNS` for *entry*; lists and scope as JSON."""
    return (
        stored(entry.doc_id),
        stored(entry.source),
        stored(entry.root),
        stored(entry.title),
        stored(entry.category),
        _list(entry.keywords),
        _list(entry.entities),
        _list(entry.headings),
        stored(entry.language),
        encode(dict(entry.scope)) if entry.scope else "{}",
        stored(entry.content_hash),
        stored(entry.recipe),
        entry.chunk_count,
    )


def entry_of(row: Sequence[Any]) -> CatalogueEntry:
    """The entry that `row_of` made *row* of.

    Raises:
        TypeError, ValueError: the row is damaged.
    """
    return CatalogueEntry(
        doc_id=loaded(row[0]),
        source=loaded(row[1]),
        root=loaded(row[2]),
        title=loaded(row[3]),
        category=loaded_or_none(row[4]),
        keywords=_texts(row[5]),
        entities=_texts(row[6]),
        headings=_texts(row[7]),
        language=loaded_or_none(row[8]),
        scope=dict(decode(row[9])),
        content_hash=loaded(row[10]),
        recipe=loaded(row[11]),
        chunk_count=row[12],
    )


# Most lists are empty, and a catalogue is read whole.
def _list(texts: Collection[str]) -> str:
    return encode(list(texts)) if texts else "[]"


def _texts(column: str) -> tuple[str, ...]:
    return tuple(decode(column)) if column != "[]" else ()
