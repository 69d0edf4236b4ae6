"""Reranking and selection, for every input (R05 to R12, R53)."""

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import hints, hit_lists, limits

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import KnowledgeSearchHit
from evidence_lookup.domain.rerank import RankedCandidate, rerank
from evidence_lookup.domain.selection import DropReason, SelectionLimits, select


def reranked(found: list[KnowledgeSearchHit], hinted: QueryHints) -> tuple[RankedCandidate, ...]:
    """The candidates of *found*, reranked."""
    return rerank(candidates_from(found), hinted)


@given(hit_lists, hints, limits)
def test_R11_every_candidate_is_accepted_or_dropped(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits
) -> None:
    """Each key and original rank that came in comes out once, here or there."""
    ranked = reranked(found, hinted)
    accepted, drops = select(ranked, limit)
    came = Counter((r.candidate.evidence_key, r.candidate.original_rank) for r in ranked)
    went = Counter((r.candidate.evidence_key, r.candidate.original_rank) for r in accepted)
    went.update((drop.evidence_key, drop.rank) for drop in drops)
    assert came == went
    assert len(accepted) + len(drops) == len(found)


@given(hit_lists, hints, limits)
def test_R12_equal_input_gives_equal_output(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits
) -> None:
    """Two runs of rerank and selection are the same, and change nothing they are given."""
    before = repr(found)
    assert select(reranked(found, hinted), limit) == select(reranked(found, hinted), limit)
    assert repr(found) == before


@given(hit_lists, hints, limits)
def test_R05_R07_R09_no_limit_is_exceeded(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits
) -> None:
    """Return-n, the cap of each bucket and one block for each key hold at once."""
    accepted, _ = select(reranked(found, hinted), limit)
    assert len(accepted) <= limit.return_n
    buckets = Counter(one.candidate.document_bucket for one in accepted)
    assert all(count <= limit.max_chunks_per_document for count in buckets.values())
    assert len({one.candidate.evidence_key for one in accepted}) == len(accepted)


@given(hit_lists, hints, limits)
def test_R53_the_floor_is_never_violated(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits
) -> None:
    """What is accepted reaches the floor or has no similarity; what the floor dropped does not."""
    accepted, drops = select(reranked(found, hinted), limit)
    for one in accepted:
        assert one.candidate.similarity is None or one.candidate.similarity >= limit.floor
    for drop in drops:
        below = drop.similarity is not None and drop.similarity < limit.floor
        assert below == (drop.reason is DropReason.BELOW_FLOOR)


@given(hit_lists, hints, limits)
def test_R07_R09_nothing_is_dropped_without_need(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits
) -> None:
    """The cap drops only from a full document, return-n only from a full answer."""
    ranked = reranked(found, hinted)
    accepted, drops = select(ranked, limit)
    bucket = {r.candidate.original_rank: r.candidate.document_bucket for r in ranked}
    beyond = [drop.rank for drop in drops if drop.reason is DropReason.RETURN_N]
    under_cap = Counter(bucket[one.candidate.original_rank] for one in accepted)
    under_cap.update(bucket[rank] for rank in beyond)
    for drop in drops:
        if drop.reason is DropReason.DOCUMENT_CAP:
            assert under_cap[bucket[drop.rank]] == limit.max_chunks_per_document
    assert not beyond or len(accepted) == limit.return_n


@given(hit_lists, hints)
def test_R12_the_order_is_total(found: list[KnowledgeSearchHit], hinted: QueryHints) -> None:
    """Ranking scores fall, are numbers, and only the port's order parts equal ones."""
    ranked = reranked(found, hinted)
    assert sorted(r.candidate.original_rank for r in ranked) == list(range(1, len(found) + 1))
    order = [
        (-r.ranking_score, r.candidate.score.value is None, r.candidate.original_rank)
        for r in ranked
    ]
    assert order == sorted(order)
    assert all(math.isfinite(r.ranking_score) and 0 <= r.base <= 1 for r in ranked)


@given(hit_lists, hints)
def test_R35_the_ranking_score_is_the_base_and_its_boosts(
    found: list[KnowledgeSearchHit], hinted: QueryHints
) -> None:
    """Every boost has an amount above 0 and a reason that the block shows."""
    for one in reranked(found, hinted):
        assert one.ranking_score == one.base + math.fsum(b.amount for b in one.boosts)
        assert all(b.amount > 0 and b.reason in one.hit_reasons for b in one.boosts)
        assert len(set(one.hit_reasons)) == len(one.hit_reasons)


@given(hit_lists, hints, limits, st.integers(1, 12))
def test_R09_a_smaller_return_n_gives_a_beginning_of_the_answer(
    found: list[KnowledgeSearchHit], hinted: QueryHints, limit: SelectionLimits, fewer: int
) -> None:
    """The accepted of a smaller answer are the first of the larger one."""
    ranked = reranked(found, hinted)
    wide = SelectionLimits(100, limit.max_chunks_per_document, limit.floor)
    narrow = SelectionLimits(fewer, limit.max_chunks_per_document, limit.floor)
    assert select(ranked, narrow)[0] == select(ranked, wide)[0][:fewer]
