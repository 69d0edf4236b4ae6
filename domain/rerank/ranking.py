"""The ranking score: where a candidate stands among the others, plus its boosts."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.rerank.boost import Boost
from evidence_lookup.domain.rerank.category_match import category_match
from evidence_lookup.domain.rerank.entity_match import entity_match
from evidence_lookup.domain.rerank.keyword_match import keyword_match
from evidence_lookup.domain.rerank.title_match import title_match

RerankRule: TypeAlias = Callable[[Candidate, QueryHints], tuple[Boost, ...]]

DEFAULT_RULES: tuple[RerankRule, ...] = (title_match, keyword_match, entity_match, category_match)


@frozen
class RankedCandidate:
    """A candidate with what put it where it stands: ``ranking_score = base + sum of boosts``."""

    candidate: Candidate
    base: float
    boosts: tuple[Boost, ...] = ()
    merged_reasons: tuple[str, ...] = ()

    @property
    def ranking_score(self) -> float:
        """What the order is by, higher first."""
        return self.base + math.fsum(boost.amount for boost in self.boosts)

    @property
    def hit_reasons(self) -> tuple[str, ...]:
        """Why this was found, each reason once: lists that held it, hints, duplicates."""
        found = (f"{found.mode}:rank {found.rank}" for found in self.candidate.found_by)
        boosts = (boost.reason for boost in self.boosts)
        return tuple(dict.fromkeys((*found, *boosts, *self.merged_reasons)))


def rerank(
    candidates: Sequence[Candidate],
    hints: QueryHints,
    rules: Sequence[RerankRule] = DEFAULT_RULES,
) -> tuple[RankedCandidate, ...]:
    """*candidates* by ranking score, best first; equal scores stand in the port's order (R12).

    The base is the score brought to 0..1 over these candidates, ``(s - worst) / (best - worst)``,
    which keeps the port's distances whatever the score means, so that one boost weighs the same
    under every semantics and model. A score of no value counts as the worst and stands behind it.
    Where no score has a value or semantics are mixed, the base is ``1 - (rank - 1) / n`` instead.
    """
    ranked = [
        RankedCandidate(candidate, base, tuple(b for rule in rules for b in rule(candidate, hints)))
        for candidate, base in zip(candidates, _bases(candidates), strict=True)
    ]
    return tuple(sorted(ranked, key=_order))


def _order(ranked: RankedCandidate) -> tuple[float, bool, int]:
    candidate = ranked.candidate
    return -ranked.ranking_score, candidate.score.value is None, candidate.original_rank


def _bases(candidates: Sequence[Candidate]) -> list[float]:
    goodness = [candidate.score.goodness for candidate in candidates]
    semantics = {candidate.score.semantics for candidate in candidates}
    known = [value for value in goodness if math.isfinite(value)]
    if len(semantics) > 1 or not known:
        return [1 - position / len(candidates) for position in range(len(candidates))]
    worst = min(known)
    spread = max(known) - worst
    if not 0 < spread < math.inf:
        return [1.0 if math.isfinite(value) else 0.0 for value in goodness]
    return [max(0.0, (value - worst) / spread) for value in goodness]
