"""Recorded lookups run again, summed up and thinned out, by the commands.

They are called in this process, since each start of the installed one takes seconds on a busy
machine; where a terminal answers, the installed one is run.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.end_to_end.command import COMMAND, HANDBOOK, run
from typer.testing import CliRunner, Result

from evidence_lookup import Settings, open_knowledge_base_sync
from evidence_lookup.adapters.json_values import from_json
from evidence_lookup.application.replay_report import ReplayReport
from evidence_lookup.application.stage_times import STAGES
from evidence_lookup.application.trace_stats import TraceStats
from evidence_lookup.command.app import app
from evidence_lookup.command.replay_command import share_from
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.settings import EmbedderSettings

MEMORY = EmbedderSettings(kind="memory")
QUESTIONS = ("redis sentinel failover", "数据库连接池耗尽", "certificate expired")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a part of the handbook, three open lookups and one of a category."""
    folder = tmp_path_factory.mktemp("work")
    settings = Settings(data_dir=folder / ".evidence-lookup", embedder=MEMORY)
    with open_knowledge_base_sync(settings) as base:
        base.ingest(HANDBOOK / "databases")
        for question in QUESTIONS:
            base.lookup(question, session_id="open")
        base.lookup("pool", category="databases", mode="keyword")
    return folder


@pytest.fixture(autouse=True)
def with_the_memory_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the environment stand over every file."""
    monkeypatch.setenv("EVIDENCE_LOOKUP_EMBEDDER_KIND", "memory")


def call(*arguments: str | Path, folder: Path, code: int = 0) -> Result:
    """Run the command in this process, on the data of *folder*, and check its exit code."""
    data = ("--data-dir", str(folder / ".evidence-lookup"))
    done = CliRunner().invoke(app, [*map(str, arguments), *data])
    assert done.exit_code == code, done.output
    return done


def replayed(folder: Path, *arguments: str | Path, code: int = 0) -> ReplayReport:
    """What ``replay --json`` prints."""
    done = call("replay", *arguments, "--json", folder=folder, code=code)
    return from_json(ReplayReport, json.loads(done.stdout))


def records(folder: Path) -> int:
    """How many records there are."""
    return len(json.loads(call("trace", "list", "--json", folder=folder).stdout))


def test_R57_an_index_that_is_as_it_was_changes_nothing(folder: Path) -> None:
    """Opened anew, the same settings give what was recorded, and nothing is recorded."""
    report = replayed(folder, "--since", "1d", "--fail-if-changed-more-than", "0%")
    assert [one.query for one in report.lookups] == list(QUESTIONS)
    assert (report.totals.compared, report.totals.changed) == (3, 0)
    assert dict(report.totals.skipped) == {"scope_needed": 1}
    assert records(folder) == 4


def test_a_narrowed_lookup_is_run_within_the_scope_that_is_given(folder: Path) -> None:
    """Its category is a name of the scope; the mode is the recorded one."""
    narrow = ("--scope", "category=databases")
    report = replayed(folder, *narrow, "--fail-if-changed-more-than", "0")
    assert [(one.query, one.mode) for one in report.lookups] == [("pool", "keyword")]
    assert dict(report.totals.skipped) == {"scope_not_recorded": 3}


def test_other_settings_are_compared_with_the_records(folder: Path, tmp_path: Path) -> None:
    """A file that names no data folder is run on that of the records; too much change is code 1."""
    other = tmp_path / "other.toml"
    other.write_text("[rag]\nreturn-n = 1\n")
    ask = ("--session", "open", "--config", other, "--fail-if-changed-more-than", "50%")
    report = replayed(folder, *ask, code=1)
    assert report.totals.changed_share == 1.0
    assert report.totals.keys_vanished >= 3
    done = call("replay", *ask, folder=folder, code=1)
    (line,) = done.stderr.strip().splitlines()
    assert "3 of 3 lookups (100.0%) changed; --fail-if-changed-more-than 50%" in line
    for expected in ("3 compared: 3 changed (100.0%)", "median then", QUESTIONS[1], "  − "):
        assert expected in done.stdout
    assert records(folder) == 4


def test_other_settings_with_another_mode_are_run_in_it(folder: Path, tmp_path: Path) -> None:
    """`rag.mode` is tried like every other setting; --mode stands over it."""
    other = tmp_path / "other.toml"
    other.write_text('[rag]\nmode = "dense"\n')
    ask = ("--session", "open", "--config", other)
    assert {one.mode for one in replayed(folder, *ask).lookups} == {"dense"}
    assert {one.mode for one in replayed(folder, *ask, "--mode", "keyword").lookups} == {"keyword"}


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        ('[milvus]\ncollection = "elsewhere"\n', 3, "no collection 'elsewhere'"),
        ('data-dir = "another"\n', 3, "no collection"),
        ('[embedder]\nquery-prefx = "x"\n', 2, "did you mean embedder.query-prefix?"),
    ],
)
def test_settings_that_cannot_be_asked_end_it_in_one_line(
    settings: str,
    code: int,
    told: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One error for all records, with the mend; a file's own data folder is not overridden."""
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other.toml"
    other.write_text(settings)
    (line,) = call("replay", "--config", other, folder=folder, code=code).stderr.splitlines()
    assert told in line


