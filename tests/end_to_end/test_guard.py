"""An answer is checked by the installed command, against recorded lookups of the handbook."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.command import COMMAND, HANDBOOK, run

from evidence_lookup.adapters.json_values import from_json
from evidence_lookup.domain.evidence_guard import GuardReport

MEMORY = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}
QUESTIONS = ("redis sentinel failover", "数据库连接池耗尽")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder whose data folder holds the handbook."""
    folder = tmp_path_factory.mktemp("work")
    run("ingest", HANDBOOK, folder=folder, variables=MEMORY)
    return folder


@pytest.fixture(scope="module")
def blocks(folder: Path) -> list[dict[str, Any]]:
    """What two lookups of the session chat-7 returned, as their results said."""
    returned: list[dict[str, Any]] = []
    for question in QUESTIONS:
        done = run(
            "lookup", question, "--session", "chat-7", "--json", folder=folder, variables=MEMORY
        )
        returned += json.loads(done.stdout)["evidence_blocks"]
    return returned


def guard(folder: Path, answer: str, *arguments: str, code: int = 0, name: str = "a.md") -> str:
    """What ``guard`` prints of *answer*, in a file called *name*."""
    (folder / name).write_text(answer, encoding="utf-8")
    session = ("--session", "chat-7", *arguments)
    return run("guard", name, *session, folder=folder, variables=MEMORY, code=code).stdout


def end_of(block: dict[str, Any]) -> str:
    """The last words of a block's first line that is longer than a preview, or its last ones."""
    return " ".join(block["content"].split()[-6:])


def test_R39_C64_an_answer_is_checked_reference_by_reference(
    folder: Path, blocks: list[dict[str, Any]]
) -> None:
    """Real keys, real quotes beyond the preview, an invented key, a position, an invented quote."""
    first, last = blocks[0], blocks[-1]
    long = next(one for one in blocks if len(one["content"]) > 400)
    answer = (
        f"It fails over [{first['evidence_key']}, {last['evidence_key']}].\n\n"
        f"> {end_of(long)}\n\n— [{long['evidence_key']}]\n\n"
        f'It "was never written in any of them" [{first["evidence_key"]}].\n\n'
        "So do as [invented/runbook.md#chunk-9] and [5] say.\n"
    )
    report = from_json(GuardReport, json.loads(guard(folder, answer, "--json", code=1)))
    assert [one.verdict.value for one in report.findings] == [
        *("valid", "valid", "valid", "valid", "unknown", "positional")
    ]
    assert [one.quote_state.value for one in report.findings] == [
        *("no_quote", "no_quote", "quote_found", "quote_not_found", "no_quote", "no_quote")
    ]
    assert report.unknown_ids == ("invented/runbook.md#chunk-9",)
    shown = guard(folder, answer, code=1)
    for expected in ("invented/runbook.md#chunk-9", "unknown", "positional", "not ok: 4 valid"):
        assert expected in shown
    before = json.loads(run("trace", "list", "--json", folder=folder).stdout)
    assert len(before) == len(QUESTIONS), "asking again left a record"


def test_R39_a_right_answer_ends_with_0(folder: Path, blocks: list[dict[str, Any]]) -> None:
    """As text, as a JSON list of ids, as objects, and without any reference."""
    keys = [one["evidence_key"] for one in blocks]
    assert "ok: 1 valid" in guard(folder, f"It is so [{keys[0]}].")
    assert "ok" in guard(folder, json.dumps(keys), name="a.json")
    cited = [
        {"document_id": key, "quote": end_of(one)} for key, one in zip(keys, blocks, strict=True)
    ]
    report = json.loads(guard(folder, json.dumps({"evidence": cited}), "--json"))
    assert report["quote_counts"]["quote_found"] == len(keys)
    assert "no reference" in guard(folder, "Nobody knows.")


def test_an_excerpt_that_changed_is_unchecked(tmp_path: Path) -> None:
    """After the document is edited the quote can be neither proven nor refuted."""
    words = "The gauge of the boiler is read aloud every morning by whoever is on duty. "
    guide = tmp_path / "docs" / "boiler.md"
    guide.parent.mkdir()
    guide.write_text(f"# Boiler\n\n{words * 3}Then the lid is closed.\n", encoding="utf-8")
    run("ingest", "docs", folder=tmp_path, variables=MEMORY)
    asked = ("lookup", "boiler gauge", "--session", "chat-7", "--json")
    found = json.loads(run(*asked, folder=tmp_path, variables=MEMORY).stdout)
    key = found["evidence_blocks"][0]["evidence_key"]
    answer = f'"Then the lid is closed" [{key}].'
    assert "quote_found" in guard(tmp_path, answer)
    guide.write_text(f"# Boiler\n\n{words * 3}Then the lid is opened.\n", encoding="utf-8")
    run("ingest", "docs", folder=tmp_path, variables=MEMORY)
    assert "excerpt_changed" in guard(tmp_path, answer)


def test_an_answer_comes_through_standard_input(folder: Path, blocks: list[dict[str, Any]]) -> None:
    """``-`` reads it, of other scripts too."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCE_LOOKUP_")}
    done = subprocess.run(
        [COMMAND, "guard", "-", "--session", "chat-7", "--json"],
        cwd=folder,
        env={**variables, **MEMORY},
        input=f"如此【{blocks[-1]['evidence_key']}】。".encode(),
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cited_keys"] == [blocks[-1]["evidence_key"]]


@pytest.mark.parametrize(
    ("name", "content", "session", "told"),
    [
        ("x.md", b"fine", "nobody", "no lookup of session 'nobody' is recorded"),
        ("x.md", b"one\n\xff", "chat-7", "line 2: not UTF-8"),
        ("x.md", b"x" * (2 * 1024 * 1024 + 1), "chat-7", "at most 2,097,152 bytes"),
        ("x.json", b'["a",\n', "chat-7", "x.json, line 2"),
        ("x.json", b"5", "chat-7", "must be a text, a dict or a list"),
        ("missing.md", None, "chat-7", "No such file"),
    ],
)
def test_wrong_input_is_one_line(
    folder: Path, name: str, content: bytes | None, session: str, told: str
) -> None:
    """Exit code 2, and what is wrong."""
    if content is not None:
        (folder / name).write_bytes(content)
    done = run("guard", name, "--session", session, folder=folder, variables=MEMORY, code=2)
    (line,) = done.stderr.strip().splitlines()
    assert told in line


def test_guard_explains_itself(tmp_path: Path) -> None:
    """The help has examples, and says what an answer may be."""
    out = " ".join(run("guard", "--help", folder=tmp_path).stdout.split())
    assert "Examples" in out
    assert "document_id" in out
