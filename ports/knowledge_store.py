"""Writing chunks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from evidence_lookup.domain.document import Chunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors


@frozen
class EmbeddedChunk:
    """A chunk with its unit vector, float32 of shape ``(dimension,)``."""

    chunk: Chunk
    vector: "Vectors" = field(eq=False)


class KnowledgeStore(Protocol):
    """The write side of a search backend. Every write is seen by the next search."""

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """Make the collection if it is missing, for vectors of *model*; repeating is safe.

        True if it was made now, so that whatever was written before is gone.

        Raises:
            EmbedderMismatchError: the collection holds vectors of another model.
            DimensionMismatchError: it holds vectors of another dimension, of this or an unknown
                model.
            SchemaMismatchError: it lacks a field that the settings name.
            BackendError: the backend does not answer, or refuses.
        """
        ...

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """Write *chunks*, each over the chunk of the same evidence key if there is one.

        All or nothing is written of a batch that is refused at the door; no chunk is no work.

        Raises:
            InvalidVectorError: a vector is zero, NaN or infinite.
            DimensionMismatchError: a vector is of another dimension.
            InvalidChunkError: a chunk is longer than the backend's fields.
            BackendError: the backend does not answer, or refuses.
        """
        ...

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """Make *chunks* all that there is of *doc_id*, in one visible step.

        A search sees the old version or the new one, never parts of both. Interrupted, it can be
        run again. No chunk removes the document.

        Raises:
            InvalidChunkError: a chunk belongs to another document, or as for `upsert`.
            InvalidVectorError, DimensionMismatchError, BackendError: as for `upsert`.
        """
        ...

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """Remove every chunk of *doc_ids*; an unknown id is no error.

        Raises:
            BackendError: the backend does not answer, or refuses.
        """
        ...

    async def drop(self) -> None:
        """Remove the collection itself; a missing one is no error.

        Raises:
            BackendError: the backend does not answer, or refuses.
        """
        ...
