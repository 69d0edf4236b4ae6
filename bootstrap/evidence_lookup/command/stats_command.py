"""The command ``trace stats``."""

from typing import Annotated

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
from evidence_lookup.command.outcome import one_line_errors


def trace_stats(
    since: Since = None,
    until: Until = None,
    session: Annotated[str | None, typer.Option(help="Only lookups of this session.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Over at most this many, the newest.")] = 10_000,
    top: Annotated[int, typer.Option(min=0, help="At most this many unanswered queries.")] = 10,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Show times by stage, rates, and what was asked without an answer.

    Unanswered is what ended as no_evidence or low_relevance; queries that differ only in case or
    white space count as one.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.command.stats_rendering import show_stats
        from evidence_lookup.command.times import period_from
        from evidence_lookup.domain.trace_filter import TraceFilter
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        first, last = period_from(since, until)
        where = TraceFilter(session_id=session, since=first, until=last)
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            stats = base.trace_stats(where=where, limit=limit, top=top)
        print_json(stats) if json else show_stats(stats)
