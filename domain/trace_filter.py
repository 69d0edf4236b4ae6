"""Which records are meant, of all that were ever made."""

from datetime import datetime

from attrs import Attribute, field, frozen

from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.status import EvidenceStatus


def _aware(_: object, attribute: "Attribute[datetime | None]", time: datetime | None) -> None:
    if time is not None and time.tzinfo is None:
        raise CallerError(f"{attribute.name} must have a time zone: {time}")


@frozen
class TraceFilter:
    """A record passes if it meets every condition that is set.

    `since` and `until` are aware times: from `since` on, and before `until`. `evidence_key` is one
    of the record's evidence blocks.

    Raises:
        CallerError: a time has no time zone.
    """

    session_id: str | None = None
    evidence_status: EvidenceStatus | None = None
    evidence_key: str | None = None
    since: datetime | None = field(default=None, validator=_aware)
    until: datetime | None = field(default=None, validator=_aware)

    def passes(self, record: ToolInvocation) -> bool:
        """Whether *record* meets every condition."""
        blocks = record.retrieval_details.evidence_blocks
        return (
            self.session_id in (None, record.session_id)
            and self.evidence_status in (None, record.evidence_status)
            and (self.since is None or record.created_at >= self.since)
            and (self.until is None or record.created_at < self.until)
            and (
                self.evidence_key is None
                or any(block.evidence_key == self.evidence_key for block in blocks)
            )
        )


EVERY_TRACE = TraceFilter()
"""No condition."""
