"""The command ``replay``."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidence_lookup.command.options import (
    Debug,
    Json,
    RecordedScope,
    Since,
    Until,
    scope_from,
    settings_from,
)
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.status import EvidenceStatus

if TYPE_CHECKING:
    from evidence_lookup.application.replay_report import ReplayReport
    from evidence_lookup.settings import Settings

_GATE = "--fail-if-changed-more-than"


def replay(
    since: Since = None,
    until: Until = None,
    session: Annotated[str | None, typer.Option(help="Only lookups of this session.")] = None,
    status: Annotated[
        EvidenceStatus | None, typer.Option(help="Only lookups that ended so.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many, the newest.")] = 1_000,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Of each query only its newest record.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER.toml",
            help="Run them under the settings of this file, whole as it is; only the data folder, "
            "if it names none, is that of the records. [default: the settings of the records]",
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Settings file that says where the records are. "
            "[default: evidence-lookup.toml, if there is one]",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the records, and of an index that --config puts nowhere else. "
            "[default: .evidence-lookup]"
        ),
    ] = None,
    scope: RecordedScope = None,
    mode: Annotated[
        SearchMode | None,
        typer.Option(
            help="How to search. [default: as each was recorded; where that is rag.mode of the "
            "records' settings, rag.mode of --config]"
        ),
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option(
            _GATE,
            metavar="SHARE",
            help="End with exit code 1 if more than this share changed, such as 5% or 0.05, or if "
            "nothing could be compared.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every changed lookup, not only the first 20.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Run recorded lookups again, and show what changed.

    By evidence keys, their order, status and fallback. Without --config this shows what the index
    changed since; with it, what other settings would. Nothing is recorded. Records hold the names
    of a scope, never its values: those of narrowed lookups are run only if --scope gives a value
    for each of their names, and for no other. Variables EVIDENCE_LOOKUP_… stand over both files.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.progress import replay_with_progress
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.command.replay_rendering import show_replay
        from evidence_lookup.command.times import period_from
        from evidence_lookup.domain.trace_filter import TraceFilter
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        most = None if fail_above is None else share_from(fail_above)
        host_scope = scope_from(scope)
        first, last = period_from(since, until)
        where = TraceFilter(session_id=session, evidence_status=status, since=first, until=last)
        recorded = settings_from(traces, data_dir)
        with open_knowledge_base_sync(recorded) as base:
            report = replay_with_progress(
                base,
                where=where,
                limit=limit,
                settings=None if config is None else _other(config, recorded),
                scope=host_scope,
                mode=mode,
                distinct=distinct,
            )
        print_json(report) if json else show_replay(report, everything=everything)
        code = _code(report, most, given=fail_above)
        if code is not ExitCode.DONE:
            raise SystemExit(code)


def share_from(text: str) -> float:
    """``5%`` or ``0.05`` as a share from 0 to 1.

    Raises:
        CallerError: it is neither.
    """
    number, percent, rest = text.strip().partition("%")
    try:
        # As decimals: 0.7 / 100 in binary is less than the 7 of 1000 that are to pass.
        share = float(Decimal(number.strip()) / (100 if percent else 1))
    except InvalidOperation:
        share = -1.0
    if rest or not 0.0 <= share <= 1.0:
        raise CallerError(f"{_GATE} {text!r} is no share: give one such as 5% or 0.05")
    return share


def _other(config: Path, recorded: "Settings") -> "Settings":
    from evidence_lookup.settings_loading import load_settings

    return load_settings(config, defaults={"data-dir": recorded.data_dir})


def _code(report: "ReplayReport", most: float | None, *, given: str | None) -> ExitCode:
    totals = report.totals
    if totals.replayed and totals.replayed == sum(totals.errors.values()):
        return ExitCode.UNAVAILABLE
    if not totals.replayed:
        skipped = ", ".join(f"{count} {reason}" for reason, count in totals.skipped.items())
        none = "there is no recorded lookup like that"
        typer.echo(f"error: nothing was run again: {skipped or none}", err=True)
        return ExitCode.NOTHING_FOUND
    if most is None or not totals.exceeds(most):
        return ExitCode.DONE
    if totals.changed_share is None:
        told = "no lookup could be compared"
    else:
        told = f"{totals.changed} of {totals.compared} lookups ({totals.changed_share:.1%}) changed"
    typer.echo(f"error: {told}; {_GATE} {given}", err=True)
    return ExitCode.NOTHING_FOUND
