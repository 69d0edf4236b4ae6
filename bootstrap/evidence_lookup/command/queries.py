"""The queries of a comparison: one from the command line, or many from a file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from evidence_lookup.domain.errors import CallerError, UnreadableDocumentError
from evidence_lookup.domain.text import is_blank

_BEGINS_LIKE_JSON = re.compile(r'\s*\[\s*["{]')
_NAMES = ("query", "question")


def queries_from(query: str | None, file: Path | None) -> list[str]:
    """The one *query*, or those of *file*.

    Raises:
        CallerError: neither or both are given, or the file holds something else than queries.
        UnreadableDocumentError: the file cannot be read.
    """
    if (query is None) == (file is None):
        raise CallerError("give either a QUERY or --queries FILE")
    return [query] if query is not None else _read(cast("Path", file))


def _read(file: Path) -> list[str]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UnreadableDocumentError(f"--queries {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UnreadableDocumentError(f"--queries {file}, line {line}: not UTF-8") from error
    if file.suffix.lower() == ".json" or _BEGINS_LIKE_JSON.match(text):
        queries = list(_from_json(text, file))
    elif text.lstrip().startswith("{"):
        raise CallerError(f"--queries {file}: objects, but not in a JSON list")
    else:
        queries = [line.strip() for line in text.splitlines() if not is_blank(line)]
    if not queries:
        raise CallerError(f"--queries {file}: there is no query in it")
    return queries


def _from_json(text: str, file: Path) -> Iterator[str]:
    try:
        items: Any = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CallerError(f"--queries {file}, {place}: {error.msg}") from error
    except RecursionError as error:
        raise CallerError(f"--queries {file}: nested too deeply") from error
    if not isinstance(items, list):
        raise CallerError(f"--queries {file}: not a JSON list")
    for number, item in enumerate(cast("list[object]", items), start=1):
        query = item
        if isinstance(item, dict):
            named = cast("dict[str, object]", item)
            query = next((named[name] for name in _NAMES if name in named), None)
        if not isinstance(query, str) or is_blank(query):
            raise CallerError(
                f"--queries {file}, item {number}: neither a text nor an object whose "
                "'query' or 'question' is one"
            )
        yield query
