"""`evidence-lookup explain`: every stage that settings can make, shown by the installed command."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.command import HANDBOOK, run

MEMORY = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}
# Every chunk of the handbook is a candidate, and each stage loses some.
ALL = {
    **MEMORY,
    "EVIDENCE_LOOKUP_RAG_RETRIEVE_K": "200",
    "EVIDENCE_LOOKUP_RAG_RETURN_N": "3",
    "EVIDENCE_LOOKUP_RAG_CONTEXT_BUDGET": "400",
    "EVIDENCE_LOOKUP_RAG_MODE": "dense",
}
QUESTION = "redis sentinel failover"
SETTINGS = {
    "below_floor": "rag.evidence-floor",
    "document_cap": "rag.max-chunks-per-document",
    "return_n": "rag.return-n",
    "budget": "rag.context-budget",
    "returned": None,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder whose data folder holds the handbook."""
    folder = tmp_path_factory.mktemp("work")
    run("ingest", HANDBOOK, folder=folder, variables=MEMORY)
    return folder


@pytest.fixture(scope="module")
def answer(folder: Path) -> dict[str, Any]:
    """The recorded answer that holds every chunk as a block or a drop."""
    asked = run("lookup", QUESTION, "--json", folder=folder, variables=ALL)
    found: dict[str, Any] = json.loads(asked.stdout)
    return found


@pytest.fixture(scope="module")
def keys(answer: dict[str, Any]) -> dict[str, str]:
    """A chunk of each stage, as the answer itself shows it."""
    keys = {one["reason"]: one["evidence_key"] for one in answer["retrieval_trace"]["drops"]}
    summary = answer["context_pack"]["summary"]
    keys["budget"] = summary["omitted"][0]["evidence_key"]
    keys["returned"] = summary["included"][0]["evidence_key"]
    return keys


def explained(folder: Path, *arguments: str, variables: dict[str, str] = ALL) -> dict[str, Any]:
    """What ``explain --json`` prints of the question."""
    done = run("explain", QUESTION, *arguments, "--json", folder=folder, variables=variables)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("stage", SETTINGS)
def test_R58_the_stage_is_the_one_that_the_answer_shows(
    stage: str, keys: dict[str, str], folder: Path
) -> None:
    """Run again, each chunk is lost where it was lost, with the setting that decides."""
    told = explained(folder, "--key", keys[stage])
    assert (told["stage"], told["setting"]) == (stage, SETTINGS[stage])
    lost = [step["stage"] for step in told["steps"] if step["outcome"] == "lost"]
    assert lost == ([] if stage == "returned" else [stage])


def test_R58_a_record_tells_the_same_stage_and_nothing_is_run(
    answer: dict[str, Any], keys: dict[str, str], folder: Path
) -> None:
    """`--trace` writes nothing: readable, in an encoding without marks too, and as JSON."""
    id_ = answer["invocation_id"]
    known = ("explain", "--trace", id_, "--key", keys["return_n"])
    told = json.loads(run(*known, "--json", folder=folder, variables=MEMORY).stdout)
    assert (told["stage"], told["invocation_id"]) == ("return_n", id_)
    out = run(*known, folder=folder, variables=MEMORY).stdout
    assert out.startswith(f"return_n  {keys['return_n']}\n")
    assert "rag.return-n would have to be" in out
    assert [line.split()[0] for line in out.splitlines()[-8:]] == ["✓"] * 6 + ["✗", "·"]
    plain = run(*known, folder=folder, variables={**MEMORY, "PYTHONIOENCODING": "ascii"}).stdout
    assert plain.splitlines()[-1].split() == ["?", "context", "budget"]
    listed = json.loads(run("trace", "list", "--json", folder=folder, variables=MEMORY).stdout)
    assert [one["id"] for one in listed] == [id_]


