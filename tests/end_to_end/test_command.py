"""The installed command, as a person uses it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.command import COMMAND, HANDBOOK, run

MEMORY = '[embedder]\nkind = "memory"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder whose data folder holds the handbook, by the embedder that starts at once.

    The default one is loaded where it matters: in `--docs`, a change of embedder, and the README.
    """
    folder = tmp_path_factory.mktemp("work")
    (folder / "evidence-lookup.toml").write_text(MEMORY)
    run("ingest", HANDBOOK, folder=folder)
    return folder


def test_R40_R41_json_has_the_contracts_keys(folder: Path) -> None:
    """`lookup --json` prints the result under the names of the contract."""
    out = run("lookup", "redis sentinel failover", "--json", folder=folder).stdout
    result: dict[str, Any] = json.loads(out)
    assert {
        "found",
        "evidence_status",
        "evidence_blocks",
        "context_pack",
        "retrieval_trace",
        "rerank_trace",
        "relevance_level",
        "completeness_hint",
    } <= set(result)
    block = result["evidence_blocks"][0]
    assert {
        "evidence_key",
        "doc_id",
        "chunk_index",
        "source",
        "title",
        "breadcrumb",
        "category",
        "retrieval_layer",
        "score",
        "content",
        "hit_reasons",
    } <= set(block)
    assert block["evidence_key"] == f"{block['doc_id']}#chunk-{block['chunk_index']}"
    assert set(block["score"]) == {"value", "semantics"}


def test_people_see_id_title_place_reason_and_content(folder: Path) -> None:
    """`lookup` prints readable evidence, and the id of its record."""
    result = json.loads(run("lookup", "redis failover", "--json", folder=folder).stdout)
    best = result["evidence_blocks"][0]
    out = run("lookup", "redis failover", folder=folder).stdout
    assert best["evidence_key"] in out
    assert best["title"] in out
    assert "why" in out
    assert best["content"].splitlines()[0] in out


def test_R38_R43_the_agent_gets_citable_ids(folder: Path) -> None:
    """`lookup --agent` prints the tool's answer, each excerpt under its evidence key."""
    answer = json.loads(run("lookup", "redis failover", "--agent", folder=folder).stdout)
    assert answer["found"] is True
    ids = [one["document_id"] for one in answer["evidence"]]
    assert ids
    assert all("#chunk-" in one for one in ids)
    assert len(ids) == len(set(ids))


def test_explain_shows_attempts_ranking_and_timings(folder: Path) -> None:
    """`lookup --explain` says how the result came about."""
    out = run("lookup", "redis failover", "--explain", folder=folder).stdout
    for section in ("Attempts", "Ranking", "Context pack", "Timings"):
        assert section in out


def test_a_second_ingest_finds_nothing_to_do(folder: Path) -> None:
    """Ingest is incremental: unchanged files are left alone."""
    report = json.loads(run("ingest", HANDBOOK, "--json", folder=folder).stdout)
    assert len(report["unchanged"]) == 22
    assert (report["added"], report["changed"], report["removed"]) == ([], [], [])


def test_bad_front_matter_is_a_warning_that_names_the_file(tmp_path: Path) -> None:
    """The file whose YAML is wrong is ingested all the same."""
    (tmp_path / "evidence-lookup.toml").write_text(MEMORY)
    report = json.loads(run("ingest", HANDBOOK / "payments", "--json", folder=tmp_path).stdout)
    assert "gateway-timeouts.md" in report["added"]
    assert [w for w in report["warnings"] if "gateway-timeouts.md" in w]


