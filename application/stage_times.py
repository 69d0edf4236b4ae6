"""How the times of many lookups are distributed, stage by stage."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
from attrs import frozen

STAGES = ("transform", "probe", "embed", "search", "post_process", "pack", "assemble", "total")
"""The stages of a lookup in the order of the pipeline, and all of it."""


@frozen
class Percentiles:
    """Of `count` values, at least 1, in seconds; between two values they are interpolated."""

    count: int
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


def by_stage(timings: Iterable[Mapping[str, float]]) -> dict[str, Percentiles]:
    """The distribution of each stage over the lookups that entered it, in pipeline order.

    Stages of no known name stand before the total. Values that are no finite numbers do not count.
    """
    seconds: dict[str, list[float]] = {}
    for one in timings:
        for stage, value in one.items():
            if math.isfinite(value):
                seconds.setdefault(stage, []).append(value)
    return {stage: _percentiles(seconds[stage]) for stage in sorted(seconds, key=_place)}


def _percentiles(values: list[float]) -> Percentiles:
    p50, p90, p95, p99, largest = map(float, np.percentile(values, [50, 90, 95, 99, 100]))
    return Percentiles(len(values), p50, p90, p95, p99, largest)


def _place(stage: str) -> tuple[float, str]:
    return (STAGES.index(stage) if stage in STAGES else len(STAGES) - 1.5, stage)
