"""The command ``explain``."""

from typing import TYPE_CHECKING, Annotated

import typer

from evidence_lookup.command.options import (
    Config,
    DataDir,
    Debug,
    Json,
    LookupScope,
    scope_from,
    settings_from,
)
from evidence_lookup.command.outcome import one_line_errors
from evidence_lookup.command.trace_commands import known_trace
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.hit import SearchMode

if TYPE_CHECKING:
    from evidence_lookup.domain.explanation import Explanation
    from evidence_lookup.domain.record import ToolInvocation


def explain(
    key: Annotated[
        str,
        typer.Option(metavar="KEY", help="The evidence key of the chunk: runbooks/a.md#chunk-3."),
    ],
    query: Annotated[
        str | None, typer.Argument(help="The question; it is looked up again, unrecorded.")
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Explain this recorded lookup instead; nothing is run."),
    ] = None,
    mode: Annotated[
        SearchMode | None, typer.Option(help="How to search. [default: rag.mode, hybrid]")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only documents of this category.")] = None,
    scope: LookupScope = None,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Explain why a chunk is, or is not, in an answer.

    Names the stage that lost it, with its true rank and score, and the setting that decided.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.explain_rendering import show_explained
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        host_scope = scope_from(scope)
        if (query is None) == (trace is None):
            raise CallerError("give either a QUERY to look up again, or --trace ID of a record")
        if trace is not None and (mode or category or host_scope):
            raise CallerError("--mode, --category and --scope go with a QUERY; a trace has its own")
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            if trace is None:
                explanation = base.explain(
                    query or "", key, scope=host_scope, category=category, mode=mode
                )
            else:
                explanation = _of_record(known_trace(base, trace), key)
        print_json(explanation) if json else show_explained(explanation)


def _of_record(record: "ToolInvocation", key: str) -> "Explanation":
    from evidence_lookup.domain.explanation import check_key, explain_run, run_of_record

    check_key(key)
    return explain_run(key, run_of_record(record))
