"""The stages at which an answer can lose a chunk."""

from enum import StrEnum

from evidence_lookup.domain.selection import DropReason


class Stage(StrEnum):
    """Where a chunk was lost, or that it was not."""

    RETURNED = "returned"
    """It is in the answer."""
    BUDGET = "budget"
    """It is a block, but the context pack had no room for it."""
    RETURN_N = DropReason.RETURN_N.value
    """More blocks were accepted than are returned."""
    DOCUMENT_CAP = DropReason.DOCUMENT_CAP.value
    """Better chunks of its document took the document's places."""
    DUPLICATE = DropReason.DUPLICATE.value
    """Another hit of the same key was kept."""
    BELOW_FLOOR = DropReason.BELOW_FLOOR.value
    """It is no nearer to the query than unrelated texts."""
    NOT_RETRIEVED = "not_retrieved"
    """The backend's list did not reach down to it."""
    FILTERED = "filtered"
    """The scope, or the filter that the hints gave, excludes it."""
    NOT_INDEXED = "not_indexed"
    """There is no such chunk."""
    UNAVAILABLE = "unavailable"
    """The backend gave no answer."""
    EMPTY_QUERY = "empty_query"
    """There was nothing to search for."""
    L1_DISABLED = "l1_disabled"
    """Retrieval is switched off."""
    UNKNOWN = "unknown"
    """What is left of the run does not say."""


PIPELINE = (
    Stage.NOT_INDEXED,
    Stage.FILTERED,
    Stage.NOT_RETRIEVED,
    Stage.BELOW_FLOOR,
    Stage.DUPLICATE,
    Stage.DOCUMENT_CAP,
    Stage.RETURN_N,
    Stage.BUDGET,
)
"""The stages that a chunk has to pass, in their order."""
