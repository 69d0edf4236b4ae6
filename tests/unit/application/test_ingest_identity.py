"""Ids, roots, prefixes, categories and scopes: which document a file is."""

from pathlib import Path
from typing import cast

import pytest
from tests.unit.application.shelf import Shelf, page

from evidence_lookup.application.document_building import DocumentDefaults
from evidence_lookup.domain.errors import ScopeError


async def test_of_two_files_with_one_id_the_first_stays(shelf: Shelf) -> None:
    """The second is skipped with a reason that names the id and the first file."""
    shelf.write("a.md", page("Alpha", id="same"))
    shelf.write("b.md", page("Beta", id="same"))
    for _ in range(2):
        report = await shelf.ingest()
        (skipped,) = report.skipped
        assert skipped.source == "b.md"
        assert "'same' belongs to a.md" in skipped.reason
    assert (await shelf.stored())["same#chunk-0"][1]["source"] == "a.md"
    (shelf.root / "a.md").unlink()
    assert (await shelf.ingest()).changed == ("same",)
    assert (await shelf.stored())["same#chunk-0"][1]["source"] == "b.md"


async def test_a_newcomer_does_not_take_the_id_of_a_file_that_stands_later(shelf: Shelf) -> None:
    """The owner of an id keeps it, though the newcomer is read first."""
    shelf.write("z.md", page("Omega", id="same"))
    await shelf.ingest()
    shelf.write("a.md", page("Alpha", id="same"))
    report = await shelf.ingest()
    assert [skipped.source for skipped in report.skipped] == ["a.md"]
    assert (report.unchanged, await shelf.ids()) == (("same",), ["same"])
    assert (await shelf.stored())["same#chunk-0"][1]["source"] == "z.md"


async def test_an_id_that_changed_in_the_front_matter_leaves_no_old_one(shelf: Shelf) -> None:
    """The old id goes, whichever of the two sorts first."""
    for old, new in (("m", "a"), ("a", "z")):
        shelf.write("doc.md", page("Alpha", id=old))
        await shelf.ingest()
        shelf.write("doc.md", page("Alpha", id=new))
        report = await shelf.ingest()
        assert (report.added, report.removed) == ((new,), (old,))
        assert await shelf.ids() == [new]


async def test_an_id_may_move_to_another_file(shelf: Shelf) -> None:
    """A file that gave up its id in the same run does not hold it any more."""
    shelf.write("a.md", page("Alpha", id="x"))
    await shelf.ingest()
    shelf.write("a.md", page("Alpha", id="y"))
    shelf.write("b.md", page("Beta", id="x"))
    report = await shelf.ingest()
    assert (report.added, report.changed, report.skipped) == (("y",), ("x",), ())
    sources = {key: metadata["source"] for key, (_, metadata) in (await shelf.stored()).items()}
    assert sources == {"x#chunk-0": "b.md", "y#chunk-0": "a.md"}


async def test_a_prefix_stands_before_ids_of_paths_only(shelf: Shelf) -> None:
    """An id of the document's own is left as it is; another prefix gives other ids."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta", id="own"))
    await shelf.ingest(defaults=DocumentDefaults(prefix="kb:"))
    assert await shelf.ids() == ["kb:a.md", "own"]
    report = await shelf.ingest()
    assert (report.added, report.removed) == (("a.md",), ("kb:a.md",))
    assert await shelf.ids() == ["a.md", "own"]


async def test_the_callers_scope_is_on_every_chunk_and_wins(shelf: Shelf) -> None:
    """Front matter adds to the scope and cannot change it; another scope is a change."""
    front = "---\nscope:\n  tenant: evil\n  level: 3\n---\nAlpha\n"
    shelf.write("a.md", front)
    await shelf.ingest(defaults=DocumentDefaults(scope={"tenant": "acme"}))
    (_, metadata) = (await shelf.stored())["a.md#chunk-0"]
    assert (metadata["tenant"], metadata["level"]) == ("acme", 3)
    assert (await shelf.entries())[0].scope == {"tenant": "acme", "level": 3}
    report = await shelf.ingest(defaults=DocumentDefaults(scope={"tenant": "other"}))
    assert report.changed == ("a.md",)
    assert (await shelf.stored())["a.md#chunk-0"][1]["tenant"] == "other"


@pytest.mark.parametrize(
    "scope",
    [
        {"category": "internal"},
        {"doc_id": "x"},
        {'tenant"] != "': "x"},
        {"tenant": "  "},
        {"tenant": "a\x00b"},
        {"tenant": cast("str", 1.5)},
        {"tenant": cast("str", ["a", "b"])},
    ],
)
def test_a_scope_that_cannot_be_asked_for_is_refused(scope: dict[str, str | int | bool]) -> None:
    """A name that the product writes itself could be changed by a document's front matter."""
    with pytest.raises(ScopeError):
        DocumentDefaults(scope=scope)