def test_a_skipped_file_is_named_once(tmp_path: Path) -> None:
    """Each skipped file has a line with its name and the reason; nothing else is on stderr."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.bin").write_bytes(b"\0\1")
    (docs / "b.md").write_text("")
    done = run("ingest", docs, folder=tmp_path)
    skipped = [line for line in done.stdout.splitlines() if line.startswith("skipped ")]
    assert [line.count(".bin: ") + line.count("b.md") for line in skipped] == [1, 1]


def test_docs_ingests_what_changed_first(tmp_path: Path) -> None:
    """`lookup --docs` sees a file that was written a moment ago, and the change to it."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    ask = ("lookup", "how is the kettle descaled?", "--docs", docs, "--json")
    first = json.loads(run(*ask, folder=tmp_path).stdout)
    assert "vinegar" in first["evidence_blocks"][0]["content"]
    (docs / "a.md").write_text("# Kettle\n\nThe kettle is descaled with citric acid.\n")
    second = json.loads(run(*ask, folder=tmp_path).stdout)
    assert second["evidence_blocks"][0]["evidence_key"] == "a.md#chunk-0"
    assert "citric acid" in second["evidence_blocks"][0]["content"]


def test_category_and_scope_narrow_every_block(folder: Path) -> None:
    """`--category` and `--scope` let no other document through."""
    ask = ("lookup", "certificate expired", "--json")
    result = json.loads(run(*ask, "--category", "network", folder=folder).stdout)
    assert {block["category"] for block in result["evidence_blocks"]} == {"network"}
    nothing = json.loads(run(*ask, "--scope", "tenant=acme", folder=folder, code=1).stdout)
    assert nothing["evidence_status"] == "no_evidence"


def test_R45_traces_are_listed_and_shown(folder: Path) -> None:
    """A lookup can be read back by its id, with the keys of its details."""
    asked = run("lookup", "redis failover", "--json", "--session", "s-1", folder=folder)
    invocation_id = json.loads(asked.stdout)["invocation_id"]
    listed = json.loads(run("trace", "list", "--session", "s-1", "--json", folder=folder).stdout)
    assert [one["id"] for one in listed] == [invocation_id]
    shown = json.loads(run("trace", "show", invocation_id, "--json", folder=folder).stdout)
    assert set(shown["retrieval_details"]) == {
        "query_transform",
        "retrieval_trace",
        "context_pack_summary",
        "rerank_trace",
        "evidence_blocks",
        "fallback_reason",
    }
    assert "Attempts" in run("trace", "show", invocation_id, folder=folder).stdout
    assert invocation_id in run("trace", "list", folder=folder).stdout
    narrow = run("trace", "list", folder=folder, variables={"COLUMNS": "40"}).stdout
    assert len(narrow.splitlines()) == len(
        json.loads(run("trace", "list", "--json", folder=folder).stdout)
    )
    assert all(" blocks " in line and " ms " in line for line in narrow.splitlines())
    unknown = run("trace", "show", "nope", folder=folder, code=1)
    assert "there is no lookup nope" in unknown.stderr


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_that_goes_is_no_error(folder: Path, options: tuple[str, ...]) -> None:
    """`| head -1` does not turn evidence into "nothing found", and nobody complains."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [COMMAND, "lookup", "redis failover", *options],
        cwd=folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=240,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_R55_an_empty_query_finds_nothing(folder: Path) -> None:
    """A query of invisible characters is no evidence, with its reason, and exit code 1."""
    result = json.loads(run("lookup", " \u200b\n", "--json", folder=folder, code=1).stdout)
    assert result["evidence_status"] == "no_evidence"
    assert result["retrieval_trace"]["reason"] == "empty_query"


def test_C67_nothing_ingested_yet_is_said_in_one_line(tmp_path: Path) -> None:
    """A missing collection is unavailable, not "no evidence", and says what to do."""
    done = run("lookup", "anything", folder=tmp_path, code=3)
    assert len(done.stderr.strip().splitlines()) == 1
    assert "evidence-lookup ingest" in done.stderr
    agent = json.loads(run("lookup", "anything", "--agent", folder=tmp_path, code=3).stdout)
    assert agent["evidence_status"] == "unavailable"
    assert agent["reason"] == "collection_missing"


def test_wrong_input_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    """A missing folder, a bad scope and bad settings are refused; `--debug` shows the trace."""
    missing = run("ingest", "nowhere", folder=tmp_path, code=2)
    assert len(missing.stderr.strip().splitlines()) == 1
    assert "Traceback" in run("ingest", "nowhere", "--debug", folder=tmp_path, code=1).stderr
    run("lookup", "x", "--scope", "tenant", folder=tmp_path, code=2)
    (tmp_path / "evidence-lookup.toml").write_text("[rag]\nretrun-n = 3\nmode = 'x'\n")
    bad = run("lookup", "x", folder=tmp_path, code=2).stderr.strip().splitlines()
    assert len(bad) == 2
    assert any("did you mean rag.return-n?" in line for line in bad)


def test_another_embedder_is_refused_with_both_names(tmp_path: Path) -> None:
    """An index made by one embedder cannot be read or written with another; rebuild can."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Kettle\n\nThe kettle is descaled with vinegar.\n")
    run("ingest", docs, folder=tmp_path)
    memory = {"EVIDENCE_LOOKUP_EMBEDDER_KIND": "memory"}
    for command in (("lookup", "kettle"), ("ingest", docs)):
        refused = run(*command, folder=tmp_path, code=2, variables=memory)
        assert "multilingual-e5-small" in refused.stderr
        assert "hashed-words" in refused.stderr
        assert "--rebuild" in refused.stderr
    run("ingest", docs, "--rebuild", folder=tmp_path, variables=memory)
    run("lookup", "kettle descaled vinegar", folder=tmp_path, variables=memory)


