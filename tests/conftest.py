"""What every test shares, and how the tests are shared among workers."""

from pathlib import Path
from typing import Any

import pytest
from tests.workers import ByServer, place

from evidence_lookup.adapters.local_embedder import LocalEmbedder


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """None for named files or tests: they run here, where a debugger and prints work."""
    is_named = any("::" in name or name.endswith(".py") for name in config.args)
    return 0 if is_named else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer | None:
    """The project's own, unless the command line chooses another."""
    return ByServer(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers begin with what takes longest."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))


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