def test_nothing_to_run_is_said_and_is_no_success(folder: Path) -> None:
    """No record like that, or none that can be run: exit code 1 and the reason."""
    none = call("replay", "--session", "nobody", folder=folder, code=1)
    assert "there is no recorded lookup like that" in none.stderr
    skipped = call("replay", "--scope", "tenant=acme", folder=folder, code=1)
    assert "3 scope_not_recorded" in skipped.stderr


def test_stats_are_a_table_and_json(folder: Path) -> None:
    """Times by stage in pipeline order, shares of statuses; a cut by the limit is said."""
    out = call("trace", "stats", "--limit", "3", "--json", folder=folder).stdout
    stats = from_json(TraceStats, json.loads(out))
    assert (stats.count, stats.limit_reached) == (3, True)
    assert tuple(stats.stages) == STAGES
    assert sum(one.count for one in stats.statuses.values()) == 3
    shown = call("trace", "stats", "--limit", "3", folder=folder).stdout
    for expected in ("3 lookups", "p95", "post_process", "--limit"):
        assert expected in shown
    empty = call("trace", "stats", "--session", "nobody", folder=folder).stdout
    assert empty.strip() == "No lookup is recorded in this period."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("replay", "--fail-if-changed-more-than", "5"), "give one such as 5% or 0.05"),
        (("replay", "--since", "yesterday"), "--since 'yesterday'"),
        (("trace", "prune"), "--older-than 90d"),
        (("trace", "prune", "--keep", "1"), "--yes"),
        (("trace", "prune", "--older-than", "old"), "--older-than 'old'"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """Exit code 2, and what to give instead; without a terminal nothing is removed unasked."""
    (line,) = call(*arguments, folder=tmp_path, code=2).stderr.splitlines()
    assert told in line


def with_three_records(folder: Path) -> Path:
    """*folder* after three lookups that need no index."""
    with open_knowledge_base_sync(Settings(data_dir=folder / ".evidence-lookup")) as base:
        base.lookup_many([" ", "\n", "\t"])
    return folder


def test_prune_removes_what_is_too_many_or_old(tmp_path: Path) -> None:
    """Counted by a dry run, then gone; the newest stay."""
    folder = with_three_records(tmp_path)
    prune = ("trace", "prune")
    counted = call(*prune, "--keep", "1", "--dry-run", "--json", folder=folder).stdout
    assert json.loads(counted) == {"dry_run": True, "records": 2}
    assert records(folder) == 3
    assert "2 records removed" in call(*prune, "--keep", "1", "--yes", folder=folder).stdout
    old = ("--older-than", "1d", "--yes")
    assert "0 records removed" in call(*prune, *old, folder=folder).stdout
    now = ("--older-than", "0m", "--yes")
    assert "1 record removed" in call(*prune, *now, folder=folder).stdout
    assert records(folder) == 0


@pytest.mark.parametrize(("answer", "code", "left"), [("n", 1, 3), ("y", 0, 2)])
def test_prune_asks_at_a_terminal(answer: str, code: int, left: int, tmp_path: Path) -> None:
    """With the number of records that would go; no is no."""
    folder = with_three_records(tmp_path)
    terminal, inside = os.openpty()
    os.write(terminal, f"{answer}\n".encode())
    try:
        done = subprocess.run(
            [COMMAND, "trace", "prune", "--keep", "2"],
            cwd=folder,
            stdin=inside,
            capture_output=True,
            timeout=240,
        )
    finally:
        os.close(inside)
        os.close(terminal)
    assert b"Remove 1 record?" in done.stderr
    assert done.returncode == code
    assert records(folder) == left


def test_replay_explains_itself(tmp_path: Path) -> None:
    """The help has an example, and says where the records and where the settings come from."""
    out = " ".join(run("replay", "--help", folder=tmp_path).stdout.split())
    assert "Example" in out
    assert "Run them under the settings of this file" in out
    assert "[default: the settings of the records]" in out


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), (" 0.05 ", 0.05), ("0", 0.0), ("100%", 1.0), ("1", 1.0)]
)
def test_a_share_is_a_percentage_or_a_fraction(text: str, share: float) -> None:
    """Both ways of writing mean the same."""
    assert share_from(text) == pytest.approx(share)


def test_a_share_that_is_just_reached_is_not_exceeded() -> None:
    """Any percentage with one digit after the point, of a thousand lookups."""
    assert all(changed / 1_000 <= share_from(f"{changed / 10}%") for changed in range(1_001))


@pytest.mark.parametrize("text", ["", "%", "5", "nan", "-1%", "101%", "5%%", "five", "inf"])
def test_what_is_no_share_is_refused(text: str) -> None:
    """A gate that means nothing must not pass."""
    with pytest.raises(CallerError, match=r"5% or 0\.05"):
        share_from(text)
