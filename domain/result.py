"""The answer of one lookup: one value, ready for JSON (R40)."""

from attrs import frozen

from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.pack import ContextPack
from evidence_lookup.domain.status import CompletenessHint, EvidenceStatus, RelevanceLevel
from evidence_lookup.domain.trace import QueryTransform, RerankEntry, RetrievalTrace


@frozen
class LookupResult:
    """What was found, how near it is, whether it is all, and how it was found.

    `invocation_id` names the record of this lookup; ids and timings apart, the same query, data
    and settings give the same result.
    """

    invocation_id: str
    query: str
    found: bool
    evidence_status: EvidenceStatus
    message: str
    relevance_level: RelevanceLevel
    completeness_hint: CompletenessHint
    completeness_message: str
    evidence_blocks: tuple[EvidenceBlock, ...]
    context_pack: ContextPack
    query_transform: QueryTransform
    retrieval_trace: RetrievalTrace
    rerank_trace: tuple[RerankEntry, ...]
