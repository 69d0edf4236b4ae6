"""Check an answer's references against what this conversation's lookups returned (R39)."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from attrs import evolve, frozen

from evidence_lookup.domain.evidence_guard import key_grammar as grammar
from evidence_lookup.domain.evidence_guard.answer_parts import answer_parts, fenced_parts
from evidence_lookup.domain.evidence_guard.attribution import quoted_passages
from evidence_lookup.domain.evidence_guard.excerpts import Excerpts, returned_excerpts
from evidence_lookup.domain.evidence_guard.known_keys import KnownKeys
from evidence_lookup.domain.evidence_guard.quotations import is_long_enough, quotations
from evidence_lookup.domain.evidence_guard.quote_check import QuoteCheck
from evidence_lookup.domain.evidence_guard.reference import Reference
from evidence_lookup.domain.evidence_guard.references import find_references
from evidence_lookup.domain.evidence_guard.report import (
    GuardReport,
    QuoteFinding,
    ReferenceFinding,
    ReferenceVerdict,
    guard_report,
    worst,
)
from evidence_lookup.domain.evidence_guard.structures import AnswerText, Part, StructuredCitation
from evidence_lookup.domain.evidence_guard.text_units import CodeSpans, Unit, units
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult


@frozen
class EvidenceGuard:
    """Says for each reference of an answer whether it was returned, and for each quote beside one
    whether it stands in the cited excerpt.

    What a reference is, in texts, JSON and the citation structures of Anthropic and OpenAI, is
    told by `find_references` and `parts_of`, what a quotation is by `quotations`, which reference
    it belongs to by `quoted_passages`, and how it is compared by `matchable` and `quote_parts`.
    A reference is valid only if its evidence key was returned by one of the lookups: by id, never
    by position. A document id with line ends is written as it is, or with each run of white space
    as one space.
    """

    def check(self, answer: Any, results: Iterable[LookupResult | ToolInvocation]) -> GuardReport:
        """The report on *answer*, a text or a JSON value (dict or list), or JSON as text.

        *results* are the lookups of this conversation, in memory or as recorded. A record has
        only the beginning of each excerpt: a quote that is not there is `quote_unchecked`.

        Raises:
            CallerError: *answer* or one of *results* is something else.
        """
        return self.check_excerpts(answer, returned_excerpts(results))

    def check_excerpts(self, answer: Any, excerpts: Excerpts) -> GuardReport:
        """As `check`, against *excerpts* by their evidence key.

        Raises:
            CallerError: *answer* is neither a text nor a JSON value.
        """
        known, quotes = KnownKeys(excerpts), QuoteCheck(excerpts)
        findings: list[ReferenceFinding] = []
        for part in answer_parts(answer, known):
            findings += _findings(part, known, quotes)
        return guard_report(findings)


def _findings(part: Part, known: KnownKeys, quotes: QuoteCheck) -> Iterator[ReferenceFinding]:
    if isinstance(part, StructuredCitation):
        yield _of_citation(part, known, quotes)
        return
    parts = units(part.text)
    text, kept, done = part.text, list[str](), 0
    in_json: list[tuple[int, ReferenceFinding]] = []
    for unit in parts:
        if inner := fenced_parts(text, part.path, unit, known):
            in_json += [
                (unit.start, one) for each in inner for one in _findings(each, known, quotes)
            ]
            kept += [text[done : unit.start], " " * (unit.end - unit.start)]
            done = unit.end
    text = "".join((*kept, text[done:]))
    in_text = _of_text(evolve(part, text=text), parts, known, quotes)
    placed = [*in_json, *((one.start or 0, one) for one in in_text)]
    yield from (one for _, one in sorted(placed, key=lambda each: each[0]))
    placeless = [one for one in part.citations if one.start is None]
    cited = [_of_citation(one, known, quotes) for one in placeless]
    yield from _with_rest(text, part.path, parts, in_text, cited, quotes)


def _of_citation(
    citation: StructuredCitation, known: KnownKeys, quotes: QuoteCheck
) -> ReferenceFinding:
    written, key, verdict = _resolved(citation, known)
    cited = [_key(one, known) for one in citation.ids] or [key]
    checked = (quotes.check(quote, cited, (path, None, None)) for path, quote in citation.quotes)
    found = tuple(one[1] for one in checked if one is not None and one[0] == citation.number)
    return ReferenceFinding(written, citation.path, None, None, verdict, key, found, worst(found))


def _resolved(
    citation: StructuredCitation, known: KnownKeys
) -> tuple[str, str | None, ReferenceVerdict]:
    for one in citation.candidates:
        if (key := _key(one, known)) is not None:
            return one, key, ReferenceVerdict.VALID
    if not citation.candidates:
        return citation.position or "", None, ReferenceVerdict.POSITIONAL
    written = next(
        (one for one in citation.candidates if grammar.WHOLE_KEY.fullmatch(one)),
        citation.candidates[0],
    )
    is_position = grammar.POSITIONS.fullmatch(written.strip("[]【】"))
    verdict = ReferenceVerdict.POSITIONAL if is_position else ReferenceVerdict.UNKNOWN
    return written, None, verdict


def _key(written: str, known: KnownKeys) -> str | None:
    return known.resolve(written) or known.resolve(written.strip().strip("[]【】"))


def _of_text(
    part: AnswerText, parts: Sequence[Unit], known: KnownKeys, quotes: QuoteCheck
) -> list[ReferenceFinding]:
    """The references in the text and the citations that have a place in it."""
    placed = [
        (one, one.start, one.end)
        for one in part.citations
        if one.start is not None and one.end is not None
    ]
    spans = sorted((start, end) for _, start, end in placed)
    farthest = [0, *accumulate((end for _, end in spans), max)]
    found: list[tuple[Reference, list[QuoteFinding]]] = [
        (one, [])
        for one in find_references(part.text, known, CodeSpans(part.text, parts))
        # What a structured citation stands for is only its mark in the text.
        if one.outer_end > farthest[bisect_right(spans, (one.outer_start, inf))]
    ]
    for citation, start, end in placed:
        told = _of_citation(citation, known, quotes)
        start = min(start, len(part.text))
        place = (start, min(max(end, start), len(part.text)))
        reference = Reference(told.reference, *place, *place, told.verdict, told.evidence_key)
        found.append((reference, list(told.quotes)))
    found.sort(key=lambda one: (one[0].outer_start, one[0].start))
    for passage in quoted_passages(part.text, parts, [reference for reference, _ in found]):
        cited = [found[one][0].evidence_key for one in passage.beside]
        at = (part.path, passage.start, passage.end)
        if (checked := quotes.check(passage.text, cited, at)) is not None:
            found[passage.beside[checked[0]]][1].append(checked[1])
    return [
        ReferenceFinding(
            one.written,
            part.path,
            one.start,
            one.end,
            one.verdict,
            one.evidence_key,
            tuple(beside),
            worst(beside),
        )
        for one, beside in found
    ]


def _with_rest(
    text: str,
    path: str,
    parts: Sequence[Unit],
    in_text: Sequence[ReferenceFinding],
    cited: list[ReferenceFinding],
    quotes: QuoteCheck,
) -> list[ReferenceFinding]:
    """*cited*, citations of the whole text, with the quotations that no other reference has."""
    if not cited:
        return []
    taken = {(one.start, one.end) for finding in in_text for one in finding.quotes}
    for _, quotation in quotations(text, parts):
        start, end = quotation.inner_start, quotation.inner_end
        if (start, end) in taken or not is_long_enough(text[start:end]):
            continue
        keys = [finding.evidence_key for finding in cited]
        checked = quotes.check(text[start:end], keys, (path, start, end))
        if checked is not None:
            at, found = checked
            both = (*cited[at].quotes, found)
            cited[at] = evolve(cited[at], quotes=both, quote_state=worst(both))
    return cited
