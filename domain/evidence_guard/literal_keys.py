"""Returned keys that stand in brackets as they are, whatever they hold."""

from collections.abc import Iterator

from evidence_lookup.domain.evidence_guard import key_grammar as grammar
from evidence_lookup.domain.evidence_guard.known_keys import KnownKeys


def literal_spans(text: str, known: KnownKeys) -> list[tuple[int, int]]:
    """Where returned keys make whole items of a bracket, in order.

    They are looked for before brackets are paired, since brackets inside a key pair with none.
    """
    spans: list[tuple[int, int]] = []
    done = 0
    for opener in grammar.OPENER.finditer(text):
        position = opener.end()
        if opener.start() < done:
            continue
        while (key := _whole_item(text, position, known)) is not None:
            spans.append(key)
            done = key[1]
            separator = grammar.SEPARATOR.match(text, done)
            if separator is None:
                break
            position = separator.end()
    return spans


def item_starts(text: str, position: int) -> Iterator[int]:
    """Where the key of an item at *position* may begin: at once, or behind what stands before."""
    yield position
    start = position
    for pattern in (grammar.SPACE, grammar.WRAPPERS):
        matched = pattern.match(text, position)
        for end in () if matched is None else (*matched.span(matched.lastindex or 0),):
            if end > start:
                start = end
                yield end
    if text[start : start + 1].isalpha():
        lead = grammar.LEAD_IN.match(text, start)
        if lead is not None and lead.end() > start:
            yield lead.end()


def _whole_item(text: str, position: int, known: KnownKeys) -> tuple[int, int] | None:
    for start in item_starts(text, position):
        for key in known.starting_at(text, start):
            if grammar.ITEM_END.match(text, start + len(key)):
                return start, start + len(key)
    return None
