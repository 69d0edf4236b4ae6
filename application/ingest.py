"""Bring the index in line with a folder: add, replace and remove what changed."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio.to_thread
from attrs import evolve, frozen

from evidence_lookup.application.document_building import DocumentDefaults, build_document
from evidence_lookup.application.ingest_report import IngestProgress, IngestReport
from evidence_lookup.application.ingest_state import IngestState, PreparedDocument
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import (
    CallerError,
    InvalidChunkError,
    InvalidVectorError,
    MissingExtraError,
)
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.ports.chunker import Chunker
from evidence_lookup.ports.clock import Clock
from evidence_lookup.ports.document_source import DocumentReader, DocumentSource, SourceFile
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_store import EmbeddedChunk, KnowledgeStore

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

OnProgress: TypeAlias = Callable[[IngestProgress], None]

_PASSAGES_AT_ONCE = 64


def _incomplete(entry: CatalogueEntry) -> CatalogueEntry:
    return evolve(entry, content_hash="", recipe="")


def _unseen(_: IngestProgress) -> None: ...


def _absolute(path: Path) -> Path:
    """*path* as document sources take it: ``current`` is one folder whatever it links to."""
    return path.resolve() if ".." in path.parts else path.absolute()


@frozen
class Ingest:
    """The use case. One ingest at a time per index; lookups may run meanwhile."""

    source: DocumentSource
    reader: DocumentReader
    chunker: Chunker
    embedder: Embedder
    store: KnowledgeStore
    catalogue: Catalogue
    clock: Clock
    max_file_bytes: int

    async def ingest(
        self,
        path: Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        defaults: DocumentDefaults | None = None,
        rebuild: bool = False,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Make the index hold the documents at *path* as they are now.

        An unchanged file costs one hash. A changed one is replaced in one visible step; one that
        is gone, or no longer text, is removed; files elsewhere are left alone. An entry stands
        without its hash while its document is written, so that an ingest that was cut short is
        finished by the next one. With *rebuild* everything ever ingested is forgotten first.

        Raises:
            UnreadableDocumentError: there is nothing at *path*.
            EmbedderMismatchError: another embedder made the index; *rebuild* starts anew.
            BackendError: an index cannot be written; what was written before stays.
        """
        began = self.clock.elapsed()
        path = _absolute(path)
        files = await anyio.to_thread.run_sync(
            lambda: list(self.source.files(path, include=include, exclude=exclude))
        )
        if rebuild:
            await self._forget_everything()
        if await self.store.prepare(model=self.embedder.model, dimension=self.embedder.dimension):
            await self._mark_incomplete()
        # Asked before the first file: a model that cannot be had is an error, no skip of each file.
        await anyio.to_thread.run_sync(self.embedder.count_tokens, "")
        state = IngestState(await self.catalogue.entries())
        run = _Run(self, defaults or DocumentDefaults(), state, len(files), on_progress or _unseen)
        for file in files:
            run.report_progress(file.source)
            if isinstance(file, SourceFile):
                await run.take(state.under_known_root(file))
            else:
                state.skip(file, file.reason)
            run.done += 1
        await run.write()
        await run.remove(state.vanished(path))
        run.report_progress("")
        return state.report(self.clock.elapsed() - began)

    async def _forget_everything(self) -> None:
        """Empty the index; cut short, no entry without chunks is left that looks complete."""
        entries = await self._mark_incomplete()
        await self.store.drop()
        await self.catalogue.remove([entry.doc_id for entry in entries])

    async def _mark_incomplete(self) -> tuple[CatalogueEntry, ...]:
        """Have every document that is catalogued written again: the store does not hold it."""
        entries = await self.catalogue.entries()
        await self.catalogue.put([_incomplete(entry) for entry in entries])
        return entries


