"""Why a chunk is, or is not, in an answer (R58)."""

from evidence_lookup.domain.explanation.absence import (
    Absence,
    exclusion,
    explain_absence,
    is_of_documents,
)
from evidence_lookup.domain.explanation.explanation import Explanation, Stage
from evidence_lookup.domain.explanation.key import check_key, documents_meant, is_evidence_key
from evidence_lookup.domain.explanation.run import Run, run_of_record, run_of_result
from evidence_lookup.domain.explanation.standing import Standing
from evidence_lookup.domain.explanation.steps import Step, StepOutcome
from evidence_lookup.domain.explanation.verdict import explain_run

__all__ = [
    "Absence",
    "Explanation",
    "Run",
    "Stage",
    "Standing",
    "Step",
    "StepOutcome",
    "check_key",
    "documents_meant",
    "exclusion",
    "explain_absence",
    "explain_run",
    "is_evidence_key",
    "is_of_documents",
    "run_of_record",
    "run_of_result",
]
