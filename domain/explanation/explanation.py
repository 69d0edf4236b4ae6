"""The answer to "why is this chunk not in the answer?"."""

from attrs import frozen

from evidence_lookup.domain.explanation.stage import Stage
from evidence_lookup.domain.explanation.standing import Standing
from evidence_lookup.domain.explanation.steps import Step
from evidence_lookup.domain.score import Score

__all__ = ["Explanation", "Stage"]


@frozen
class Explanation:
    """Where one chunk stands, and why; no content, and nothing of a chunk out of scope.

    `message` says it in words, `setting` is the setting that decided, if one did. `attempt` is
    the selected attempt; `rank`, from 1, and `score` are what its backend gave, or where that did
    not list the chunk, what a deeper search in the same mode gave, the first of `standings`.
    `similarity` and `floor` are normalised, 0 to 1; a record does not tell the floor. `final_rank`
    is the rank among the blocks, or for ``return_n`` the one that it would have had. `packed` is
    ``whole`` or ``cut``, None where the chunk is not in the context pack. `duplicates` are the
    ranks of further hits of the key, which count as one with it. `instead` are the chunks that took
    the places of its document, `excluded_by` the names of the scope's values that exclude it.
    `invocation_id` is of the record that was explained, None after a fresh run.
    """

    evidence_key: str
    query: str
    stage: Stage
    message: str
    setting: str | None = None
    attempt: str | None = None
    rank: int | None = None
    score: Score | None = None
    similarity: float | None = None
    floor: float | None = None
    final_rank: int | None = None
    packed: str | None = None
    duplicates: tuple[int, ...] = ()
    instead: tuple[str, ...] = ()
    excluded_by: tuple[str, ...] = ()
    standings: tuple[Standing, ...] = ()
    steps: tuple[Step, ...] = ()
    invocation_id: str | None = None
