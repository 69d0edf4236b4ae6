"""A folder of documents and an index of it in memory, with the real reader and chunker."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve
from tests.unit.application.fakes import FakeCatalogue, TickingClock

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.application.document_building import DocumentDefaults
from evidence_lookup.application.ingest import Ingest, OnProgress
from evidence_lookup.application.ingest_report import IngestReport
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import BackendFailedError, CollectionMissingError
from evidence_lookup.domain.hit import KnowledgeSearchHit
from evidence_lookup.ports.document_source import DocumentReader, DocumentSource
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

DIMENSION = 16
# Interrupted runs embed the same passages hundreds of times.
_VECTORS: "dict[str, Vectors]" = {}


class Fuse:
    """Lets a number of points pass and blows at the next; every call has one before and one after.

    At 0 it never blows.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.blows_at = 0

    def arm(self, blows_at: int) -> None:
        """Count anew, and blow at point *blows_at*."""
        self.passed, self.blows_at = 0, blows_at

    @contextmanager
    def around(self) -> Generator[None]:
        """The two points of one call."""
        self._point()
        yield
        self._point()

    def _point(self) -> None:
        self.passed += 1
        if self.passed == self.blows_at:
            raise BackendFailedError(f"interrupted at point {self.passed}")


class FusedEmbedder(MemoryEmbedder):
    """The memory embedder behind a fuse; counts the passages."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__(dimension=DIMENSION)
        self._fuse = fuse
        self.passages = 0

    async def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """As the memory embedder."""
        with self._fuse.around():
            self.passages += len(texts)
            new = [text for text in texts if text not in _VECTORS]
            _VECTORS.update(zip(new, await super().embed_passages(new), strict=True))
            return np.stack([_VECTORS[text] for text in texts])


class FusedKnowledge(MemoryKnowledge):
    """The memory store behind a fuse."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """As the memory store."""
        with self._fuse.around():
            return await super().prepare(model=model, dimension=dimension)

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """As the memory store."""
        with self._fuse.around():
            await super().replace_document(doc_id, chunks)

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """As the memory store."""
        with self._fuse.around():
            await super().delete_documents(doc_ids)

    async def drop(self) -> None:
        """As the memory store."""
        with self._fuse.around():
            await super().drop()

    def copy(self, fuse: Fuse) -> "FusedKnowledge":
        """Another store with the same content, behind *fuse*."""
        twin = FusedKnowledge(fuse)
        twin._collection = self._collection  # A value that is never changed in place.
        return twin


class FusedCatalogue(FakeCatalogue):
    """The fake catalogue behind a fuse."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """As the fake."""
        with self._fuse.around():
            return await super().entries()

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """As the fake."""
        with self._fuse.around():
            await super().put(entries)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """As the fake."""
        with self._fuse.around():
            await super().remove(doc_ids)


class Shelf:
    """The folder `root`, and what an ingest writes to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fuse = Fuse()
        self.embedder = FusedEmbedder(self.fuse)
        self.store = FusedKnowledge(self.fuse)
        self.catalogue = FusedCatalogue(self.fuse)

    async def copy(self) -> "Shelf":
        """Another index of the same folder, with the same content."""
        twin = Shelf(self.root)
        await twin.catalogue.put(await self.catalogue.entries())
        twin.store = self.store.copy(twin.fuse)
        return twin

    def write(self, source: str, content: str | bytes) -> Path:
        """Put a file on the shelf."""
        path = self.root / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def use_case(
        self,
        *,
        source: DocumentSource | None = None,
        reader: DocumentReader | None = None,
        max_tokens: int = 16,
        max_file_bytes: int = 100_000,
    ) -> Ingest:
        """The ingest of this shelf."""
        return Ingest(
            source=source or FilesystemSource(),
            reader=reader or FormatReader(),
            chunker=MarkdownChunker(self.embedder.count_tokens, max_tokens),
            embedder=self.embedder,
            store=self.store,
            catalogue=self.catalogue,
            clock=TickingClock(),
            max_file_bytes=max_file_bytes,
        )

    async def ingest(
        self,
        below: str = "",
        *,
        defaults: DocumentDefaults | None = None,
        rebuild: bool = False,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Ingest the shelf, or what stands *below*."""
        return await self.use_case().ingest(
            self.root / below, defaults=defaults, rebuild=rebuild, on_progress=on_progress
        )

    async def hits(self) -> dict[str, KnowledgeSearchHit]:
        """All that the store holds, by evidence key."""
        request = KnowledgeSearchRequest("", np.ones(DIMENSION, np.float32), 16_000)
        try:
            found = (await self.store.search(request)).hits
        except CollectionMissingError:
            return {}
        return {str(hit.id): hit for hit in found}

    async def stored(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """Content and metadata of all that the store holds, by evidence key."""
        return {
            key: (hit.content, hit.metadata) for key, hit in sorted((await self.hits()).items())
        }

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """All entries, with their roots seen from the shelf."""
        entries = await self.catalogue.entries()
        return tuple(
            evolve(entry, root=Path(entry.root).relative_to(self.root).as_posix())
            for entry in entries
        )

    async def ids(self) -> list[str]:
        """The documents that store and catalogue agree on."""
        entries = [entry.doc_id for entry in await self.entries()]
        hits = (await self.hits()).values()
        assert sorted({hit.metadata["doc_id"] for hit in hits}) == entries
        return entries


def page(text: str, **front_matter: str) -> str:
    """A Markdown file."""
    lines = "".join(f"{name}: {value}\n" for name, value in front_matter.items())
    return f"---\n{lines}---\n{text}\n" if lines else f"{text}\n"


def long_page(paragraphs: int, **front_matter: str) -> str:
    """A page of as many chunks."""
    body = "\n\n".join(
        f"## Part {n}\n\nParagraph {n} has its own words." for n in range(paragraphs)
    )
    return page(body, **front_matter)
