"""Any text can be written into PostgreSQL, and sorts there as it does here."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.arbitrary import joined

from evidence_lookup.adapters.json_values import decode, encode
from evidence_lookup.adapters.postgres.texts import loaded_json, stored, stored_json

_ODD = '\0\x01\x02\\"u01d\ud7fe\ud7ff\ud800\udbff\udc00\udfff\ue000😀a'
_TEXTS = st.text(st.sampled_from(_ODD) | st.characters(), max_size=8).map(joined)
_JSON = st.recursive(
    st.none() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _as_the_server_writes(text: str) -> str:
    """*text* written anew, with the escapes that PostgreSQL uses."""
    return json.dumps(json.loads(text), ensure_ascii=False)


@given(_TEXTS)
def test_a_stored_text_is_one_that_postgres_takes(text: str) -> None:
    """It has no NUL and can be encoded; an ordinary one is as it was."""
    written = stored(text)
    assert "\0" not in written.encode().decode()
    if not any(one in text for one in "\0\x01\ud7ff") and text.isprintable():
        assert written == text


@given(_JSON)
def test_json_comes_back_equal(plain: object) -> None:
    """All strings and keys are written as `stored` writes them, and read as they were."""
    written = stored_json(encode(plain))
    assert "\\u0000" not in written.replace("\\\\", "")
    assert decode(loaded_json(_as_the_server_writes(written))) == plain


@given(_TEXTS)
def test_a_text_is_the_same_alone_and_in_json(text: str) -> None:
    """A condition on a column finds what came in JSON, and what a column holds is read back."""
    assert json.loads(stored_json(encode(text))) == stored(text)
    assert decode(loaded_json(json.dumps(stored(text), ensure_ascii=False))) == text


@given(st.lists(_TEXTS, max_size=6))
def test_stored_texts_sort_as_before(texts: list[str]) -> None:
    """By bytes, as the server compares, they have the order of the texts' characters."""
    assert sorted(texts, key=lambda one: stored(one).encode()) == sorted(texts)
