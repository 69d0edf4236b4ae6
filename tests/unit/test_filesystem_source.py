"""Which files a walk finds, in which order, and what it says of the others."""

import os
import shutil
import socket
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.domain.errors import SettingsError, UnreadableDocumentError
from evidence_lookup.ports.document_source import DocumentSource, SkippedFile


def write(root: Path, *sources: str) -> None:
    """Files below *root*."""
    for source in sources:
        (root / source).parent.mkdir(parents=True, exist_ok=True)
        (root / source).write_text("text", encoding="utf-8")


def found(
    path: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """The sources of files, and the reasons of what is skipped."""
    source: DocumentSource = FilesystemSource()
    files: list[str] = []
    skipped: dict[str, str] = {}
    for file in source.files(path, include=include, exclude=exclude):
        if isinstance(file, SkippedFile):
            skipped[file.source] = file.reason
        else:
            assert file.path.is_file()
            files.append(file.source)
    return files, skipped


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for child in folder.iterdir():
        child.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Generator[None]:
    """Without the superuser's rights, under which no folder is closed."""
    is_superuser = os.geteuid() == 0
    if is_superuser:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if is_superuser:
            os.seteuid(0)


def test_order_is_by_source(tmp_path: Path) -> None:
    """The order does not depend on the disk: files come by their path as text."""
    write(tmp_path, "b.md", "a/z.md", "a.md", "a/a/a.md", "a-b.md", "中/文.md", "B.md")
    assert found(tmp_path)[0] == [
        "B.md",
        "a-b.md",
        "a.md",
        "a/a/a.md",
        "a/z.md",
        "b.md",
        "中/文.md",
    ]


def test_hidden_and_tool_folders_are_passed_over(tmp_path: Path) -> None:
    """Neither hidden files nor those of version control come, not even as skipped."""
    write(
        tmp_path,
        ".git/a.md", ".hg/a.md", ".hidden.md", "CVS/a.md", "node_modules/x/a.md",
        "__pycache__/a.md", "kept/.x/a.md", "kept/a.md",
    )  # fmt: skip
    assert found(tmp_path) == (["kept/a.md"], {})


def test_a_hidden_root_is_walked(tmp_path: Path) -> None:
    """What is named itself is wanted."""
    write(tmp_path, ".docs/a.md", ".docs/.b.md")
    assert found(tmp_path / ".docs")[0] == ["a.md"]
    assert found(tmp_path / ".docs" / ".b.md")[0] == [".b.md"]


def test_patterns_are_those_of_gitignore(tmp_path: Path) -> None:
    """Includes choose, excludes win, folders end with a slash, and later lines overrule."""
    write(tmp_path, "a.md", "a.txt", "drafts/b.md", "sub/drafts/c.md", "sub/d.md", "sub/keep.md")
    assert found(tmp_path, ["*.md"], ["drafts/"])[0] == ["a.md", "sub/d.md", "sub/keep.md"]
    assert found(tmp_path, ["/*.md"])[0] == ["a.md"]
    assert found(tmp_path, ["sub/**"], ["sub/*", "!sub/keep.md"])[0] == ["sub/keep.md"]
    assert found(tmp_path, ["*.pdf"])[0] == []


def test_malformed_patterns_are_all_named(tmp_path: Path) -> None:
    """A pattern that means nothing is refused, with every other such one."""
    with pytest.raises(SettingsError) as caught:
        FilesystemSource().files(tmp_path, include=["!"], exclude=["ok", "\\"])
    assert len(caught.value.faults) == 2


def test_a_file_comes_below_its_folder(tmp_path: Path) -> None:
    """For a single file the root is its folder, and patterns count."""
    write(tmp_path, "a.md")
    (file,) = FilesystemSource().files(tmp_path / "a.md")
    assert not isinstance(file, SkippedFile)
    assert (file.root, file.source) == (tmp_path, "a.md")
    assert found(tmp_path / "a.md", exclude=["*.md"])[0] == []


def test_the_root_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same folder has the same root, however it is named."""
    write(tmp_path, "docs/a.md", "other/b.md")
    monkeypatch.chdir(tmp_path)
    paths = [Path("docs"), Path("./docs/"), Path("other/../docs"), tmp_path / "docs"]
    files = [next(FilesystemSource().files(path)) for path in paths]
    assert {getattr(file, "root", None) for file in files} == {tmp_path / "docs"}


@pytest.mark.parametrize("name", ["nothing", "x" * 5_000, "nul\0"])
def test_nothing_there_is_an_error(tmp_path: Path, name: str) -> None:
    """A path that leads nowhere is an error at once, not an empty walk."""
    with pytest.raises(UnreadableDocumentError):
        FilesystemSource().files(tmp_path / name)


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    """Files and folders elsewhere stay unread, and that is said."""
    write(tmp_path, "secret/a.md", "docs/a.md")
    docs = tmp_path / "docs"
    (docs / "file.md").symlink_to(tmp_path / "secret" / "a.md")
    (docs / "folder").symlink_to(tmp_path / "secret")
    (docs / "up").symlink_to("..")
    (docs / "broken.md").symlink_to("nowhere")
    (docs / "loop.md").symlink_to("loop.md")
    files, skipped = found(docs)
    assert files == ["a.md"]
    assert {name: reason.split()[-1] for name, reason in skipped.items()} == {
        "file.md": "tree",
        "folder": "tree",
        "up": "tree",
        "broken.md": "nowhere",
        "loop.md": "nowhere",
    }


def test_a_file_never_comes_twice(tmp_path: Path) -> None:
    """Links to what is found anyway, and circles, add nothing."""
    write(tmp_path, "z/a.md")
    (tmp_path / "a.md").symlink_to("z/a.md")
    (tmp_path / "y").symlink_to("z")
    (tmp_path / "z" / "self").symlink_to("..")
    assert found(tmp_path) == (["z/a.md"], {})


def test_mounted_volumes_are_read(tmp_path: Path) -> None:
    """Clusters mount files as links into a hidden folder: each comes once, by its visible name."""
    write(tmp_path, "..2024/a.md", "..2024/sub/b.md")
    (tmp_path / "..data").symlink_to("..2024")
    (tmp_path / "a.md").symlink_to("..data/a.md")
    (tmp_path / "again.md").symlink_to("a.md")
    (tmp_path / "sub").symlink_to("..data/sub")
    assert found(tmp_path, ["*.md"]) == (["a.md", "sub/b.md"], {})


def test_a_root_that_is_a_link_is_walked(tmp_path: Path) -> None:
    """The link is the root, so that the same sources stay when it leads elsewhere."""
    write(tmp_path, "v1/a.md")
    (tmp_path / "docs").symlink_to("v1")
    (file,) = FilesystemSource().files(tmp_path / "docs")
    assert getattr(file, "root", None) == tmp_path / "docs"


def test_special_files_are_skipped(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("pipe.md")
    short = Path(tempfile.mkdtemp())
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short / "socket"))
        (short / "socket").rename(tmp_path / "socket.md")
    short.rmdir()
    files, skipped = found(tmp_path)
    assert files == []
    assert sorted(skipped) == ["link.md", "pipe.md", "socket.md"]
    assert all("regular file" in reason for reason in skipped.values())
    with pytest.raises(UnreadableDocumentError, match="not a regular file"):
        FilesystemSource().files(tmp_path / "pipe.md")


def test_names_that_cannot_be_cited_are_skipped(tmp_path: Path) -> None:
    """A name that is not UTF-8 or holds a line end is told in a form that can be printed."""
    for name in (b"caf\xe9.md", b"a\nb.md"):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"text")
    os.mkdir(os.path.join(os.fsencode(tmp_path), b"\xff"))  # noqa: PTH102, PTH118
    files, skipped = found(tmp_path)
    assert files == []
    assert skipped == {
        "caf\\udce9.md": "the name is not UTF-8",
        "a\\nb.md": "the name holds a control character",
        "\\udcff": "the name is not UTF-8",
    }


def test_a_folder_that_cannot_be_read_is_skipped(open_folder: Path) -> None:
    """The rest of the tree is walked; as the root it is an error."""
    write(open_folder, "a.md", "closed/b.md")
    (open_folder / "closed").chmod(0)
    with ordinary_user():
        files, skipped = found(open_folder)
        with pytest.raises(UnreadableDocumentError, match="Permission denied"):
            FilesystemSource().files(open_folder / "closed")
    assert files == ["a.md"]
    assert skipped == {"closed": "the folder cannot be read: Permission denied"}
