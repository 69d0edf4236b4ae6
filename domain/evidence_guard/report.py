"""What the evidence guard found out about an answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import frozen


class ReferenceVerdict(StrEnum):
    """Whether a reference names evidence of this conversation."""

    VALID = "valid"
    """An evidence key that was returned."""
    UNKNOWN = "unknown"
    """A key or id that was never returned."""
    POSITIONAL = "positional"
    """A bare position such as ``[5]``: it names nothing that can be checked."""


class QuoteState(StrEnum):
    """Whether a quote stands in the cited excerpt."""

    FOUND = "quote_found"
    NOT_FOUND = "quote_not_found"
    UNCHECKED = "quote_unchecked"
    """Not all of the cited excerpt is known, and the quote is not in what is."""
    NONE = "no_quote"


@frozen
class QuoteFinding:
    """A quote beside a reference.

    `start` and `end` are character offsets in the text at `path`, None where the quote is a field
    of a JSON object. `reason` says why a quote is unchecked. `found_in` are the returned keys in
    whose excerpts the quote stands, where that is not the cited one.
    """

    text: str
    path: str
    start: int | None
    end: int | None
    state: QuoteState
    reason: str | None = None
    found_in: tuple[str, ...] = ()


@frozen
class ReferenceFinding:
    """One reference as it is written, its place, and what is to be said of it.

    `path` is a JSON path such as ``$.content[0].text``, and ``$`` for an answer that is a text;
    `start` and `end` are character offsets in the text there, None where the reference is the
    JSON value itself. `evidence_key` is the returned key, None unless the verdict is `valid`.
    `quote_state` is the worst of `quotes`.
    """

    reference: str
    path: str
    start: int | None
    end: int | None
    verdict: ReferenceVerdict
    evidence_key: str | None = None
    quotes: tuple[QuoteFinding, ...] = ()
    quote_state: QuoteState = QuoteState.NONE


@frozen
class GuardReport:
    """Every reference of an answer, in order of its place.

    `ok`: no reference is unknown or positional, and no quote is missing from its excerpt. An
    answer without any reference is `uncited`, and `ok` all the same. `unknown_ids` and
    `cited_keys` name each once, in order of the first place. `verdict_counts` has every verdict,
    `quote_counts` the quotes by every state but `no_quote`. With `records_incomplete` some record
    was shortened or is too old to be read, so that an id called unknown may have been returned.
    """

    ok: bool
    uncited: bool
    findings: tuple[ReferenceFinding, ...]
    unknown_ids: tuple[str, ...]
    cited_keys: tuple[str, ...]
    verdict_counts: Mapping[str, int]
    quote_counts: Mapping[str, int]
    records_incomplete: bool = False


_WORST_FIRST = (QuoteState.NOT_FOUND, QuoteState.UNCHECKED, QuoteState.FOUND)


def worst(quotes: Sequence[QuoteFinding]) -> QuoteState:
    """The state that speaks for all of *quotes*."""
    states = {quote.state for quote in quotes}
    return next((state for state in _WORST_FIRST if state in states), QuoteState.NONE)


def guard_report(findings: Sequence[ReferenceFinding]) -> GuardReport:
    """The report of *findings*, which are in order."""
    verdicts = Counter(finding.verdict for finding in findings)
    quotes = Counter(quote.state for finding in findings for quote in finding.quotes)
    unknown = [f.reference for f in findings if f.verdict is ReferenceVerdict.UNKNOWN]
    cited = [f.evidence_key for f in findings if f.evidence_key is not None]
    return GuardReport(
        ok=verdicts[ReferenceVerdict.VALID] == len(findings) and not quotes[QuoteState.NOT_FOUND],
        uncited=not findings,
        findings=tuple(findings),
        unknown_ids=tuple(dict.fromkeys(unknown)),
        cited_keys=tuple(dict.fromkeys(cited)),
        verdict_counts={verdict.value: verdicts[verdict] for verdict in ReferenceVerdict},
        quote_counts={state.value: quotes[state] for state in _WORST_FIRST},
    )
