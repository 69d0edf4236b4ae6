"""An answer, taken apart into its texts and its citations."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.evidence_guard import key_grammar as grammar
from evidence_lookup.domain.evidence_guard.known_keys import KnownKeys
from evidence_lookup.domain.evidence_guard.structures import (
    AnswerText,
    Json,
    Part,
    StructuredCitation,
    as_list,
    parts_of,
)
from evidence_lookup.domain.evidence_guard.text_units import Unit, UnitKind


def answer_parts(answer: Json, known: KnownKeys) -> list[Part]:
    """The parts of *answer*: a text, or a JSON value, or a text that is a JSON document.

    Raises:
        CallerError: *answer* is neither.
    """
    value = answer
    if isinstance(answer, str):
        parsed = parsed_json(answer)
        if parsed is None:
            return [AnswerText("$", answer)]
        value = parsed
    if not isinstance(value, Mapping | list | tuple):
        raise CallerError(f"answer must be a text, a dict or a list, not {type(answer).__name__}")
    items = as_list(value)
    if items and all(isinstance(one, str | int) for one in items):
        texts = [str(one) for one in items]
        looks_like_ids = any(is_key(one, known) for one in texts)
        if looks_like_ids or all(len(one.split()) == 1 for one in texts):
            return [StructuredCitation(f"$[{i}]", (one,)) for i, one in enumerate(texts)]
    return list(_whole_keys(parts_of(value), known))


def fenced_parts(text: str, path: str, unit: Unit, known: KnownKeys) -> list[Part]:
    """The parts of a code block that is JSON and has a citation; else none.

    ``$@120.document_id`` is a path in the JSON of the block that begins at character 120.
    """
    if unit.kind is not UnitKind.CODE or unit.language not in ("", "json", "jsonc", "json5"):
        return []
    body = text[unit.start : unit.end].strip().split("\n", 1)[-1]
    value = parsed_json(body.rstrip().rstrip("`~"))
    if value is None:
        return []
    at = f"{path}@{unit.start}"
    items = as_list(value) or ()
    if any(isinstance(one, str) and is_key(one, known) for one in items):
        return [
            StructuredCitation(f"{at}[{i}]", (one,))
            for i, one in enumerate(items)
            if isinstance(one, str)
        ]
    parts = list(_whole_keys(parts_of(value, at), known))
    has_citation = any(isinstance(part, StructuredCitation) or part.citations for part in parts)
    return parts if has_citation else []


def parsed_json(text: str) -> Json | None:
    """*text* as a JSON object or list, or None if it is none."""
    if not text.lstrip()[:1] or text.lstrip()[0] not in "[{":
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def is_key(text: str, known: KnownKeys) -> bool:
    """Whether *text* as a whole was returned, or has the form of an evidence key."""
    return known.resolve(text) is not None or grammar.WHOLE_KEY.fullmatch(text) is not None


def _whole_keys(parts: Iterator[Part], known: KnownKeys) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, AnswerText) and (
            known.resolve(part.text) is not None
            or (part.may_be_key and is_key(part.text.strip(), known))
        ):
            yield StructuredCitation(part.path, (part.text,))
        else:
            yield part
