"""An `Embedder` as LangChain's embeddings. Imports LangChain."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings

from evidence_lookup.adapters.vector_store.running_query import running_vector
from evidence_lookup.ports.embedder import Embedder

T = TypeVar("T")


class LookupEmbeddings(Embeddings):
    """Vectors by an `Embedder`; during a lookup the query's own vector, which is made already.

    A host may write with it: texts are embedded as passages. The methods without ``a`` may be
    called in any thread; in one with a running event loop they hold that loop up.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def aembed_query(self, text: str) -> list[float]:
        """The unit vector of a question; during a search of this library, of its query."""
        vector = running_vector()
        if vector is not None:
            return vector
        numbers: list[float] = (await self._embedder.embed_query(text)).tolist()
        return numbers

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The unit vectors of *texts*, in their order."""
        rows: list[list[float]] = (await self._embedder.embed_passages(texts)).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """As `aembed_query`."""
        return running_vector() or self._blocking(lambda: self.aembed_query(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `aembed_documents`."""
        return self._blocking(lambda: self.aembed_documents(texts))

    def _blocking(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def once() -> T:
            try:
                return await call()
            finally:
                # What the embedder has opened belongs to this loop, which ends now.
                close = getattr(self._embedder, "aclose", None)
                if close is not None:
                    await close()

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(once())
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(once())).result()
