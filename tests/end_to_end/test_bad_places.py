"""Data folders and files that cannot be used, through the installed command."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end_to_end.command import HANDBOOK, run

# The embedder that starts at once: what it is does not matter here.
MEMORY = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small disk can only be mounted by root, where mounting is allowed")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_an_ingest_in_one_line_and_can_be_taken_up_again(
    small_disk: Path, tmp_path: Path
) -> None:
    """The disk runs full in the middle; with room again the same command completes."""
    ingest = ("ingest", HANDBOOK / "databases", "--data-dir", small_disk / "data")
    full = run(*ingest, folder=tmp_path, code=3, variables=MEMORY)
    assert len(full.stderr.strip().splitlines()) == 1
    assert "is full" in full.stderr
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    report = json.loads(run(*ingest, "--json", folder=tmp_path, variables=MEMORY).stdout)
    assert len(report["added"]) == 5
    again = json.loads(run(*ingest, "--json", folder=tmp_path, variables=MEMORY).stdout)
    assert len(again["unchanged"]) == 5


def test_a_data_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    """Root can write everywhere but below a file, so a file stands where the folder would be."""
    (tmp_path / "file").write_text("no folder")
    done = run("ingest", HANDBOOK, "--data-dir", "file/data", folder=tmp_path, code=3)
    assert len(done.stderr.strip().splitlines()) == 1
    assert "file/data" in done.stderr


def test_files_that_are_no_documents_are_skipped_by_name(tmp_path: Path) -> None:
    """Binary, empty, unreadable text and 20 MB are skipped with their reason; the rest goes in."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    (docs / "binary.md").write_bytes(bytes(range(256)) * 8)
    (docs / "empty.md").write_bytes(b"")
    (docs / "huge.md").write_bytes(b"All work and no play.\n" * 1_000_000)
    (docs / "chinese.md").write_bytes(
        "# 水壶\n\n水壶用醋来除水垢，每个月做一次。\n".encode("gb18030")
    )
    report = json.loads(run("ingest", docs, "--json", folder=tmp_path, variables=MEMORY).stdout)
    assert report["added"] == ["chinese.md", "good.md"]
    reasons = {one["source"]: one["reason"] for one in report["skipped"]}
    assert set(reasons) == {"binary.md", "empty.md", "huge.md"}
    assert "max-file-bytes" in reasons["huge.md"]
    assert "binary" in reasons["binary.md"]
    assert any("chinese.md" in w and "gb18030" in w.lower() for w in report["warnings"])
    run("ingest", docs, "--strict", folder=tmp_path, code=1, variables=MEMORY)


def test_a_second_process_is_told_that_the_database_is_held(tmp_path: Path) -> None:
    """While one process holds the embedded database, another says so in one line."""
    from evidence_lookup import Settings, open_knowledge_base_sync

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    settings = Settings(data_dir=tmp_path / ".evidence-lookup")
    with open_knowledge_base_sync(settings) as knowledge:
        knowledge.ingest(docs)
        held = run("lookup", "kettle", folder=tmp_path, code=3)
        assert len(held.stderr.strip().splitlines()) == 1
        assert "another process" in held.stderr
    run("lookup", "how is the kettle descaled?", folder=tmp_path)


def test_data_that_is_removed_under_a_running_process_is_said(tmp_path: Path) -> None:
    """With its folder gone a knowledge base still answers in the contract, and a new one works."""
    from evidence_lookup import Settings, open_knowledge_base_sync

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    settings = Settings(data_dir=tmp_path / "data")
    with open_knowledge_base_sync(settings) as knowledge:
        knowledge.ingest(docs)
        shutil.rmtree(tmp_path / "data")
        answer = knowledge.lookup_knowledge("how is the kettle descaled?")
        assert answer["evidence_status"] in ("found", "unavailable")
    with open_knowledge_base_sync(settings) as knowledge:
        knowledge.ingest(docs)
        assert knowledge.lookup("how is the kettle descaled?").found
