"""What every test shares, and how the tests are shared among workers."""

from pathlib import Path

import pytest

from evidence_lookup.adapters.local_embedder import LocalEmbedder

SERVERS = ("milvus", "elasticsearch", "postgres")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """None for named files or tests: they run here, where a debugger and prints work."""
    is_named = any("::" in name or name.endswith(".py") for name in config.args)
    return 0 if is_named else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give all tests on one kind of server to one worker, and those of a module to one.

    So a server is started once, its faults meet no other tests, and modules keep their fixtures.
    Those on servers come first: they take longest.
    """
    if not hasattr(config, "workerinput"):
        return
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            fixtures: list[str] = getattr(item, "fixturenames", [])
            groups = [name for name in SERVERS if f"{name}_server" in fixtures]
            item.add_marker(pytest.mark.xdist_group([*groups, item.path.stem][0]))
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    mark = item.get_closest_marker("xdist_group")
    group = mark.args[0] if mark else ""
    return SERVERS.index(group) if group in SERVERS else len(SERVERS)


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
