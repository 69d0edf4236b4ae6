"""What the agent sees: the pack's entries under their citable ids (R38)."""

from attrs import frozen

from evidence_lookup.domain.errors import EvidenceLookupError
from evidence_lookup.domain.pack import PackEntry
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import CompletenessHint, EvidenceStatus, RelevanceLevel


@frozen
class ProjectedEvidence:
    """One excerpt to cite by `document_id`, which is the evidence key."""

    document_id: str
    source: str | None
    title: str | None
    breadcrumb: str | None
    excerpt: str
    is_cut: bool
    hit_reasons: tuple[str, ...]


@frozen
class Projection:
    """The answer of the agent's tool; `reason` says why there is nothing, as in the trace."""

    found: bool
    evidence_status: EvidenceStatus
    message: str
    relevance_level: RelevanceLevel
    completeness_hint: CompletenessHint
    completeness_message: str
    reason: str | None
    evidence: tuple[ProjectedEvidence, ...]
    invocation_id: str | None


def project(result: LookupResult) -> Projection:
    """The agent's view of *result*: what the context budget held, each evidence key once."""
    entries: dict[str, PackEntry] = {}
    for entry in result.context_pack.entries:
        entries.setdefault(entry.evidence_key, entry)
    return Projection(
        found=result.found,
        evidence_status=result.evidence_status,
        message=result.message,
        relevance_level=result.relevance_level,
        completeness_hint=result.completeness_hint,
        completeness_message=result.completeness_message,
        reason=result.retrieval_trace.reason,
        evidence=tuple(
            ProjectedEvidence(
                document_id=entry.evidence_key,
                source=entry.source,
                title=entry.title,
                breadcrumb=entry.breadcrumb,
                excerpt=entry.content,
                is_cut=entry.is_cut,
                hit_reasons=entry.hit_reasons,
            )
            for entry in entries.values()
        ),
        invocation_id=result.invocation_id,
    )


def unavailable(error: EvidenceLookupError) -> Projection:
    """The agent's view of a lookup that could not even be tried."""
    return Projection(
        found=False,
        evidence_status=EvidenceStatus.UNAVAILABLE,
        message=f"The knowledge base is unavailable: {error}",
        relevance_level=RelevanceLevel.NONE,
        completeness_hint=CompletenessHint.NONE,
        completeness_message="There is no evidence to be complete.",
        reason=error.kind,
        evidence=(),
        invocation_id=None,
    )
