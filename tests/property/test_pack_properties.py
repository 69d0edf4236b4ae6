"""The context pack, for every input (R36, R37)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import block_lists

from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.pack import CountTokens, pack
from evidence_lookup.domain.text import estimate_tokens


def utf8(text: str) -> int:
    """Bytes of *text*."""
    return len(text.encode("utf-8", "surrogatepass"))


def words(text: str) -> int:
    """Words of *text*, which are far apart where there is no white space."""
    return len(text.split())


COUNTERS: list[CountTokens] = [estimate_tokens, len, utf8, words]


@pytest.mark.parametrize("count", COUNTERS)
@given(found=block_lists, budget=st.integers(-1, 400))
def test_R37_the_rendered_text_never_exceeds_the_budget(
    count: CountTokens, found: list[EvidenceBlock], budget: int
) -> None:
    """Metadata, separators and cut marks included, in whatever the counter counts."""
    made = pack(found, budget, count)
    assert count(made.text) <= max(budget, 0)
    assert made.summary.used == count(made.text)
    assert made.text == "\n\n".join(entry.render() for entry in made.entries)


@pytest.mark.parametrize("count", COUNTERS)
@given(found=block_lists, budget=st.integers(0, 400))
def test_R37_content_is_a_beginning_and_metadata_is_whole(
    count: CountTokens, found: list[EvidenceBlock], budget: int
) -> None:
    """Each entry follows its block, in order; only content may be shorter, and then it says so."""
    made = pack(found, budget, count)
    by_key = {block.evidence_key: block for block in found}
    order = list(by_key)
    packed = [entry.evidence_key for entry in made.entries]
    assert packed == sorted(packed, key=order.index)
    for entry in made.entries:
        one = by_key[entry.evidence_key]
        assert one.content.startswith(entry.content)
        assert (entry.source, entry.title, entry.breadcrumb, entry.hit_reasons) == (
            one.source,
            one.title,
            one.breadcrumb,
            one.hit_reasons,
        )
        assert entry.is_cut == (entry.content != one.content)
        assert not entry.is_cut or len(entry.content) >= 40


@given(found=block_lists, budget=st.integers(0, 400))
def test_R37_the_summary_accounts_for_every_block(found: list[EvidenceBlock], budget: int) -> None:
    """Included, cut and omitted are together the blocks, each with its source."""
    summary = pack(found, budget, len).summary
    listed = (*summary.included, *summary.cut, *summary.omitted)
    assert sorted((each.evidence_key, str(each.source)) for each in listed) == sorted(
        (block.evidence_key, str(block.source)) for block in found
    )
    assert all(each.reason is None for each in summary.included)
    assert all(each.reason == "budget" for each in (*summary.cut, *summary.omitted))


@given(found=block_lists)
def test_R37_with_room_enough_everything_is_whole(found: list[EvidenceBlock]) -> None:
    """A budget that the whole text keeps cuts nothing."""
    made = pack(found, 10**9, estimate_tokens)
    assert [entry.content for entry in made.entries] == [block.content for block in found]
    again = pack(found, made.summary.used, estimate_tokens)
    assert again.entries == made.entries
