"""Evidence keys and scopes, for every input (R01 to R04, R26)."""

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import doc_ids, rows, scope_values, texts

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.identity import evidence_key, identify, parse_evidence_key

_anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.lists(st.integers(), max_size=2)
)


@given(doc_ids, st.integers(0, 10**30))
def test_R01_a_key_is_read_back(doc_id: str, index: int) -> None:
    """Whatever the document's id holds, key and parts are each other's inverse."""
    assert parse_evidence_key(evidence_key(doc_id, index)) == (doc_id, index)


@given(texts)
def test_R01_what_is_read_as_a_key_is_one(key: str) -> None:
    """A text is refused, or is exactly the key of what was read."""
    parts = parse_evidence_key(key)
    assert parts is None or evidence_key(*parts) == key


@given(doc_ids, st.integers(0, 2**53), doc_ids, st.integers(0, 2**53))
def test_R06_two_chunks_never_share_a_key(one: str, n: int, other: str, m: int) -> None:
    """Keys are equal only where document and index are."""
    assert (evidence_key(one, n) == evidence_key(other, m)) == ((one, n) == (other, m))


@given(doc_ids, st.integers(0, 2**53))
def test_R01_every_spelling_of_an_index_gives_one_key(doc_id: str, index: int) -> None:
    """Integer, text and float are one index, under either name."""
    found = {
        identify({"docId": doc_id, name: value}, hit_id=None, original_rank=1)
        for name in ("chunkIndex", "chunk_index")
        for value in (index, str(index), float(index), f" {index} ")
    }
    assert [each.evidence_key for each in found] == [evidence_key(doc_id, index)]


@given(_anything, _anything, _anything, st.integers(1))
def test_R03_every_hit_has_a_key(doc_id: Any, index: Any, hit_id: Any, rank: int) -> None:
    """No metadata makes identification fail, and only a rank key is synthetic."""
    found = identify({"doc_id": doc_id, "chunk_index": index}, hit_id=hit_id, original_rank=rank)
    assert found.is_synthetic == (found.evidence_key == f"rank:{rank}")
    if found.doc_id is not None and found.chunk_index is not None:
        assert found.evidence_key == evidence_key(found.doc_id, found.chunk_index)
    else:
        assert found.evidence_key in (f"rank:{rank}", f"vector:{hit_id}")


@given(scope_values, rows)
def test_R26_no_foreign_row_is_in_scope(values: dict[str, Any], row: dict[str, Any]) -> None:
    """A row passes exactly if each name holds a wanted value of the same type."""
    expected = True
    for name, value in values.items():
        choices = cast("list[object]", value if isinstance(value, list) else [value])
        held = row.get(name)
        expected = expected and any(type(held) is type(one) and held == one for one in choices)
    assert Scope(values).allows(row) == expected


@given(scope_values, scope_values, rows)
def test_R26_narrowing_never_widens(
    values: dict[str, Any], more: dict[str, Any], row: dict[str, Any]
) -> None:
    """What a narrowed scope allows, the scope allows too; a contradiction is refused."""
    scope = Scope(values)
    try:
        narrow = scope.narrowed(**more)
    except ScopeError:
        assert values.keys() & more.keys()
        return
    assert narrow.allows(row) == (scope.allows(row) and Scope(more).allows(row))


@given(scope_values)
def test_R26_the_order_of_conditions_is_no_matter(values: dict[str, Any]) -> None:
    """The same conditions make the same scope, printed alike."""
    turned = dict(reversed(values.items()))
    assert repr(Scope(values)) == repr(Scope(turned))
    assert Scope(Scope(values).values) == Scope(values)