def test_R58_the_true_rank_and_score_of_what_was_not_retrieved(
    answer: dict[str, Any], folder: Path
) -> None:
    """With a small retrieve-k the deeper search gives the rank that the whole list has."""
    last = max(answer["retrieval_trace"]["drops"], key=lambda one: one["rank"])
    few = {**ALL, "EVIDENCE_LOOKUP_RAG_RETRIEVE_K": "5"}
    told = explained(folder, "--key", last["evidence_key"], variables=few)
    assert (told["stage"], told["rank"]) == ("not_retrieved", last["rank"])
    assert told["similarity"] == pytest.approx(last["similarity"], abs=1e-6)
    assert told["score"]["semantics"] == "cosine"
    both = explained(folder, "--key", last["evidence_key"], "--mode", "hybrid", variables=few)
    assert {one["mode"] for one in both["standings"]} == {"hybrid", "dense", "keyword"}


def test_R58_filters_are_named(keys: dict[str, str], folder: Path) -> None:
    """The hints' category, and the names of the scope."""
    usable = {**ALL, "EVIDENCE_LOOKUP_RAG_REFERENCE_THRESHOLD": "0.2"}
    other = "network/vpn-tunnel-flap.md#chunk-1"
    by_hints = explained(folder, "--key", other, variables=usable)
    assert by_hints["stage"] == "filtered"
    assert "'databases'" in by_hints["message"]
    by_scope = explained(folder, "--key", keys["returned"], "--category", "payments")
    assert (by_scope["stage"], by_scope["excluded_by"]) == ("filtered", ["category"])


def test_R58_what_is_not_there_and_what_was_not_searched(
    keys: dict[str, str], folder: Path
) -> None:
    """An unknown chunk with what may be meant, and L1 switched off."""
    unknown = explained(folder, "--key", "databases/redis-sentinel-failover.md#chunk-1")
    assert unknown["stage"] == "not_indexed"
    assert "Was a chunk of lf-db-001 meant?" in unknown["message"]
    off = {**ALL, "EVIDENCE_LOOKUP_RAG_L1_ENABLED": "false"}
    told = explained(folder, "--key", keys["returned"], variables=off)
    assert (told["stage"], told["setting"]) == ("l1_disabled", "rag.l1-enabled")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--key", "a#chunk-0"), "either a QUERY"),
        (("x", "--trace", "y", "--key", "a#chunk-0"), "either a QUERY"),
        (("--trace", "y", "--mode", "dense", "--key", "a#chunk-0"), "a trace has its own"),
        (("x", "--key", "lf-db-001"), "there are lf-db-001#chunk-0 to lf-db-001#chunk-"),
        (("x", "--key", "a#chunk-0", "--scope", "tenant"), "KEY=VALUE"),
    ],
)
def test_R58_wrong_arguments_are_one_line(
    arguments: tuple[str, ...], told: str, folder: Path
) -> None:
    """Exit code 2, and what to give instead."""
    done = run("explain", *arguments, folder=folder, variables=MEMORY, code=2)
    (line,) = done.stderr.strip().splitlines()
    assert told in line


def test_R58_an_unknown_trace_is_exit_code_1(folder: Path) -> None:
    """As for `trace show`: nothing is wrong with the arguments, there is only nothing there."""
    for command in (("explain", "--key", "a#chunk-0", "--trace"), ("trace", "show")):
        done = run(*command, "nope", folder=folder, variables=MEMORY, code=1)
        assert done.stderr == "error: there is no lookup nope; see `trace list`\n"


def test_R58_R30_an_index_that_cannot_answer_is_exit_code_3(tmp_path: Path) -> None:
    """Nothing was ingested yet: one line that says what to do."""
    done = run("explain", "x", "--key", "a#chunk-0", folder=tmp_path, variables=MEMORY, code=3)
    (line,) = done.stderr.strip().splitlines()
    assert "evidence-lookup ingest" in line


def test_explain_has_examples(tmp_path: Path) -> None:
    """The command explains itself."""
    out = " ".join(run("explain", "--help", folder=tmp_path).stdout.split())
    assert "Example" in out
    assert "[required]" in out
