"""What a fusion rule takes and gives."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import field, frozen

from evidence_lookup.domain.score import Score


def _at_least_zero(_instance: object, _attribute: object, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"a fusion weight must be a finite number of 0 or more, not {value}")


@frozen
class RankedList:
    """Keys best first, each with its score; a key counts once, at its best rank.

    A list of weight 0 adds nothing, not even its keys.
    """

    entries: tuple[tuple[str, Score], ...]
    weight: float = field(default=1.0, validator=_at_least_zero)

    def unique(self) -> dict[str, Score]:
        """Each key with the score of its best rank, best first."""
        scores: dict[str, Score] = {}
        for key, score in self.entries:
            scores.setdefault(key, score)
        return scores


Fusion: TypeAlias = Callable[[Sequence[RankedList]], tuple[tuple[str, Score], ...]]
"""Ranked lists to one: keys best first, scores `rank_fused`, ties in order of first sight."""
