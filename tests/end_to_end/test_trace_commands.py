"""`evidence-lookup trace list` and `trace show`, as a person uses them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tests.end_to_end.command import run

MEMORY = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}
CHINESE = "数据库连接池耗尽，应用一直在等待连接，怎么办？" * 8
DOCS = {
    "kettle": "---\nkeywords: [kettle]\ncategory: kitchen\n---\n# Kettle\n\n"
    + "\n\n".join(f"## Part {n}\n\n" + f"The kettle is descaled with {n}. " * 25 for n in range(6)),
    "池": "# 连接池\n\n数据库连接池耗尽，应用一直在等待连接。先看是谁占着连接。\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with two documents and three recorded lookups."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "docs").mkdir()
    for name, text in DOCS.items():
        (folder / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    run("ingest", "docs", folder=folder, variables=MEMORY)
    run("lookup", "how is the kettle descaled?", "--session", "a", folder=folder, variables=MEMORY)
    run("lookup", CHINESE, "--session", "b", folder=folder, variables=MEMORY)
    run("lookup", " ", "--session", "b", folder=folder, variables=MEMORY, code=1)
    return folder


@pytest.fixture(scope="module")
def records(folder: Path) -> Sequence[dict[str, Any]]:
    """The three, newest first."""
    return listed(folder)


def listed(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """What ``trace list --json`` prints."""
    done = run("trace", "list", *arguments, "--json", folder=folder, variables=MEMORY)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_trace_list_narrows_by_each_condition(
    records: Sequence[dict[str, Any]], folder: Path
) -> None:
    """Session, status, evidence key and time: what passes all of them is listed."""
    empty, chinese, kettle = records
    key = kettle["retrieval_details"]["evidence_blocks"][0]["evidence_key"]
    for conditions, expected in (
        (("--session", "b", "--status", "no_evidence"), [empty]),
        (("--key", key, "--since", "1d"), [kettle]),
        (("--since", chinese["created_at"], "--until", empty["created_at"]), [chinese]),
        (("--until", "2020-01-01"), []),
    ):
        assert listed(folder, *conditions) == expected
    none = run("trace", "list", "--session", "nobody", folder=folder, variables=MEMORY)
    assert none.stdout == "No recorded lookup is like that.\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--since", "yesterday"), "--since 'yesterday' is no time"),
        (("--until", "5y"), "90m, 2h, 7d, 2w"),
        (("--since", "1h", "--until", "2h"), "is not before"),
    ],
)
def test_a_wrong_time_is_one_line_with_examples(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """Exit code 2, the option, and what it takes."""
    done = run("trace", "list", *arguments, folder=tmp_path, code=2)
    (line,) = done.stderr.strip().splitlines()
    assert told in line


@pytest.mark.parametrize("columns", ["100", "80"])
def test_trace_show_fits_the_width_with_every_candidate_in_it(
    columns: str, records: Sequence[dict[str, Any]], folder: Path
) -> None:
    """No line of a table is wider than the terminal; the stages stand with their share of time."""
    settings = {**MEMORY, "COLUMNS": columns}
    _, chinese, kettle = records
    out = run("trace", "show", kettle["id"], folder=folder, variables=settings).stdout
    lines = out.splitlines()
    assert lines[0] == kettle["query"]
    assert "session a" in lines[1]
    assert all(cell_len(line) <= int(columns) for line in lines[2:])
    drops = kettle["retrieval_details"]["retrieval_trace"]["drops"]
    assert len(drops) > 3
    assert dropped(lines, columns) == [(one["evidence_key"], one["reason"]) for one in drops]
    total = next(line for line in lines if line.split()[:1] == ["total"])
    assert total.split()[-1] == "100%"
    wide = run("trace", "show", chinese["id"], folder=folder, variables=settings).stdout
    told = wide.split("\n" + chinese["id"])[0]
    assert told.replace("\n", "").replace(" ", "") == CHINESE
    assert all(cell_len(line) <= int(columns) for line in told.splitlines())


def dropped(lines: Sequence[str], columns: str) -> list[tuple[str, str]]:
    """Key and reason of each candidate left out: in a row, or below each other in 80 columns."""
    rows = [n for n, line in enumerate(lines) if line.split()[:1] == ["-"]]
    if columns == "80":
        return [(lines[n].split()[1], lines[n + 1].split()[0]) for n in rows]
    return [(lines[n].split()[2], lines[n].split()[-1]) for n in rows]


def test_keys_are_whole_where_there_is_little_room(
    records: Sequence[dict[str, Any]], folder: Path
) -> None:
    """A key that is longer than the terminal is wide can still be found in the output."""
    settings = {**MEMORY, "COLUMNS": "20"}
    kettle = records[-1]
    out = run("trace", "show", kettle["id"], folder=folder, variables=settings).stdout
    for block in kettle["retrieval_details"]["evidence_blocks"]:
        assert out.count(block["evidence_key"]) == 2  # in the ranking and in the pack
    listed = run("trace", "list", folder=folder, variables=settings).stdout.splitlines()
    assert [line.split()[-2:] for line in listed] == [["session", one] for one in "bba"]
