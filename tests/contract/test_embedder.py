"""Every adapter of the port `Embedder` against its contract."""

from collections.abc import Iterator

import pytest
from tests.embedding_server import EmbeddingServer
from tests.tiny_model import make_tiny_model

from evidence_lookup.adapters.language_centring import LanguageCentredEmbedder
from evidence_lookup.adapters.local_embedder import LocalEmbedder
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.openai_embedder import OpenAIEmbedder
from evidence_lookup.adapters.sentence_transformers_embedder import SentenceTransformersEmbedder
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.testing.embedder_contract import EmbedderContract


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    """One server for all tests."""
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(scope="module")
def tiny_embedder(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformersEmbedder:
    """A model made in a temporary folder: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("model")
    make_tiny_model(folder)
    return SentenceTransformersEmbedder(model=str(folder))


class TestMemoryEmbedder(EmbedderContract):
    """The embedder without a model."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The smallest one that is sensible."""
        return MemoryEmbedder()


class TestLocalEmbedder(EmbedderContract):
    """The model on the processor."""

    @pytest.fixture
    def embedder(self, local_embedder: LocalEmbedder) -> Embedder:
        """One for all tests."""
        return local_embedder


class TestLanguageCentredEmbedder(EmbedderContract):
    """The model on the processor, its vectors centred by language."""

    @pytest.fixture
    def embedder(self, local_embedder: LocalEmbedder) -> Embedder:
        """Around the same model."""
        return LanguageCentredEmbedder(local_embedder)


class TestOpenAIEmbedder(EmbedderContract):
    """The client of a server on loopback."""

    @pytest.fixture
    def embedder(self, server: EmbeddingServer) -> Embedder:
        """With a small window, so that cut texts stay small."""
        return OpenAIEmbedder(
            model="fake", base_url=server.url, dimensions=64, max_tokens=512, batch_size=4
        )

    async def release(self, embedder: Embedder) -> None:
        """End the connections of the loop."""
        assert isinstance(embedder, OpenAIEmbedder)
        await embedder.aclose()


class TestSentenceTransformersEmbedder(EmbedderContract):
    """The library with a model of two layers, which knows no meaning."""

    @pytest.fixture
    def embedder(self, tiny_embedder: SentenceTransformersEmbedder) -> Embedder:
        """One for all tests."""
        return tiny_embedder