class _Run:
    """One run of the use case: what waits to be written, and how far it is."""

    def __init__(
        self,
        use: Ingest,
        defaults: DocumentDefaults,
        state: IngestState,
        total: int,
        on_progress: OnProgress,
    ) -> None:
        self._use = use
        self._defaults = defaults
        self._on_progress = on_progress
        self._recipe = f"{use.chunker.name} {use.embedder.model} {defaults.fingerprint}".strip()
        self._waiting: list[PreparedDocument] = []
        self.state = state
        self.done = 0
        self.total = total
        self.passages = 0

    async def take(self, file: SourceFile) -> None:
        """Read *file* if it changed; write what waits once it is enough for a batch."""
        try:
            document = await anyio.to_thread.run_sync(self._prepare, file)
        except MissingExtraError as error:
            self.state.skip(file, str(error), keep_old=True)
        except CallerError as error:
            self.state.skip(file, str(error))
        except OSError as error:
            self.state.skip(file, f"cannot be read: {error.strerror or error}", keep_old=True)
        else:
            if document is not None:
                self._waiting.append(document)
        if sum(len(one.chunks) for one in self._waiting) >= _PASSAGES_AT_ONCE:
            await self.write()

    async def write(self) -> None:
        """Embed and write the documents that wait."""
        waiting, self._waiting = self._waiting, []
        catalogue, store = self._use.catalogue, self._use.store
        await catalogue.put([_incomplete(one.entry) for one in waiting])
        vectors = await self._embed([chunk.passage for one in waiting for chunk in one.chunks])
        complete: list[PreparedDocument] = []
        for one in waiting:
            chunks = [EmbeddedChunk(chunk, next(vectors)) for chunk in one.chunks]
            try:
                await store.replace_document(one.entry.doc_id, chunks)
            except (InvalidChunkError, InvalidVectorError) as error:
                self.state.refuse(one, str(error))
                await self.remove([one.entry.doc_id])
            else:
                complete.append(one)
        await catalogue.put([one.entry for one in complete])
        for one in complete:
            self.state.written(one)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove documents from the store, then from the catalogue, so that none is orphaned."""
        if doc_ids:
            await self._use.store.delete_documents(doc_ids)
            await self._use.catalogue.remove(doc_ids)

    def _prepare(self, file: SourceFile) -> PreparedDocument | None:
        """The document in *file*, or None if the index holds it as it is, or it is skipped."""
        use, state = self._use, self.state
        size = file.path.stat().st_size
        if size > use.max_file_bytes:
            state.skip(
                file,
                f"has {size:,} bytes, more than ingest.max-file-bytes ({use.max_file_bytes:,})",
            )
            return None
        data = file.path.read_bytes()
        content_hash = hashlib.sha256(data).hexdigest()
        if state.is_unchanged(file, content_hash, self._recipe):
            return None
        document = use.reader.read(data, source=file.source)
        state.warn(document.warnings)
        doc_id = self._defaults.doc_id(document, file.source)
        if other := state.claim(doc_id, file):
            state.skip(
                file,
                f"its id {doc_id!r} belongs to {other} already: give it another id in its front "
                "matter, or ingest its folder with an id prefix",
            )
            return None
        entry, chunks = build_document(
            file,
            document,
            use.chunker.chunk(document),
            self._defaults,
            content_hash=content_hash,
            recipe=self._recipe,
        )
        return PreparedDocument(entry, chunks)

    async def _embed(self, passages: Sequence[str]) -> "Iterator[Vectors]":
        """One vector for each of *passages*, in order; progress is told after each batch."""
        vectors: list[Vectors] = []
        for start in range(0, len(passages), _PASSAGES_AT_ONCE):
            batch = passages[start : start + _PASSAGES_AT_ONCE]
            vectors.extend(await self._use.embedder.embed_passages(batch))
            self.passages += len(batch)
            self.report_progress("")
        return iter(vectors)

    def report_progress(self, source: str) -> None:
        """Tell the caller how far this run is."""
        self._on_progress(IngestProgress(self.done, self.total, self.passages, source))
