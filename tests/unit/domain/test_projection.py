"""What the agent sees (R38)."""

import pytest
from tests.unit.domain.samples import block, result

from evidence_lookup.domain.errors import (
    BackendUnavailableError,
    CollectionMissingError,
    EvidenceLookupError,
)
from evidence_lookup.domain.pack import ContextPack, ContextPackSummary, PackEntry, pack
from evidence_lookup.domain.projection import project, unavailable
from evidence_lookup.domain.status import CompletenessHint, EvidenceStatus, RelevanceLevel
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.domain.trace import RetrievalTrace


def test_R38_the_document_id_is_the_evidence_key() -> None:
    """Each excerpt is cited by its key and carries the pack's metadata."""
    (one,) = project(result(block("docA#chunk-2", "Promote."))).evidence
    assert one.document_id == "docA#chunk-2"
    assert (one.source, one.title, one.breadcrumb) == ("a.md", "Title", "Title > Part")
    assert (one.excerpt, one.is_cut, one.hit_reasons) == ("Promote.", False, ("dense:rank 1",))


def test_R38_two_chunks_of_one_source_both_appear() -> None:
    """A shared source hides nothing."""
    blocks = (block("a#chunk-1", source="a.md"), block("a#chunk-0", source="a.md"))
    assert [e.document_id for e in project(result(*blocks)).evidence] == ["a#chunk-1", "a#chunk-0"]


def test_R38_a_repeated_key_appears_once_where_it_first_stood() -> None:
    """Of a, b, a the projection has a and b, with the first one's text."""
    entries = tuple(
        PackEntry(key, None, None, None, (), text)
        for key, text in (("a", "first"), ("b", "other"), ("a", "second"))
    )
    twice = ContextPack("", entries, ContextPackSummary(10, 0))
    shown = project(result(block(), context_pack=twice)).evidence
    assert [(e.document_id, e.excerpt) for e in shown] == [("a", "first"), ("b", "other")]


def test_R38_only_what_the_budget_held_appears_and_a_cut_is_said() -> None:
    """The excerpt is the packed text, so that quotes are checked against what was shown."""
    blocks = (block("a#chunk-0", "word " * 100), block("b#chunk-0", "word " * 100))
    packed = pack(blocks, 60, estimate_tokens)
    (shown,) = project(result(*blocks, context_pack=packed)).evidence
    assert shown.document_id == "a#chunk-0"
    assert shown.is_cut
    assert shown.excerpt == packed.entries[0].content


def test_R40_the_projection_repeats_the_results_judgement() -> None:
    """Found, status, level, hint, messages, reason and id are the result's."""
    answer = result(block(), trace=RetrievalTrace(reason="why"))
    shown = project(answer)
    assert (shown.found, shown.evidence_status) == (True, EvidenceStatus.FOUND)
    assert (shown.relevance_level, shown.completeness_hint) == (
        RelevanceLevel.HIGH,
        CompletenessHint.COMPLETE,
    )
    assert (shown.message, shown.completeness_message) == (
        answer.message,
        answer.completeness_message,
    )
    assert (shown.reason, shown.invocation_id) == ("why", answer.invocation_id)


def test_R40_nothing_found_is_an_answer_without_evidence() -> None:
    """An empty result is projected as such."""
    shown = project(result())
    assert (shown.found, shown.evidence_status, shown.evidence) == (
        False,
        EvidenceStatus.NO_EVIDENCE,
        (),
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BackendUnavailableError("no route"), "connection"),
        (CollectionMissingError("kb"), "collection_missing"),
    ],
)
def test_R54_a_lookup_that_could_not_be_tried_is_unavailable(
    error: EvidenceLookupError, reason: str
) -> None:
    """The agent's answer keeps the contract: not found, unavailable, the error's kind and text."""
    shown = unavailable(error)
    assert (shown.found, shown.evidence_status) == (False, EvidenceStatus.UNAVAILABLE)
    assert (shown.relevance_level, shown.completeness_hint) == (
        RelevanceLevel.NONE,
        CompletenessHint.NONE,
    )
    assert (shown.reason, shown.evidence, shown.invocation_id) == (reason, (), None)
    assert shown.message == f"The knowledge base is unavailable: {error}"
