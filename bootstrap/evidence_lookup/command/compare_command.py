"""The command ``compare``."""

from pathlib import Path
from typing import Annotated

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
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.domain.hit import SearchMode

_PATHS = "sdk, vectorstore, auto, milvus or elasticsearch"


def compare(
    query: Annotated[str | None, typer.Argument(help="The question to ask both paths.")] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Many questions: one a line, or a JSON list of texts or objects."
        ),
    ] = None,
    main: Annotated[
        str | None,
        typer.Option(metavar="PATH", help=f"{_PATHS}. [default: the one that lookups use]"),
    ] = None,
    other: Annotated[
        str | None, typer.Option(metavar="PATH", help="As --main. [default: sidecar.path]")
    ] = None,
    mode: Annotated[
        SearchMode | None, typer.Option(help="How to search. [default: rag.mode, hybrid]")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only documents of this category.")] = None,
    scope: LookupScope = None,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Results of each path. [default: rag.retrieve-k, 20]")
    ] = None,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Compare what two retrieval paths find for the same question.

    By ranks and evidence keys; scores are shown with what they measure.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.compare_rendering import show_comparison
        from evidence_lookup.command.progress import compare_with_progress
        from evidence_lookup.command.queries import queries_from
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        asked, host_scope = queries_from(query, queries), scope_from(scope)
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            report = compare_with_progress(
                base,
                asked,
                main=main,
                other=other,
                scope=host_scope,
                category=category,
                mode=mode,
                top_k=top_k,
            )
        print_json(report) if json else show_comparison(report)
        totals = report.totals
        if totals.queries in (totals.main_failures, totals.other_failures):
            raise SystemExit(ExitCode.UNAVAILABLE)
