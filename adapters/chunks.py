"""What every store asks of a batch of chunks before it takes it."""

from collections.abc import Sequence

from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.ports.knowledge_store import EmbeddedChunk


def check_one_document(doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
    """Refuse chunks that are not of *doc_id*.

    Raises:
        InvalidChunkError: there are such chunks; their documents are named.
    """
    foreign = {one.chunk.doc_id for one in chunks} - {doc_id}
    if foreign:
        raise InvalidChunkError(f"chunks of {sorted(foreign)} were given for document {doc_id!r}")
