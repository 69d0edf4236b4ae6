"""An ingest that is cut short at any point is completed by the next one."""

from typing import Any

import anyio
import numpy as np
import pytest
from tests.unit.application.shelf import DIMENSION, Shelf, long_page, page

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest

Content = tuple[dict[str, Any], tuple[CatalogueEntry, ...]]


async def content(shelf: Shelf) -> Content:
    """All of store and catalogue."""
    return dict(await shelf.stored()), await shelf.entries()


@pytest.fixture
async def before(shelf: Shelf) -> Shelf:
    """An index of documents that have changed since, in every way there is."""
    shelf.write("changed.md", long_page(3))
    shelf.write("kept.md", page("Kept"))
    shelf.write("removed.md", page("Removed"))
    shelf.write("renamed.md", page("Renamed", id="renamed"))
    shelf.write("new-id-later.md", page("Id", id="b"))
    shelf.write("new-id-sooner.md", page("Id", id="m"))
    shelf.write("binary.md", page("Binary"))
    await shelf.ingest()
    shelf.write("changed.md", long_page(2).replace("Paragraph", "Section"))
    (shelf.root / "removed.md").unlink()
    (shelf.root / "renamed.md").rename(shelf.root / "was-renamed.md")
    shelf.write("new-id-later.md", page("Id", id="y"))
    shelf.write("new-id-sooner.md", page("Id", id="a"))
    shelf.write("binary.md", b"\x00\xff\x00")
    shelf.write("added.md", long_page(70))
    return shelf


async def expected(before: Shelf, *, rebuild: bool = False) -> tuple[Content, int]:
    """What an ingest without interruption gives, and how many points it has."""
    shelf = await before.copy()
    shelf.fuse.arm(0)
    await shelf.ingest(rebuild=rebuild)
    points = shelf.fuse.passed
    assert await shelf.ids() == ["a", "added.md", "changed.md", "kept.md", "renamed", "y"]
    return await content(shelf), points


async def test_interrupted_anywhere_the_next_run_completes_it(before: Shelf) -> None:
    """Before and after every call: run again, and the index is as without the interruption."""
    wanted, points = await expected(before)
    assert points > 20
    for point in range(1, points + 1):
        shelf = await before.copy()
        shelf.fuse.arm(point)
        with pytest.raises(BackendFailedError, match="interrupted"):
            await shelf.ingest()
        shelf.fuse.arm(0)
        await shelf.ingest()
        assert await content(shelf) == wanted, f"interrupted at point {point}"


async def test_interrupted_again_and_again_it_still_ends(before: Shelf) -> None:
    """Each run is cut one point later than the one before, and the last one has nothing to do."""
    wanted, points = await expected(before)
    for point in range(1, points + 1):
        before.fuse.arm(point)
        try:
            await before.ingest()
        except BackendFailedError:
            continue
        break
    before.fuse.arm(0)
    report = await before.ingest()
    assert await content(before) == wanted
    assert len(report.unchanged) == 6


@pytest.mark.parametrize("again", [True, False])
async def test_an_interrupted_rebuild_is_completed(before: Shelf, again: bool) -> None:
    """By a second rebuild, and by a plain run too: nothing dropped is taken for unchanged."""
    wanted, points = await expected(before, rebuild=True)
    assert wanted == (await expected(before))[0]
    for point in range(1, points + 1):
        shelf = await before.copy()
        shelf.fuse.arm(point)
        with pytest.raises(BackendFailedError, match="interrupted"):
            await shelf.ingest(rebuild=True)
        shelf.fuse.arm(0)
        await shelf.ingest(rebuild=again)
        assert await content(shelf) == wanted, f"interrupted at point {point}"


async def test_a_cancelled_ingest_is_completed(shelf: Shelf) -> None:
    """A caller that gives up in the middle leaves an index that the next run completes."""
    shelf.write("a.md", long_page(70))
    shelf.write("b.md", page("Beta"))
    with anyio.CancelScope() as scope:
        await shelf.ingest(on_progress=lambda now: scope.cancel() if now.passages else None)
    assert scope.cancelled_caught
    assert (await shelf.ingest()).added == ("a.md", "b.md")
    assert await shelf.ids() == ["a.md", "b.md"]
    assert all(entry.is_complete for entry in await shelf.entries())


async def test_an_interrupted_document_is_seen_as_such(shelf: Shelf) -> None:
    """While it is written its entry stands without a hash, so that `doctor` can tell."""
    shelf.write("a.md", page("Alpha"))
    incomplete = 0
    for point in range(1, 100):
        shelf.fuse.arm(point)
        try:
            await shelf.ingest()
        except BackendFailedError:
            shelf.fuse.arm(0)
            entries = await shelf.entries()
            incomplete += any(not entry.is_complete for entry in entries)
            stored = await shelf.stored()
            assert stored or not any(entry.is_complete for entry in entries)
        else:
            break
    assert incomplete > 2


async def test_a_search_sees_one_version_of_a_document_that_is_replaced(shelf: Shelf) -> None:
    """Lookups meanwhile get all of the old chunks or all of the new ones."""
    versions = [long_page(8).replace("own", f"own{n}") for n in range(6)]
    shelf.write("a.md", versions[0])
    await shelf.ingest()
    request = KnowledgeSearchRequest("", np.ones(DIMENSION, np.float32), 100)
    seen: list[set[str]] = []

    async def search() -> None:
        while True:
            hits = (await shelf.store.search(request)).hits
            assert len(hits) == 8
            words = " ".join(hit.content for hit in hits).split()
            seen.append({word for word in words if word.startswith("own")})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(search)
        for version in versions[1:]:
            shelf.write("a.md", version)
            await shelf.ingest()
        tasks.cancel_scope.cancel()
    assert all(len(one) == 1 for one in seen)
    assert len(seen) >= 5
