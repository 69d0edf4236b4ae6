"""The command ``guard``."""

import json as json_library
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from evidence_lookup.command.options import (
    Config,
    DataDir,
    Debug,
    Json,
    RecordedScope,
    scope_from,
    settings_from,
)
from evidence_lookup.command.outcome import ExitCode, one_line_errors
from evidence_lookup.domain.errors import CallerError, UnreadableDocumentError

_MOST_BYTES = 2 * 1024 * 1024


def guard(
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="The file of the answer; - is standard input.")
    ],
    session: Annotated[
        str, typer.Option(help="The id under which the conversation's lookups are recorded.")
    ],
    scope: RecordedScope = None,
    json: Json = False,
    data_dir: DataDir = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Check an answer's references and quotes.

    Each reference must have been returned by a lookup of the session, and each quote beside one
    must stand in the cited excerpt. The answer is a text, or JSON: a list of document ids, objects
    with document_id, or a message with the citations of Anthropic or OpenAI. A record holds only
    the beginning of an excerpt: where a quote needs more, its query is looked up again,
    unrecorded. Ends with 1 if something is wrong; an answer without references is told as such,
    and ends with 0.
    """
    with one_line_errors(debug=debug):
        from evidence_lookup.command.guard_rendering import show_guard_report
        from evidence_lookup.command.rendering import print_json
        from evidence_lookup.knowledge_base import open_knowledge_base_sync

        host_scope, given = scope_from(scope), _answer(answer)
        with open_knowledge_base_sync(settings_from(config, data_dir)) as base:
            report = base.check_answer(given, session_id=session, scope=host_scope)
        print_json(report) if json else show_guard_report(report)
        if not report.ok:
            raise SystemExit(ExitCode.NOTHING_FOUND)


def _answer(name: str) -> Any:
    """The answer in the file *name*, as JSON if the file is called so.

    Raises:
        UnreadableDocumentError: there is no such file, or it is not UTF-8.
        CallerError: it is too long, or is not the JSON that its name says.
    """
    told = "standard input" if name == "-" else name
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UnreadableDocumentError(f"{told}: {error.strerror or error}") from error
    if len(data) > _MOST_BYTES:
        raise CallerError(f"{told}: an answer has at most {_MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UnreadableDocumentError(f"{told}, line {line}: not UTF-8") from error
    if not name.lower().endswith(".json"):
        return text
    try:
        return json_library.loads(text)
    except json_library.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CallerError(f"{told}, {place}: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise CallerError(f"{told}: nested too deeply, or a number too long") from error
