"""The commands ``trace list`` and ``trace show``."""

from typing import TYPE_CHECKING, Annotated

import typer

from evidence_lookup.command.options import (
    Config,
    DataDir,
    Debug,
    Json,
    Since,
    Until,
    settings_from,
)
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.domain.status import EvidenceStatus

if TYPE_CHECKING:
    from evidence_lookup.domain.record import ToolInvocation
    from evidence_lookup.knowledge_base import SyncKnowledgeBase


def trace_list(
    limit: Annotated[int, typer.Option(min=1, help="At most this many, newest first.")] = 20,
    session: Annotated[str | None, typer.Option(help="Only lookups of this session.")] = None,
    status: Annotated[
        EvidenceStatus | None, typer.Option(help="Only lookups that ended so.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only lookups that returned this chunk.")
    ] = None,
    since: Since = None,
    until: Until = None,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """List recorded lookups, newest first.

    Of several conditions all have to be met.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json, show_traces
        from evidence_lookup.command.times import period_from
        from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        start, end = period_from(since, until)
        where = TraceFilter(
            session_id=session, evidence_status=status, evidence_key=key, since=start, until=end
        )
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            traces = base.recent_traces(limit=limit, where=where)
        if json:
            print_json(traces)
        else:
            show_traces(traces, is_narrowed=where != EVERY_TRACE)


def trace_show(
    invocation_id: Annotated[str, typer.Argument(metavar="ID", help="As `trace list` shows it.")],
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Show one recorded lookup.

    Every candidate with what became of it, the attempts, the pack and the timings.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json, show_trace
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            trace = known_trace(base, invocation_id)
        print_json(trace) if json else show_trace(trace)


def known_trace(base: "SyncKnowledgeBase", invocation_id: str) -> "ToolInvocation":
    """The record of that id; ends the command where there is none."""
    trace = base.trace(invocation_id)
    if trace is None:
        typer.echo(f"error: there is no lookup {invocation_id}; see `trace list`", err=True)
        raise SystemExit(ExitCode.NOTHING_FOUND)
    return trace