async def test_the_first_folder_can_be_the_category(shelf: Shelf) -> None:
    """Asked for, a document without a category takes its folder's; one at the top has none."""
    shelf.write("ops/deep/a.md", page("Alpha"))
    shelf.write("ops/b.md", page("Beta", category="own"))
    shelf.write("c.md", page("Gamma"))
    await shelf.ingest(defaults=DocumentDefaults(category_from_folder=True))
    categories = {entry.source: entry.category for entry in await shelf.entries()}
    assert categories == {"ops/deep/a.md": "ops", "ops/b.md": "own", "c.md": None}


async def test_a_folder_and_then_its_sub_folder_give_no_duplicates(shelf: Shelf) -> None:
    """The sub-folder's files keep the ids that they have from the root."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("sub/b.md", page("Beta"))
    await shelf.ingest()
    shelf.write("sub/c.md", page("Gamma"))
    report = await shelf.ingest("sub")
    assert (report.added, report.unchanged) == (("sub/c.md",), ("sub/b.md",))
    assert await shelf.ids() == ["a.md", "sub/b.md", "sub/c.md"]
    assert (await shelf.ingest()).unchanged == ("a.md", "sub/b.md", "sub/c.md")


async def test_a_sub_folder_and_then_its_folder_give_no_duplicates(shelf: Shelf) -> None:
    """Files keep the ids that they were first ingested under, new ones beside them too."""
    shelf.write("sub/b.md", page("Beta"))
    await shelf.ingest("sub")
    shelf.write("a.md", page("Alpha"))
    shelf.write("sub/c.md", page("Gamma"))
    report = await shelf.ingest()
    assert (report.added, report.unchanged) == (("a.md", "c.md"), ("b.md",))
    assert await shelf.ids() == ["a.md", "b.md", "c.md"]
    (shelf.root / "sub/b.md").unlink()
    assert (await shelf.ingest()).removed == ("b.md",)


async def test_other_folders_are_left_alone(shelf: Shelf) -> None:
    """An ingest removes nothing outside its path, whatever is gone there."""
    shelf.write("one/a.md", page("Alpha"))
    shelf.write("two/b.md", page("Beta"))
    await shelf.ingest("one")
    (shelf.root / "one/a.md").unlink()
    assert (await shelf.ingest("two")).removed == ()
    assert await shelf.ids() == ["a.md", "b.md"]


async def test_two_folders_with_one_file_name_need_a_prefix(shelf: Shelf) -> None:
    """The clash is told, nothing is overwritten, and the advice works."""
    shelf.write("one/a.md", page("Alpha"))
    shelf.write("two/a.md", page("Beta"))
    await shelf.ingest("one")
    report = await shelf.ingest("two")
    assert "prefix" in report.skipped[0].reason
    assert str(shelf.root / "one/a.md") in report.skipped[0].reason
    assert (await shelf.ingest("two", defaults=DocumentDefaults(prefix="two:"))).added
    assert await shelf.ids() == ["a.md", "two:a.md"]


async def test_a_folder_behind_a_link_that_moves_is_one_folder(shelf: Shelf) -> None:
    """Releases behind ``current`` replace each other: the link is the root, not its target."""
    shelf.write("releases/1/a.md", page("Alpha one"))
    shelf.write("releases/2/a.md", page("Alpha two"))
    current = shelf.root / "current"
    current.symlink_to("releases/1")
    await shelf.ingest("current")
    current.unlink()
    current.symlink_to("releases/2")
    report = await shelf.ingest("current")
    assert (report.changed, report.skipped) == (("a.md",), ())
    assert (await shelf.stored())["a.md#chunk-0"][0] == "Alpha two"


async def test_a_relative_path_is_the_same_folder(shelf: Shelf) -> None:
    """However the folder is written, its documents are known again."""
    shelf.write("sub/a.md", page("Alpha"))
    await shelf.ingest("sub")
    use_case = shelf.use_case()
    for path in (shelf.root / "sub/../sub", Path(f"{shelf.root}/./sub/")):
        assert (await use_case.ingest(path)).unchanged == ("a.md",)
