"""Keys without brackets."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from re import Match

from evidence_lookup.domain.evidence_guard import key_grammar as grammar
from evidence_lookup.domain.evidence_guard.brackets import CLOSERS, OPENERS
from evidence_lookup.domain.evidence_guard.known_keys import CHUNK_MARK, KnownKeys
from evidence_lookup.domain.evidence_guard.reference import Reference, named
from evidence_lookup.domain.text import is_cjk

_SEEN_BEHIND = 8  # characters; more than a sentence puts behind a key


def bare_references(
    text: str, known: KnownKeys, taken: Sequence[tuple[int, int]]
) -> Iterator[Reference]:
    """The keys whose marks are outside *taken*, places in order that do not overlap."""
    starts = [start for start, _ in taken]
    done = 0
    for mark in CHUNK_MARK.finditer(text):
        index = bisect_left(starts, mark.end()) - 1
        if mark.start() < done or (index >= 0 and mark.start() < taken[index][1]):
            continue
        floor = max(done, taken[index][1] if index >= 0 else 0)
        reference = _literal(text, known, mark, floor) or _run(text, known, mark, floor)
        done = reference.outer_end
        if not CHUNK_MARK.fullmatch(reference.written):
            yield reference


def _literal(text: str, known: KnownKeys, mark: Match[str], floor: int) -> Reference | None:
    """The longest returned key that ends with *mark* and stands apart from what is around it."""
    tail = grammar.BARE_RUN.match(text, mark.end(), mark.end() + _SEEN_BEHIND)
    rest = tail.group().strip(grammar.FOOT) if tail else ""
    if rest and rest[0] not in "'’" and not is_cjk(rest[0]):
        return None
    for key in known.ending_with(text, mark):
        start = mark.end() - len(key)
        if start >= floor and _begins_apart(text, start):
            return named(key, key, (start, mark.end()), (start, mark.end()))
    return None


def _run(text: str, known: KnownKeys, mark: Match[str], floor: int) -> Reference:
    """The run of characters around *mark*."""
    start, tail = mark.start(), grammar.BARE_RUN.match(text, mark.start())
    while start > floor and grammar.BARE_RUN.match(text[start - 1]):
        start -= 1
    end = tail.end() if tail else mark.end()
    run = text[start:end]
    body = run.lstrip(grammar.HEAD)
    head = run[: len(run) - len(body)]
    body = body.rstrip(grammar.FOOT)
    written = body.rstrip(grammar.FOOT + CLOSERS) or body
    closes = written != body and not any(opener in head for opener in OPENERS)
    start += len(head)
    key = None if closes else known.resolve(written)
    if key is None and not closes:
        lead = grammar.NAMED_LEAD_IN.match(written)
        key = known.resolve(written[lead.end() :]) if lead else None
    return named(written, key, (start, start + len(written)), (start, end))


def _begins_apart(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    if not grammar.BARE_RUN.match(before):
        return True
    if before in OPENERS:
        return not text[start - 2 : start - 1].isalnum()
    return before in grammar.HEAD or is_cjk(before) != is_cjk(text[start])
