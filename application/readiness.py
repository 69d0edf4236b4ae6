"""Whether the index and the embedder fit together, asked of the backend once."""

import anyio

from evidence_lookup.domain.index_fit import check_fit
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
                check_fit(
                    stored_model=capabilities.embedder,
                    stored_dimension=capabilities.dimension,
                    model=self._embedder.model,
                    dimension=self._embedder.dimension,
                )
                self._capabilities = capabilities
            return self._capabilities

    def forget(self) -> None:
        """Probe again before the next search: the index may have been replaced."""
        self._capabilities = None
