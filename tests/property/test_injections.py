"""The values that the shipped suites generate are as many and as odd as they say."""

import pytest

from evidence_lookup.domain.filters import Scope
from evidence_lookup.testing.injections import for_each, fragments, generated, queries, values


def test_C28_as_many_as_asked() -> None:
    """200 different values come."""
    made = generated(values, 200)
    assert len(made) == len(set(made)) == 200


def test_C28_every_value_can_be_a_scope() -> None:
    """A generated value is one that a scope takes, so that it reaches the backend."""
    for value in generated(values, 200):
        assert Scope({"tenant": value}).values["tenant"] == value


@pytest.mark.parametrize(
    "sign", ['"', "'", "\\", "(", "]", "{", " or ", "*", "%", "--", "acme", "$"]
)
def test_C28_values_are_hostile(sign: str) -> None:
    """Of 200 values at least three hold each sign that means something to a query language."""
    assert sum(sign in value for value in generated(values, 200)) >= 3


def test_C28_values_of_every_kind_of_letter() -> None:
    """Some are made of letters beyond ASCII, and some of queries hold line ends and controls."""
    assert sum(not value.isascii() for value in generated(values, 200)) >= 40
    assert sum(any(char in query for char in "\n\x00\ud800") for query in generated(queries, 50))
    assert any("\n" in text or "\x00" in text for text in generated(fragments, 2_000))


async def test_each_value_is_asked_once() -> None:
    """Each of the examples is asked, and none twice."""
    seen: list[str] = []

    async def ask(value: str) -> None:
        seen.append(value)

    await for_each(values, ask, count=200)
    assert len(seen) == len(set(seen)) == 200


async def test_a_failure_is_made_small() -> None:
    """What fails is shown by a short value that fails as well."""
    failing: list[str] = []

    async def ask(value: str) -> None:
        if '"' in value:
            failing.append(value)
            raise AssertionError(value)

    with pytest.raises(AssertionError):
        await for_each(values, ask, count=200)
    assert len(failing[-1]) <= 8
