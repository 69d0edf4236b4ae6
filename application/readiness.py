"""Whether the index and the embedder fit together, asked of the backend once."""

import anyio

from evidence_lookup.domain.errors import DimensionMismatchError, EmbedderMismatchError
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort, SearchCapabilities


class Readiness:
    """Probes the search port before the first search; a failed probe is tried again."""

    def __init__(self, search: KnowledgeSearchPort, embedder: Embedder) -> None:
        self._search = search
        self._embedder = embedder
        self._lock = anyio.Lock()
        self._capabilities: SearchCapabilities | None = None

    async def capabilities(self) -> SearchCapabilities:
        """What the backend can do, checked against the embedder.

        Raises:
            EmbedderMismatchError: another model made the index.
            DimensionMismatchError: the vectors' dimensions differ.
            EvidenceLookupError: as for `KnowledgeSearchPort.probe`.
        """
        async with self._lock:
            if self._capabilities is None:
                capabilities = await self._search.probe()
                self._check(capabilities)
                self._capabilities = capabilities
            return self._capabilities

    def forget(self) -> None:
        """Probe again before the next search: the index may have been replaced."""
        self._capabilities = None

    def _check(self, capabilities: SearchCapabilities) -> None:
        embedder = self._embedder
        made_by = capabilities.embedder
        if made_by is not None and made_by != embedder.model:
            raise EmbedderMismatchError(
                f"the index was made by the embedder {made_by!r}, but {embedder.model!r} is "
                "configured: set embedder.kind and embedder.model back, or rebuild the index with "
                "'evidence-lookup ingest PATH --rebuild'",
                stored=made_by,
                configured=embedder.model,
            )
        if capabilities.dimension != embedder.dimension:
            raise DimensionMismatchError(
                f"the index holds vectors of {capabilities.dimension} dimensions, but the embedder "
                f"{embedder.model!r} makes {embedder.dimension}: configure the embedder that made "
                "the index (embedder.kind, embedder.model, embedder.dimensions)",
                expected=capabilities.dimension,
                actual=embedder.dimension,
            )
