"""What the lookups of a conversation returned: the excerpts that an answer may cite."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.record import EvidenceSummary, ToolInvocation
from evidence_lookup.domain.result import LookupResult

PREVIEW_ONLY = "preview_only"
"""Only the beginning of the excerpt is on record."""


@frozen
class Excerpt:
    """The content of a returned block, or only its beginning.

    `reason` says in one word why the rest of it is not known.
    """

    content: str
    is_whole: bool = True
    reason: str = PREVIEW_ONLY


Excerpts: TypeAlias = Mapping[str, Sequence[Excerpt]]
"""By evidence key; a chunk that several lookups returned with different contents has several."""


def returned_excerpts(results: Iterable[LookupResult | ToolInvocation]) -> dict[str, list[Excerpt]]:
    """The excerpts of *results*, in their order, each content of a key once.

    What stands in `evidence_blocks` was returned, whether or not the context pack had room for it.

    Raises:
        CallerError: one of *results* is something else.
    """
    excerpts: dict[str, dict[Excerpt, None]] = {}
    for result in results:
        for key, excerpt in _excerpts_of(result):
            excerpts.setdefault(key, {})[excerpt] = None
    return {key: list(each) for key, each in excerpts.items()}


def recorded_excerpt(block: EvidenceSummary) -> Excerpt:
    """What a record holds of a block's content."""
    # A preview has its white space collapsed, which makes it shorter, never longer.
    return Excerpt(block.preview, is_whole=block.content_length <= len(block.preview))


def _excerpts_of(result: object) -> list[tuple[str, Excerpt]]:
    if isinstance(result, LookupResult):
        return [(block.evidence_key, Excerpt(block.content)) for block in result.evidence_blocks]
    if isinstance(result, ToolInvocation):
        blocks = result.retrieval_details.evidence_blocks
        return [(block.evidence_key, recorded_excerpt(block)) for block in blocks]
    raise CallerError(
        "results must be lookup results or their records (LookupResult, ToolInvocation), "
        f"not {type(result).__name__}"
    )
