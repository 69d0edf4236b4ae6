"""Two retrieval paths compared by the installed command, and a sidecar beside real lookups."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.command import HANDBOOK, run

from evidence_lookup.adapters.json_values import from_json
from evidence_lookup.application.compare_report import CompareReport

MEMORY = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}
BESIDE = {"EVIDENCE_LOOKUP_SIDECAR_ENABLED": "true", "EVIDENCE_LOOKUP_SIDECAR_PATH": "vectorstore"}
# A busy machine takes its time to load LangChain.
BESIDE["EVIDENCE_LOOKUP_SIDECAR_DEADLINE_SECONDS"] = "60"
QUESTIONS = ("redis sentinel failover", "数据库连接池耗尽", "certificate expired")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder whose data folder holds the handbook."""
    folder = tmp_path_factory.mktemp("work")
    run("ingest", HANDBOOK, folder=folder, variables=MEMORY)
    return folder


def compared(folder: Path, *arguments: str | Path, code: int = 0) -> CompareReport:
    """What ``compare --json`` prints."""
    done = run("compare", *arguments, "--json", folder=folder, variables=MEMORY, code=code)
    return from_json(CompareReport, json.loads(done.stdout))


def recorded(folder: Path, variables: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A lookup's result without ids and times, and what its record says of the sidecar."""
    settings = {**MEMORY, **variables}
    asked = run("lookup", QUESTIONS[0], "--json", folder=folder, variables=settings)
    result: dict[str, Any] = json.loads(asked.stdout)
    shown = run("trace", "show", result.pop("invocation_id"), "--json", folder=folder)
    del result["retrieval_trace"]["timings"]
    return result, json.loads(shown.stdout)["retrieval_details"]["retrieval_trace"]["sidecar"]


def test_R52_a_path_agrees_with_itself(folder: Path) -> None:
    """The store by its own name and by `sdk` is one path: full overlap, nothing moved."""
    report = compared(folder, QUESTIONS[0], "--main", "sdk", "--other", "milvus", "--top-k", "7")
    assert (report.main, report.other, report.top_k) == ("sdk", "milvus", 7)
    assert report.totals.full_overlap_share == 1.0
    assert report.totals.mean_absolute_displacement == 0.0
    (one,) = report.queries
    assert one.comparison is not None
    assert len(one.comparison.rows) == 7
    for row in one.comparison.rows:
        assert row.doc_id
        assert row.title
        assert row.preview
        assert row.main == row.other


def test_people_see_both_ranks_and_scores_with_their_labels(folder: Path) -> None:
    """One query is a table: ranks, how far moved, key, title, and each score's semantics."""
    arguments = (QUESTIONS[0], "--main", "sdk", "--other", "milvus", "--mode", "dense")
    out = run("compare", *arguments, folder=folder, variables=MEMORY).stdout
    for expected in ("overlap@20 1.00", "evidence key", "moved", "cosine", "#chunk-"):
        assert expected in out


def test_many_queries_are_a_line_each_and_totals(folder: Path, tmp_path: Path) -> None:
    """Lines of text, a list of texts and a list of objects are the same queries."""
    lines, texts, objects = (tmp_path / name for name in ("q.txt", "texts.json", "q.any"))
    lines.write_text("\ufeff" + "\n\n".join(QUESTIONS) + "\n", encoding="utf-8")
    texts.write_text(json.dumps(QUESTIONS), encoding="utf-8")
    named = [{"id": n, "question": question} for n, question in enumerate(QUESTIONS)]
    objects.write_text(json.dumps(named), encoding="utf-8")
    paths = ("--main", "sdk", "--other", "milvus")
    reports = [compared(folder, "--queries", file, *paths) for file in (lines, texts, objects)]
    assert reports[0] == reports[1] == reports[2]
    assert [one.query for one in reports[0].queries] == list(QUESTIONS)
    done = run("compare", "--queries", lines, *paths, folder=folder, variables=MEMORY)
    assert [line for line in done.stdout.splitlines() if QUESTIONS[1] in line]
    assert "3 queries, 3 compared" in done.stdout
    assert done.stderr == ""


def test_scope_and_category_narrow_both_paths(folder: Path) -> None:
    """No row of another category, and nothing at all of a foreign tenant."""
    paths = ("--main", "sdk", "--other", "milvus")
    (one,) = compared(folder, QUESTIONS[2], *paths, "--category", "network").queries
    assert one.comparison is not None
    assert {row.category for row in one.comparison.rows} == {"network"}
    (none,) = compared(folder, QUESTIONS[2], *paths, "--scope", "tenant=acme").queries
    assert none.comparison is not None
    assert none.comparison.rows == ()


def test_a_path_that_never_serves_is_told_and_ends_with_3(folder: Path) -> None:
    """The memory path of a new process holds nothing: unavailable for every query."""
    report = compared(folder, QUESTIONS[0], "--main", "sdk", "--other", "memory", code=3)
    (one,) = report.queries
    assert one.other_error is not None
    assert (one.main_error, one.other_error.kind) == (None, "collection_missing")


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("bad.json", b'["a",\n "b"', "line 2, column 5"),
        ("bad.json", b'{"query": "a"}', "not a JSON list"),
        ("bad.json", b'["a", {"text": "b"}]', "item 2"),
        ("bad.json", b'[{"query": " "}]', "item 1"),
        ("bad.txt", b"one\ntwo\n\xff\n", "line 3"),
        ("bad.txt", b"\n \n", "no query"),
        ("missing.txt", None, "No such file"),
    ],
)
def test_a_bad_file_of_queries_is_one_line_with_the_place(
    name: str, content: bytes | None, place: str, tmp_path: Path
) -> None:
    """Exit code 2, the file and what is wrong in it."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run("compare", "--queries", name, folder=tmp_path, code=2)
    (line,) = done.stderr.strip().splitlines()
    assert name in line
    assert place in line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "either a QUERY or --queries FILE"),
        (("x", "--queries", "q.txt"), "either a QUERY or --queries FILE"),
        (("x", "--other", "solr"), "'solr'"),
        ((" ", "--other", "vectorstore"), "query 1 of 1 is empty"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: tuple[str, ...], told: str, folder: Path) -> None:
    """Exit code 2, and what to give instead."""
    done = run("compare", *arguments, folder=folder, variables=MEMORY, code=2)
    (line,) = done.stderr.strip().splitlines()
    assert told in line


def test_compare_explains_itself(tmp_path: Path) -> None:
    """The help has examples, and names the paths and the defaults."""
    out = " ".join(run("compare", "--help", folder=tmp_path).stdout.split())
    assert "Example" in out
    assert "[default: sidecar.path]" in out
    assert "elasticsearch" in out


def test_R50_R57_a_sidecar_changes_only_the_record(folder: Path) -> None:
    """Off, on, and unable to serve: one result, byte for byte, and three records."""
    off, none = recorded(folder, {})
    on, beside = recorded(folder, BESIDE)
    broken, failed = recorded(folder, {**BESIDE, "EVIDENCE_LOOKUP_SIDECAR_PATH": "memory"})
    assert json.dumps(off) == json.dumps(on) == json.dumps(broken)
    assert (none["status"], none["path"]) == ("disabled", None)
    assert (beside["status"], beside["path"]) == ("ok", "vectorstore")
    assert beside["comparison"]["overlap_at_k"] == 1.0
    assert (failed["status"], failed["error"]["kind"]) == ("failed", "collection_missing")


def test_R52_the_sidecar_is_shown_with_its_figures(folder: Path) -> None:
    """`trace show` names status, overlap and displacement."""
    settings = {**MEMORY, **BESIDE}
    asked = run("lookup", QUESTIONS[0], "--json", folder=folder, variables=settings)
    invocation_id = json.loads(asked.stdout)["invocation_id"]
    out = run("trace", "show", invocation_id, folder=folder).stdout
    assert "Sidecar" in out
    assert "vectorstore: ok" in out
    assert "overlap@20 1.00, mean displacement 0.0" in out
