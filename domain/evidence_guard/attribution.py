"""Which references a quotation stands beside."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal

from attrs import frozen

from evidence_lookup.domain.evidence_guard.quotations import (
    Quotation,
    is_long_enough,
    quotations,
    without_markers,
)
from evidence_lookup.domain.evidence_guard.reference import Reference
from evidence_lookup.domain.evidence_guard.text_units import Unit

_BETWEEN_NEIGHBOURS = re.compile(r"[\s,，;；、&()]*(?:and|und|和|与|及)?\s*")
_NO_ABBREVIATION = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bno)"
_SENTENCE_BEGINS = re.compile(
    rf"{_NO_ABBREVIATION}[.!?][\"”’)\]]*\s+[\"“„«「『(]?[^\Wa-z_]|[。！？][」』”]*\s*\w|\n\s*\n"
)
_SENTENCE_ENDS = re.compile(rf"{_NO_ABBREVIATION}[.!?][\"”’)\]]*\s|[。！？]|\n\s*\n")
_BEFORE_CREDIT = re.compile(r"\s*(?:[-–—―*_]*\s*)(?:\w{1,12}\s*[:：]\s*)?[\[(（【*_`]*")
_INTRODUCES = re.compile(r"[\s.,*_)\]]*(?:[^\n]{0,40}[:：])?\s*")
_FARTHEST = 400  # characters between a quotation and a reference beside it
_FARTHEST_NEIGHBOUR = 20
_MOST_NEIGHBOURS = 20


@frozen
class QuotedPassage:
    """A quoted text, its place, and the positions of the references it stands beside."""

    text: str
    start: int
    end: int
    beside: tuple[int, ...]


def quoted_passages(
    text: str, parts: Sequence[Unit], references: Sequence[Reference]
) -> Iterator[QuotedPassage]:
    """The quotations of *text* with their references, as positions in *references*.

    A quotation stands beside the references within it, each of which ends a part of it. Else
    beside those directly after it and those directly before it: in the same unit (paragraph, list
    item, table row), with no end of a sentence between and no other reference. References that
    only white space, commas or *and* part are one neighbour; a quotation belongs to whichever
    neighbour's excerpt holds it. Marks around a reference itself quote nothing. A block quote
    without references stands beside the one that the next unit begins with
    (``— [guide#chunk-3]``), and the one that ends the unit before it, of which a colon may follow
    (``In [guide#chunk-3] we read:``). A quotation beside none is not checked, and neither is one
    of fewer than 3 words or 6 CJK characters.
    """
    starts = [reference.outer_start for reference in references]
    written = sorted((reference.start, reference.end) for reference in references)
    for unit, quotation in quotations(text, parts):
        first = bisect_left(starts, quotation.start)
        last = bisect_left(starts, quotation.end)
        if first < last:
            yield from _around(text, quotation, references, range(first, last))
            continue
        names = bisect_left(written, (quotation.end,)) - 1
        if names >= 0 and written[names][1] > quotation.start:
            continue  # ["guide#chunk-3"]: what stands in the marks is the reference
        after = _after(text, unit, quotation, references, first)
        before = _before(text, unit, quotation, references, first - 1)
        if beside := (*after, *before):
            yield from _passage(text, quotation.inner_start, quotation.inner_end, beside)


def _around(
    text: str, quotation: Quotation, references: Sequence[Reference], inside: range
) -> Iterator[QuotedPassage]:
    start, number = quotation.inner_start, inside.start
    while number < inside.stop:
        cluster = _cluster(text, references, number, 1)
        cluster = [one for one in cluster if one < inside.stop]
        number = cluster[-1] + 1
        end = references[cluster[0]].outer_start
        yield from _passage(text, start, end, tuple(cluster))
        start = references[cluster[-1]].outer_end
        if number >= inside.stop:
            yield from _passage(text, start, quotation.inner_end, tuple(cluster))


def _passage(text: str, start: int, end: int, beside: tuple[int, ...]) -> Iterator[QuotedPassage]:
    quoted = without_markers(text[start:end]).strip()
    if is_long_enough(quoted):
        yield QuotedPassage(quoted, start, end, beside)


def _after(
    text: str, unit: Unit, quotation: Quotation, references: Sequence[Reference], index: int
) -> tuple[int, ...]:
    if index >= len(references):
        return ()
    start = references[index].outer_start
    if start - quotation.end > _FARTHEST:
        return ()
    if quotation.is_block:
        credit = _BEFORE_CREDIT.match(text, quotation.end)
        if credit is None or credit.end() < start:
            return ()
    elif start >= unit.end or _SENTENCE_BEGINS.search(text, quotation.inner_end - 1, start):
        return ()
    return tuple(_cluster(text, references, index, 1))


def _before(
    text: str, unit: Unit, quotation: Quotation, references: Sequence[Reference], index: int
) -> tuple[int, ...]:
    if index < 0:
        return ()
    end = references[index].outer_end
    if quotation.start - end > _FARTHEST:
        return ()
    if quotation.is_block:
        if not _INTRODUCES.fullmatch(text, end, quotation.start):
            return ()
    elif end <= unit.start or _SENTENCE_ENDS.search(text, end, quotation.start):
        return ()
    return tuple(reversed(_cluster(text, references, index, -1)))


def _cluster(
    text: str, references: Sequence[Reference], index: int, step: Literal[1, -1]
) -> list[int]:
    """*index* and what adjoins it in the direction of *step*, as one neighbour."""
    found = [index]
    while len(found) < _MOST_NEIGHBOURS and 0 <= index + step < len(references):
        one, other = sorted((index, index + step))
        if not _adjoin(text, references[one], references[other]):
            break
        index += step
        found.append(index)
    return found


def _adjoin(text: str, one: Reference, other: Reference) -> bool:
    if other.outer_start < one.outer_end:
        return True
    if other.outer_start - one.outer_end > _FARTHEST_NEIGHBOUR:
        return False
    return _BETWEEN_NEIGHBOURS.fullmatch(text, one.outer_end, other.outer_start) is not None
