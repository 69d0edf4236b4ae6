"""The figures that govern one lookup, already resolved from settings and embedder."""

from attrs import frozen

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.selection import SelectionLimits
from evidence_lookup.domain.status import Thresholds


@frozen
class LookupRules:
    """`retrieve_k` hits are asked for; `context_budget` is in tokens, times are in seconds.

    With `l1_enabled` off only hints are gathered and nothing is searched.
    """

    retrieve_k: int
    limits: SelectionLimits
    thresholds: Thresholds
    context_budget: int
    mode: SearchMode
    l1_enabled: bool
    deadline_seconds: float
    record_timeout_seconds: float
    required_scope: tuple[str, ...] = ()
