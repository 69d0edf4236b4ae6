"""The commands: arguments in, one call of the knowledge base, a rendering out."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from evidence_lookup.command.compare_command import compare
from evidence_lookup.command.explain_command import explain
from evidence_lookup.command.guard_command import guard
from evidence_lookup.command.migrate_command import migrate
from evidence_lookup.command.options import (
    ChunkScope,
    Config,
    DataDir,
    Debug,
    Json,
    LookupScope,
    scope_from,
    settings_from,
)
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.command.prune_command import trace_prune
from evidence_lookup.command.replay_command import replay
from evidence_lookup.command.stats_command import trace_stats
from evidence_lookup.command.trace_commands import trace_list, trace_show
from evidence_lookup.domain.hit import SearchMode

app = typer.Typer(
    name="evidence-lookup",
    help="Look up evidence in your team's own documents, with ids that an answer can cite.",
    epilog="Exit codes: 0 done or found, 1 nothing found, or a check that failed (guard, replay, "
    "ingest --strict), 2 wrong input or settings, 3 a backend is unavailable, 4 unexpected, "
    "130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time, and its errors are one line
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
trace_app = typer.Typer(no_args_is_help=True, help="Read, sum up or remove the records of lookups.")
config_app = typer.Typer(no_args_is_help=True, help="Show the settings.")
app.add_typer(trace_app, name="trace")
app.add_typer(config_app, name="config")


@app.command(
    epilog="Examples:  evidence-lookup ingest runbooks/  ·  "
    "evidence-lookup ingest docs/ --include '*.md' --scope tenant=acme"
)
def ingest(
    path: Annotated[Path, typer.Argument(help="A folder of documents, or one file.")],
    include: Annotated[
        list[str] | None, typer.Option(help="Only files like this .gitignore pattern; repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="No files like this .gitignore pattern; repeatable.")
    ] = None,
    prefix: Annotated[str, typer.Option(help="Put this before ids that are made of paths.")] = "",
    scope: ChunkScope = None,
    category_from_folder: Annotated[
        bool | None,
        typer.Option(
            "--category-from-folder/--no-category-from-folder",
            help="Take the first folder's name where front matter gives no category.",
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Forget everything ingested before, then ingest.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a file was skipped.")
    ] = False,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Bring the index in line with a folder.

    Adds, replaces and removes what changed; what did not costs one hash.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.progress import ingest_with_progress
        from evidence_lookup.command.rendering import print_json, show_ingest_report
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        chunk_scope = scope_from(scope)
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            report = ingest_with_progress(
                base,
                path,
                include=include,
                exclude=exclude,
                prefix=prefix,
                scope=chunk_scope,
                category_from_folder=category_from_folder,
                rebuild=rebuild,
            )
        print_json(report) if json else show_ingest_report(report)
        if strict and report.skipped:
            raise SystemExit(ExitCode.NOTHING_FOUND)


@app.command(
    epilog="Examples:  evidence-lookup lookup 'pods keep restarting'  ·  "
    "evidence-lookup lookup '数据库连接池耗尽' --mode keyword --json  ·  "
    "evidence-lookup lookup 'disk full' --docs runbooks/ --explain"
)
def lookup(
    query: Annotated[str, typer.Argument(help="The question, in any language of the documents.")],
    mode: Annotated[
        SearchMode | None, typer.Option(help="How to search. [default: rag.mode, hybrid]")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only documents of this category.")] = None,
    scope: LookupScope = None,
    docs: Annotated[
        Path | None, typer.Option(help="Ingest what changed at this path first.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show hints, attempts, boosts, drops and timings.")
    ] = False,
    agent: Annotated[
        bool, typer.Option("--agent", help="Print what the agent's tool answers, as JSON.")
    ] = False,
    json: Json = False,
    session: Annotated[str | None, typer.Option(help="Record the lookup under this id.")] = None,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Look up evidence for a question."""
    with one_line_errors(debug=debug):
        from evidence_lookup.command.progress import ingest_with_progress
        from evidence_lookup.command.rendering import print_json, show_explanation, show_result
        from evidence_lookup.domain.projection import project
        from evidence_lookup.domain.status import EvidenceStatus
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        host_scope = scope_from(scope)
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            if docs is not None:
                ingest_with_progress(base, docs)
            result = base.lookup(
                query,
                scope=host_scope,
                category=category,
                mode=mode,
                session_id=session,
                raise_unavailable=not (json or agent),
            )
            # Before the closing, which waits for a sidecar.
            if agent or json:
                print_json(project(result) if agent else result)
            else:
                show_result(result)
                if explain:
                    show_explanation(result)
                sys.stdout.flush()
        if result.evidence_status is EvidenceStatus.UNAVAILABLE:
            raise SystemExit(ExitCode.UNAVAILABLE)
        if not result.found:
            raise SystemExit(ExitCode.NOTHING_FOUND)


app.command(
    epilog="Examples:  evidence-lookup compare 'disk full' --other vectorstore  ·  "
    "evidence-lookup compare --queries questions.txt --main milvus --other elasticsearch --json"
)(compare)
app.command(
    epilog="Examples:  evidence-lookup explain 'disk full' --key runbooks/disk.md#chunk-3  ·  "
    "evidence-lookup explain --trace 0199… --key runbooks/disk.md#chunk-3 --json"
)(explain)
app.command(
    epilog="Examples:  evidence-lookup guard ANSWER.md --session chat-7  ·  "
    "agent-answer | evidence-lookup guard - --session chat-7 --scope tenant=acme --json"
)(guard)
trace_app.command(
    "list",
    epilog="Examples:  evidence-lookup trace list --limit 5  ·  "
    "evidence-lookup trace list --status no_evidence --since 7d --json",
)(trace_list)
trace_app.command("show", epilog="Example:  evidence-lookup trace show 0199…")(trace_show)
app.command(
    epilog="Examples:  evidence-lookup replay --since 7d --config new.toml  ·  "
    "evidence-lookup replay --limit 200 --distinct --fail-if-changed-more-than 5% --json"
)(replay)
trace_app.command("stats", epilog="Example:  evidence-lookup trace stats --since 7d")(trace_stats)
trace_app.command(
    "prune", epilog="Example:  evidence-lookup trace prune --older-than 90d --keep 100000"
)(trace_prune)


app.command(epilog="Example:  evidence-lookup migrate --config production.toml")(migrate)


@app.command(epilog="Example:  evidence-lookup doctor --json")
def doctor(
    json: Json = False, data_dir: DataDir = None, config: Config = None, debug: Debug = False
) -> None:
    """Check the set-up, and say what to do.

    Each part is asked; a part that does not answer says what is missing.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json, show_checks
        from evidence_lookup.command.set_up import set_up_checks
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        settings = settings_from(config, data_dir)
        with open_knowledge_base_sync(settings) as base:
            checks = (*set_up_checks(settings), *base.diagnose())
        print_json(checks) if json else show_checks(checks)
        if not all(check.ok for check in checks):
            raise SystemExit(ExitCode.UNAVAILABLE)


@config_app.command("show", epilog="Example:  evidence-lookup config show --json")
def config_show(
    json: Json = False, data_dir: DataDir = None, config: Config = None, debug: Debug = False
) -> None:
    """Show every setting as it is in force here; secrets are hidden."""
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json, show_settings
        from evidence_lookup.settings_loading import flatten

        flat = flatten(settings_from(config, data_dir))
        print_json(flat) if json else show_settings(flat)