def test_doctor_says_what_works_and_what_to_do(folder: Path, tmp_path: Path) -> None:
    """`doctor` passes on a set-up that works, and names the mend on one that does not."""
    checks = json.loads(run("doctor", "--json", folder=folder).stdout)
    names = [check["name"] for check in checks]
    parts = ["settings", "extras", "embedder", "knowledge", "catalogue", "traces", "spool"]
    assert names == parts
    assert all(check["ok"] for check in checks)
    broken = run("doctor", folder=tmp_path, code=3)
    assert "evidence-lookup ingest" in broken.stdout


def test_config_show_hides_secrets(tmp_path: Path) -> None:
    """Every setting is shown as it is in force, a secret as stars."""
    token = {"EVIDENCE_LOOKUP_MILVUS_TOKEN": "s3cret"}
    out = run("config", "show", "--json", folder=tmp_path, variables=token).stdout
    shown = json.loads(out)
    assert shown["milvus.token"] == "***"
    assert shown["rag.max-chunks-per-document"] == 2
    out = run("config", "show", folder=tmp_path, variables=token).stdout
    assert "s3cret" not in out
    lines = dict(line.split(maxsplit=1) for line in out.splitlines() if len(line.split()) > 1)
    assert (lines["rag.l1-enabled"].strip(), lines["rag.retrieve-k"].strip()) == ("true", "20")
    assert "ingest.include" not in lines


@pytest.mark.parametrize("command", ["", "ingest", "lookup", "trace list", "trace show", "doctor"])
def test_help_has_examples(command: str, tmp_path: Path) -> None:
    """Every command explains itself with an example."""
    out = run(*command.split(), "--help", folder=tmp_path).stdout
    assert "Usage" in out
    assert "Exit codes" in out if not command else "Example" in out


def test_help_says_what_stands_where_an_option_is_not_given(tmp_path: Path) -> None:
    """Defaults in square brackets are no markup; each command is told whole in one line."""
    out = " ".join(run("lookup", "--help", folder=tmp_path).stdout.split())
    assert "[default: rag.mode, hybrid]" in out
    assert "[default: .evidence-lookup]" in out
    for group in ((), ("trace",), ("config",)):
        narrow = run(*group, "--help", folder=tmp_path, variables={"COLUMNS": "80"}).stdout
        assert "..." not in narrow.replace("[ARGS]...", "")


def test_a_scope_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    """Two values for one name are no narrowing; the second does not win in silence."""
    twice = ("--scope", "tenant=acme", "--scope", "tenant=other")
    refused = run("lookup", "x", *twice, folder=tmp_path, code=2)
    assert "tenant is given twice" in refused.stderr
