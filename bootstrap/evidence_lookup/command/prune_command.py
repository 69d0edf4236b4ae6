"""The command ``trace prune``."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from evidence_lookup.command.options import Config, DataDir, Debug, Json, settings_from
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.domain.errors import CallerError


def trace_prune(
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Remove the records from before this time: a span back from now (90d, 12w), or "
            "ISO 8601, UTC if without a zone.",
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=0, help="Remove all but this many, the newest.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be removed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Remove old records.

    Of --older-than and --keep either is enough for a record to go. What goes is gone for
    explanations, replays and statistics, and for checking answers by session.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.command.times import time_from
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        if older_than is None and keep is None:
            raise CallerError("say which records go: --older-than 90d, --keep 100000, or both")
        now = datetime.now(UTC)
        before = (
            None if older_than is None else time_from(older_than, now=now, option="--older-than")
        )
        if not (dry_run or yes or sys.stdin.isatty()):
            raise CallerError("nobody can be asked here: give --yes to remove, or --dry-run")
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            count = base.prune_traces(before=before, keep=keep, dry_run=True)
            if count and not dry_run:
                if not yes and not typer.confirm(f"Remove {_records(count)}?", err=True):
                    typer.echo("nothing was removed", err=True)
                    raise SystemExit(ExitCode.NOTHING_FOUND)
                count = base.prune_traces(before=before, keep=keep)
        if json:
            print_json({"dry_run": dry_run, "records": count})
        else:
            typer.echo(f"{_records(count)} {'would go' if dry_run else 'removed'}")


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"
