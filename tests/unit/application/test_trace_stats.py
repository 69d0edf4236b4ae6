"""Figures over many records: times, shares, unanswered queries."""

import json
import math
from collections.abc import Mapping
from datetime import timedelta

import pytest

from evidence_lookup.adapters.json_values import from_json, to_json
from evidence_lookup.application.stage_times import by_stage
from evidence_lookup.application.trace_stats import TraceStats, trace_stats
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import FallbackReason
from evidence_lookup.testing.samples import SOME_TIME


def summary(
    number: int,
    query: str = "q",
    status: str = "found",
    *,
    fallback: FallbackReason | None = None,
    timings: Mapping[str, float] | None = None,
) -> InvocationSummary:
    """The summary of a lookup made *number* seconds after some time."""
    return InvocationSummary(
        id=f"id-{number}",
        session_id=None,
        query=query,
        evidence_status=EvidenceStatus(status),
        candidate_count=0,
        block_count=0,
        duration_seconds=0.01,
        timings=timings or {},
        created_at=SOME_TIME + timedelta(seconds=number),
        fallback_reason=fallback,
    )


def test_shares_are_of_all_lookups() -> None:
    """Each status, second attempts and what was unavailable, over the number of records."""
    reason = FallbackReason.LOW_QUALITY
    stats = trace_stats(
        [
            summary(4, status="unavailable"),
            summary(3, status="no_evidence", fallback=FallbackReason.NO_EVIDENCE),
            summary(2, fallback=reason),
            summary(1),
        ]
    )
    assert stats.count == 4
    assert (stats.first, stats.last) == (SOME_TIME + timedelta(seconds=1), summary(4).created_at)
    assert {str(status): (one.count, one.share) for status, one in stats.statuses.items()} == {
        "found": (2, 0.5),
        "no_evidence": (1, 0.25),
        "unavailable": (1, 0.25),
    }
    assert (stats.fallback_rate, stats.no_evidence_rate, stats.unavailable_rate) == (
        0.5,
        0.25,
        0.25,
    )
    assert from_json(TraceStats, json.loads(json.dumps(to_json(stats)))) == stats


def test_no_record_gives_no_rate() -> None:
    """A share of nothing is None, not 0."""
    stats = trace_stats([])
    assert (stats.count, stats.first, stats.last) == (0, None, None)
    assert (stats.fallback_rate, stats.no_evidence_rate, stats.unavailable_rate) == (None,) * 3
    assert (stats.stages, stats.statuses, stats.unanswered) == ({}, {}, ())


def test_stages_stand_in_pipeline_order_each_over_its_own_lookups() -> None:
    """An empty query has a total only; a stage of another version stands before the total."""
    stages = by_stage(
        [
            {"total": 0.004},
            {"extra": 0.001, "search": 0.002, "embed": 0.001, "transform": 0.5, "total": 0.005},
            {"search": math.nan, "total": math.inf},
        ]
    )
    assert list(stages) == ["transform", "embed", "search", "extra", "total"]
    assert {stage: one.count for stage, one in stages.items()} == {
        "transform": 1,
        "embed": 1,
        "search": 1,
        "extra": 1,
        "total": 2,
    }


def test_percentiles_of_a_hundred_and_one_values() -> None:
    """Of 0, 1, … 100 seconds the percentiles are their own numbers."""
    (total,) = by_stage({"total": float(n)} for n in range(101)).values()
    assert (total.count, total.max) == (101, 100.0)
    assert (total.p50, total.p90, total.p95, total.p99) == pytest.approx((50, 90, 95, 99))


def test_unanswered_queries_are_grouped_whatever_their_case_width_and_white_space() -> None:
    """Most frequent first, then the latest; each as last asked, with the id of that record."""
    stats = trace_stats(
        [
            summary(9, "once", "low_relevance"),
            summary(8, "Bake  BREAD\n", "low_relevance"),
            summary(7, " ", "no_evidence"),
            summary(6, "ｂａｋｅ bread", "no_evidence"),
            summary(5, "麻婆豆腐的做法", "no_evidence"),
            summary(4, "麻婆豆腐的做法", "no_evidence"),
            summary(3, "answered", "found"),
            summary(2, "down", "unavailable"),
            summary(1, "bake bread", "no_evidence"),
        ],
        top=2,
    )
    first, second = stats.unanswered
    assert (first.query, first.count, first.last_id) == ("Bake  BREAD\n", 3, "id-8")
    assert (first.status, first.last_asked) == ("low_relevance", summary(8).created_at)
    assert (second.query, second.count, second.last_id) == ("麻婆豆腐的做法", 2, "id-5")
