"""Check an answer against the recorded lookups of its conversation (R39)."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from evidence_lookup.domain.errors import UnknownSessionError
from evidence_lookup.domain.evidence_guard import (
    EvidenceGuard,
    Excerpt,
    GuardReport,
    QuoteState,
    recorded_excerpt,
    returned_excerpts,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.record import EvidenceSummary, ToolInvocation, content_hash
from evidence_lookup.domain.replay import requested_mode, skip_reason
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.ports.trace import TraceReader

Ask: TypeAlias = Callable[[str, Scope, SearchMode | None], Awaitable[LookupResult]]
"""Looks a query up, in a scope and a mode (None: the settings' one), and records nothing."""

MOST_LOOKUPS = 10_000
"""Lookups of one session that are read, the newest."""

_EXCERPT_CHANGED, _NO_HASH = "excerpt_changed", "no_hash"
_UNAVAILABLE = EvidenceStatus.UNAVAILABLE.value
_PATIENCE = 3  # queries in a row; of a backend that hangs each takes the whole deadline


@frozen
class AnswerCheck:
    """The use case.

    A record holds only the beginning of each excerpt. Where that does not settle a quote, the
    recorded queries that returned the excerpt are asked again, each once, and what comes back is
    used only if its hash is the recorded one. `required_scope` are the names without which `ask`
    answers nothing. A backend that is unavailable to 3 queries in a row is asked no more.
    """

    traces: TraceReader
    ask: Ask
    required_scope: Sequence[str] = ()
    guard: EvidenceGuard = field(factory=EvidenceGuard)

    async def check(
        self, answer: Any, *, session_id: str, scope: Scope | None = None
    ) -> GuardReport:
        """The report on *answer* against every lookup of *session_id*.

        A quote stays `quote_unchecked` where the excerpt cannot be had back; its reason is
        ``excerpt_changed`` (the chunk came back otherwise, or not at all), ``unavailable``,
        ``no_hash`` (an old record), or why the query cannot be asked again: ``scope_needed``,
        ``scope_not_recorded``, ``redacted``, ``query_cut``, ``record_shortened``. A query is asked
        again within *scope* only if its lookup was narrowed by exactly these names.

        Raises:
            UnknownSessionError: no lookup of *session_id* is recorded.
            CallerError: *answer* is neither a text nor a JSON value.
            BackendError: the records cannot be read.
        """
        where = TraceFilter(session_id=session_id)
        records = (await self.traces.recent(limit=MOST_LOOKUPS, where=where))[::-1]
        if not records:
            raise UnknownSessionError(session_id)
        excerpts = returned_excerpts(records)
        report = self.guard.check_excerpts(answer, excerpts)
        if any(finding.quote_state is QuoteState.UNCHECKED for finding in report.findings):
            wanted = [
                key for key in report.cited_keys if not all(one.is_whole for one in excerpts[key])
            ]
            found = await self._ask_again(records, wanted, scope or Scope())
            report = self.guard.check_excerpts(answer, found)
        is_incomplete = len(records) == MOST_LOOKUPS or any(map(_lacks_blocks, records))
        return evolve(report, records_incomplete=is_incomplete)

    async def _ask_again(
        self, records: Sequence[ToolInvocation], wanted: Collection[str], scope: Scope
    ) -> dict[str, list[Excerpt]]:
        """The excerpts of *records*, whole where they could be had back, else with the reason."""
        proven: dict[tuple[str, str], str] = {}
        reasons: dict[tuple[str, str | None], str] = {}
        asked: dict[tuple[str, SearchMode | None], str | None] = {}
        unanswered = 0
        for record in records:
            blocks = [
                one
                for one in record.retrieval_details.evidence_blocks
                if one.evidence_key in wanted and not _is_proven(one, proven)
            ]
            if not blocks:
                continue
            question = (record.query, requested_mode(record))
            reason: str | None = skip_reason(
                record, scope.values.keys(), required=self.required_scope
            )
            if reason is None and question in asked:
                reason = asked[question]
            elif reason is None and unanswered == _PATIENCE:
                reason = _UNAVAILABLE
            elif reason is None:
                reason = asked[question] = await self._contents(question, scope, proven)
                unanswered = unanswered + 1 if reason == _UNAVAILABLE else 0
            for block in blocks:
                why = _NO_HASH if block.content_hash is None else reason or _EXCERPT_CHANGED
                reasons.setdefault((block.evidence_key, block.content_hash), why)
        return _excerpts(records, proven, reasons)

    async def _contents(
        self,
        question: tuple[str, SearchMode | None],
        scope: Scope,
        proven: dict[tuple[str, str], str],
    ) -> str | None:
        """Put what *question* returns now into *proven*, by key and hash; why not, if not."""
        query, mode = question
        result = await self.ask(query, scope, mode)
        for block in result.evidence_blocks:
            proven[block.evidence_key, content_hash(block.content)] = block.content
        is_unavailable = result.evidence_status is EvidenceStatus.UNAVAILABLE
        return _UNAVAILABLE if is_unavailable else None


def _is_proven(block: EvidenceSummary, proven: dict[tuple[str, str], str]) -> bool:
    return block.content_hash is not None and (block.evidence_key, block.content_hash) in proven


def _excerpts(
    records: Sequence[ToolInvocation],
    proven: dict[tuple[str, str], str],
    reasons: dict[tuple[str, str | None], str],
) -> dict[str, list[Excerpt]]:
    excerpts: dict[str, dict[Excerpt, None]] = {}
    for record in records:
        for block in record.retrieval_details.evidence_blocks:
            key, hashed = block.evidence_key, block.content_hash
            excerpt = recorded_excerpt(block)
            if hashed is not None and (key, hashed) in proven:
                excerpt = Excerpt(proven[key, hashed])
            elif (key, hashed) in reasons:
                excerpt = evolve(excerpt, reason=reasons[key, hashed])
            excerpts.setdefault(key, {})[excerpt] = None
    return {key: list(each) for key, each in excerpts.items()}


def _lacks_blocks(record: ToolInvocation) -> bool:
    return len(record.retrieval_details.evidence_blocks) < record.block_count
