"""Which chunk a hit is: the identity that every later step keeps (R01 to R04)."""

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

_DOC_ID_NAMES = ("docId", "doc_id")
_CHUNK_INDEX_NAMES = ("chunkIndex", "chunk_index")
_CHUNK_MARK = "#chunk-"
_INDEX = re.compile(r"0|[1-9][0-9]{0,308}")  # as `evidence_key` writes it, to the largest float


@frozen
class Identity:
    """The evidence key of a hit, and what it was made of."""

    evidence_key: str
    doc_id: str | None = None
    chunk_index: int | None = None

    @property
    def is_synthetic(self) -> bool:
        """Whether the key is only a rank, which names no chunk outside one result."""
        is_chunk = self.doc_id is not None and self.chunk_index is not None
        return self.evidence_key.startswith("rank:") and not is_chunk


def identify(metadata: Mapping[str, Any], *, hit_id: object, original_rank: int) -> Identity:
    """The identity of a hit.

    ``{doc_id}#chunk-{chunk_index}`` if the metadata has both, else ``vector:{hit_id}``, else
    ``rank:{original_rank}``. Blank ids count as absent; whole numbers may be written as text or
    as floats.
    """
    doc_id = _first(metadata, _DOC_ID_NAMES, _as_id)
    chunk_index = _first(metadata, _CHUNK_INDEX_NAMES, _as_index)
    if doc_id is not None and chunk_index is not None:
        return Identity(evidence_key(doc_id, chunk_index), doc_id, chunk_index)
    stored_id = _as_id(hit_id)
    key = f"vector:{stored_id}" if stored_id is not None else f"rank:{original_rank}"
    return Identity(key, doc_id, chunk_index)


def evidence_key(doc_id: str, chunk_index: int) -> str:
    """The key of one chunk of one document; `parse_evidence_key` reads it back."""
    return f"{doc_id}{_CHUNK_MARK}{chunk_index}"


def parse_evidence_key(key: str) -> tuple[str, int] | None:
    """Document id and chunk index of a key that `evidence_key` made, else None.

    The last mark counts, so that a document id may hold ``#chunk-`` itself.
    """
    doc_id, mark, index = key.rpartition(_CHUNK_MARK)
    if not mark or not doc_id or not _INDEX.fullmatch(index):
        return None
    return doc_id, int(index)


def _first(metadata: Mapping[str, Any], names: tuple[str, ...], read: Any) -> Any:
    return next((value for name in names if (value := read(metadata.get(name))) is not None), None)


def _as_id(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    text = str(value)
    return text if text.strip() else None


def _as_index(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        index = int(value) if not isinstance(value, float) else _whole(value)
    except ValueError:
        try:
            index = _whole(float(value))
        except ValueError:
            return None
    return index if index >= 0 else None


def _whole(value: float) -> int:
    if not value.is_integer():
        raise ValueError(f"{value} is not a whole number")
    return int(value)
