"""Chunks to rows and rows to hits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from evidence_lookup.adapters.milvus.schema import Layout
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.domain.text import has_controls
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

VERSION = "_evidence_lookup_version"
"""When `replace_document` wrote a row, in nanoseconds; rows of plain upserts have none."""
TOMBSTONE = "_evidence_lookup_tombstone"
"""Marks a row that stands only until it is deleted; it is nothing that can be found."""
_MAX_METADATA_BYTES = 65_536

Row = dict[str, Any]


def row_of(
    embedded: EmbeddedChunk, layout: Layout, settings: MilvusSettings, *, version: int | None = None
) -> Row:
    """The row of one chunk.

    Raises:
        InvalidVectorError, DimensionMismatchError: as for `check_vector`.
        InvalidChunkError: a text is longer than its field, or cannot be stored.
    """
    chunk = embedded.chunk
    check_vector(embedded.vector, layout.dimension, what=f"the vector of {chunk.evidence_key!r}")
    metadata = chunk.metadata()
    if version is not None:
        metadata[VERSION] = version
    row: Row = {
        settings.id_field: _key(chunk, layout),
        settings.content_field: _text(chunk, "content", chunk.content, layout.max_content_bytes),
        settings.vector_field: embedded.vector.tolist(),
        settings.metadata_field: metadata,
    }
    _text(chunk, "metadata", repr(metadata), _MAX_METADATA_BYTES)
    if layout.has_keyword:
        row[settings.keyword_field] = _fitting(chunk.passage, layout.max_keyword_bytes)
    return row


def tombstone(key: str, like: Row, layout: Layout, settings: MilvusSettings) -> Row:
    """A row that hides *key*, with the vector of the row *like*."""
    row: Row = {
        settings.id_field: key,
        settings.content_field: "",
        settings.vector_field: like[settings.vector_field],
        settings.metadata_field: {TOMBSTONE: True},
    }
    if layout.has_keyword:
        row[settings.keyword_field] = ""
    return row


def size_of(row: Row) -> int:
    """About how many bytes *row* takes on the wire, rather more than less."""
    total = 64
    for value in row.values():
        if isinstance(value, str):
            total += len(value.encode())
        elif isinstance(value, list):
            total += 4 * len(value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            total += len(repr(value).encode())
    return total


@frozen
class FoundRow:
    """A row as a search returned it; `distance` is the backend's own number."""

    id: str
    distance: float
    content: str
    metadata: Mapping[str, Any]
    version: int | None
    is_tombstone: bool
    vector: "Vectors | None"

    @property
    def doc_id(self) -> object:
        """Which document it is of, as its metadata say."""
        return self.metadata.get("doc_id")


def found_row(hit: Mapping[str, Any], layout: Layout, settings: MilvusSettings) -> FoundRow:
    """The row in one hit of the driver."""
    import numpy as np

    entity: Mapping[str, Any] = hit["entity"]
    stored: Any = entity.get(settings.metadata_field)
    metadata: dict[str, Any] = dict(stored) if isinstance(stored, dict) else {}  # pyright: ignore
    version = metadata.pop(VERSION, None)
    vector = entity.get(settings.vector_field)
    key = hit["id"] if "id" in hit else hit[settings.id_field]
    return FoundRow(
        id=_key_of(str(key), layout),
        distance=float(hit["distance"]),
        content=str(entity.get(settings.content_field) or ""),
        is_tombstone=metadata.pop(TOMBSTONE, False) is True,
        metadata=metadata,
        version=version if isinstance(version, int) else None,
        vector=None if vector is None else np.asarray(vector, dtype=np.float32),
    )


def _key(chunk: Chunk, layout: Layout) -> str:
    if has_controls(chunk.doc_id):
        raise InvalidChunkError(
            f"the document id {chunk.doc_id!r} holds a control character or lone surrogate"
        )
    key = chunk.evidence_key
    if layout.is_own:
        # milvus-lite 2.5 puts keys into SQL between single quotes, unescaped.
        key = key.replace("%", "%25").replace("'", "%27")
    return _text(chunk, "evidence key", key, layout.max_id_bytes)


def _key_of(stored: str, layout: Layout) -> str:
    return stored.replace("%27", "'").replace("%25", "%") if layout.is_own else stored


def _text(chunk: Chunk, what: str, text: str, limit: int) -> str:
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidChunkError(
            f"the {what} of {chunk.evidence_key!r} holds a lone surrogate"
        ) from error
    if length > limit:
        raise InvalidChunkError(
            f"the {what} of {chunk.evidence_key[:200]!r} has {length} bytes, "
            f"but the collection takes {limit}"
        )
    return text


def _fitting(text: str, limit: int) -> str:
    """What of *text* the keyword field takes: its words may end early, its content may not."""
    return text.encode()[:limit].decode(errors="ignore")
