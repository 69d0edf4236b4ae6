"""Chunks to rows and rows to hits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from attrs import frozen

from evidence_lookup.adapters.elasticsearch.helper_fields import (
    DOC_ID,
    EVIDENCE_KEY,
    FILTER_TERMS,
    VERSION,
)
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.query import filter_terms
from evidence_lookup.adapters.elasticsearch.scores import turned_back
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.terms import terms
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.text import has_controls
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

MAX_ID_BYTES = 512
_MAX_KEYWORD_BYTES = 32_766


@frozen
class Action:
    """One line or two of a bulk request, as bytes; it concerns the row `id`."""

    id: str
    lines: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return sum(map(len, self.lines)) + len(self.lines)


def row_id(key: str) -> str:
    """The ``_id`` of the chunk *key*: the key itself, or a digest of one that is too long."""
    raw = key.encode()
    return key if len(raw) <= MAX_ID_BYTES else f"sha256:{sha256(raw).hexdigest()}"


def written(
    chunks: Sequence[EmbeddedChunk],
    layout: Layout,
    settings: ElasticsearchSettings,
    *,
    version: int | None = None,
) -> list[Action]:
    """What writes *chunks*; of chunks with one key the last one stays.

    With a *version*, rows of an own index are written only where lower ones stand.

    Takes a while for many: not for the event loop.

    Raises:
        InvalidVectorError, DimensionMismatchError: as for `check_vector`.
        InvalidChunkError: a text cannot be stored, or a key is too long.
    """
    actions: dict[str, Action] = {}
    for one in chunks:
        row = _row(one, layout, settings, version)
        name = row_id(one.chunk.evidence_key)
        to = _place(name, version if layout.is_own else None)
        actions[name] = Action(name, (_line({"index": to}), _line(row)))
    return list(actions.values())


def deleted(ids: Sequence[str], *, version: int | None = None) -> Iterator[Action]:
    """What deletes the rows *ids*, with a *version* only where theirs are lower."""
    for name in ids:
        yield Action(name, (_line({"delete": _place(name, version)}),))


def _place(name: str, version: int | None) -> dict[str, Any]:
    # The server then refuses to put an older version of a row in the place of a newer one.
    with_version = {} if version is None else {"version": version, "version_type": "external"}
    return {"_id": name, **with_version}


def _row(
    embedded: EmbeddedChunk, layout: Layout, settings: ElasticsearchSettings, version: int | None
) -> dict[str, Any]:
    chunk = embedded.chunk
    key = chunk.evidence_key
    check_vector(embedded.vector, layout.dimension, what=f"the vector of {key!r}")
    metadata = chunk.metadata()
    _check_texts(chunk, metadata)
    row: dict[str, Any] = {
        settings.content_field: chunk.content,
        settings.vector_field: embedded.vector.tolist(),
        settings.metadata_field: metadata,
    }
    if layout.is_own:
        row[settings.keyword_field] = " ".join(terms(chunk.passage))
        row[EVIDENCE_KEY] = key
        row[DOC_ID] = chunk.doc_id
        row[FILTER_TERMS] = filter_terms(metadata)
        if version is not None:
            row[VERSION] = version
    elif layout.keyword_field == settings.keyword_field:
        row[settings.keyword_field] = chunk.passage
    return row


def _check_texts(chunk: Chunk, metadata: Mapping[str, Any]) -> None:
    if has_controls(chunk.doc_id):
        raise InvalidChunkError(
            f"the document id {chunk.doc_id!r} holds a control character or lone surrogate"
        )
    if len(chunk.evidence_key.encode()) > _MAX_KEYWORD_BYTES:
        raise InvalidChunkError(
            f"the evidence key {chunk.evidence_key[:200]!r}… is longer than the "
            f"{_MAX_KEYWORD_BYTES} bytes that an index takes"
        )
    for what, value in (
        ("content", chunk.content), ("passage", chunk.passage), ("metadata", metadata),
    ):  # fmt: skip
        try:
            _line(value)
        except UnicodeEncodeError as error:
            raise InvalidChunkError(
                f"the {what} of {chunk.evidence_key!r} holds a lone surrogate"
            ) from error


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@frozen
class FoundRow:
    """A row as a search returned it, its score with its own semantics."""

    id: str
    score: Score
    content: str
    metadata: Mapping[str, Any]
    version: int | None
    vector: "Vectors | None"

    @property
    def doc_id(self) -> object:
        """Which document it is of, as its metadata say."""
        return self.metadata.get("doc_id")


def found_row(
    hit: Mapping[str, Any], mode: SearchMode, layout: Layout, settings: ElasticsearchSettings
) -> FoundRow:
    """The row in one hit of a search in *mode*, dense or keyword."""
    source: Mapping[str, Any] = hit.get("_source") or {}
    stored: Any = source.get(settings.metadata_field)
    version = source.get(VERSION) if layout.is_own else None
    return FoundRow(
        id=str(source.get(EVIDENCE_KEY) or hit["_id"]) if layout.is_own else str(hit["_id"]),
        score=_score(hit.get("_score"), mode, layout),
        content=_text(source.get(settings.content_field)),
        metadata=dict(stored) if isinstance(stored, dict) else {},  # pyright: ignore
        version=version if isinstance(version, int) else None,
        vector=_vector(hit, settings),
    )


def source_fields(layout: Layout, settings: ElasticsearchSettings) -> list[str]:
    """What of a row a search must bring."""
    own = [EVIDENCE_KEY, VERSION] if layout.is_own else []
    return [settings.content_field, settings.metadata_field, *own]


def _score(value: float | None, mode: SearchMode, layout: Layout) -> Score:
    if value is None:
        return Score(None, ScoreSemantics.RANK_ONLY)
    if mode is SearchMode.KEYWORD:
        return Score(value, ScoreSemantics.BM25)
    return Score(turned_back(value, layout.similarity), layout.semantics)


def _text(value: object) -> str:
    # Others may store a list of texts in one field.
    if isinstance(value, list):
        return "\n".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    return "" if value is None else str(value)


def _vector(hit: Mapping[str, Any], settings: ElasticsearchSettings) -> "Vectors | None":
    import numpy as np

    fields: Mapping[str, Any] = hit.get("fields") or {}
    vector = fields.get(settings.vector_field)
    return None if vector is None else np.asarray(vector, dtype=np.float32)
