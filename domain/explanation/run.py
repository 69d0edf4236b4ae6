"""What is left of a lookup: of its result, or of its record."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.identity import parse_evidence_key
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score
from evidence_lookup.domain.selection import Drop, DropReason, SelectionLimits
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import Attempt, RerankEntry, RetrievalTrace


@frozen
class Run:
    """One lookup as far as it is known.

    `blocks` are the keys of the evidence blocks, best first, with their similarities. `candidates`
    are those of the selected attempt in the port's order, and `limits` what selection went by: a
    record has neither.
    """

    query: str
    status: EvidenceStatus
    trace: RetrievalTrace
    blocks: Mapping[str, float | None]
    ranking: tuple[RerankEntry, ...]
    summary: ContextPackSummary
    candidates: tuple[Candidate, ...] = ()
    limits: SelectionLimits | None = None
    invocation_id: str | None = None
    scope: tuple[str, ...] = ()

    @property
    def attempt(self) -> Attempt | None:
        """The selected attempt."""
        named = (one for one in self.trace.attempts if one.name == self.trace.selected_attempt)
        return next(named, None)

    @property
    def is_shortened(self) -> bool:
        """Whether a record's limit in bytes cost some of its blocks or drops."""
        return self.trace.candidate_count > len(self.blocks) + len(self.trace.drops)

    def drops(self, evidence_key: str) -> tuple[Drop, ...]:
        """What was left out of that key."""
        return tuple(one for one in self.trace.drops if one.evidence_key == evidence_key)

    def of_reason(self, reason: DropReason) -> tuple[str, ...]:
        """The keys that were left out for *reason*, best first."""
        return tuple(one.evidence_key for one in self.trace.drops if one.reason is reason)

    def candidate(self, evidence_key: str, rank: int | None = None) -> Candidate | None:
        """The candidate of that key at the port's *rank*; without one the key's own.

        Of several hits of one key that is the one that was not left out for another.
        """
        dropped = {one.rank for one in self.trace.drops}
        named = (one for one in self.candidates if one.evidence_key == evidence_key)
        if rank is None:
            return next((one for one in named if one.original_rank not in dropped), None)
        return next((one for one in named if one.original_rank == rank), None)

    def score(self, evidence_key: str, candidate: Candidate | None) -> Score | None:
        """The backend's score, of *candidate* or of the block of that key."""
        if candidate is not None:
            return candidate.score
        entries = (one for one in self.ranking if one.evidence_key == evidence_key)
        return next((one.base_score for one in entries), None)

    def document(self, evidence_key: str) -> str:
        """What the per-document cap counts the chunk of that key by."""
        known = (one for one in self.candidates if one.evidence_key == evidence_key)
        if (candidate := next(known, None)) is not None:
            return candidate.document_bucket
        parsed = parse_evidence_key(evidence_key)
        return parsed[0] if parsed else evidence_key


def run_of_result(
    result: LookupResult,
    *,
    candidates: Sequence[Candidate] = (),
    limits: SelectionLimits | None = None,
) -> Run:
    """What *result* tells, with the *candidates* of its selected attempt where they are known."""
    return Run(
        query=result.query,
        status=result.evidence_status,
        trace=result.retrieval_trace,
        blocks={one.evidence_key: one.similarity for one in result.evidence_blocks},
        ranking=result.rerank_trace,
        summary=result.context_pack.summary,
        candidates=tuple(candidates),
        limits=limits,
        scope=result.query_transform.scope,
    )


def run_of_record(record: ToolInvocation) -> Run:
    """What *record* tells."""
    details = record.retrieval_details
    return Run(
        query=record.query,
        status=record.evidence_status,
        trace=details.retrieval_trace,
        blocks={one.evidence_key: one.similarity for one in details.evidence_blocks},
        ranking=details.rerank_trace,
        summary=details.context_pack_summary,
        invocation_id=record.id,
        scope=details.query_transform.scope,
    )
