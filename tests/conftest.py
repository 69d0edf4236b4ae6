"""What every test shares."""

from pathlib import Path

import pytest

from evidence_lookup.adapters.local_embedder import LocalEmbedder


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, the loop that the drivers support."""
    return "asyncio"


@pytest.fixture(scope="session")
def graph_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the local embedder keeps its graph, built anew once for all tests."""
    return tmp_path_factory.mktemp("graph")


@pytest.fixture(scope="session")
def local_embedder(graph_folder: Path) -> LocalEmbedder:
    """The model on the processor, loaded once for all tests."""
    return LocalEmbedder(cache_folder=graph_folder)
