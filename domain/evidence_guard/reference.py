"""A reference in an answer."""

from attrs import frozen

from evidence_lookup.domain.evidence_guard.report import ReferenceVerdict


@frozen
class Reference:
    """One reference in a text; `outer_start` to `outer_end` holds the brackets around it."""

    written: str
    start: int
    end: int
    outer_start: int
    outer_end: int
    verdict: ReferenceVerdict
    evidence_key: str | None = None


def named(
    written: str, evidence_key: str | None, place: tuple[int, int], outer: tuple[int, int]
) -> Reference:
    """A reference by id: `valid` if it names *evidence_key*, one that was returned."""
    verdict = ReferenceVerdict.UNKNOWN if evidence_key is None else ReferenceVerdict.VALID
    return Reference(written, *place, *outer, verdict, evidence_key)
