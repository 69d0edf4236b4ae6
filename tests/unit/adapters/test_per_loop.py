"""Values of event loops."""

import asyncio

from evidence_lookup.adapters.per_loop import PerLoop


def test_each_loop_has_a_value_of_its_own() -> None:
    """Within a loop the value is made once; another loop gets another one."""
    values = PerLoop(object)

    async def twice() -> tuple[object, object]:
        return values(), values()

    first, second = asyncio.run(twice()), asyncio.run(twice())
    assert first[0] is first[1]
    assert second[0] is second[1]
    assert first[0] is not second[0]


async def test_two_in_one_loop_know_nothing_of_each_other() -> None:
    """Two adapters of one kind do not share a client."""
    one, other = PerLoop(object), PerLoop(object)
    assert one() is not other()


async def test_what_is_taken_is_made_anew() -> None:
    """A value that was taken is there no more, and nothing is made just to be taken."""
    values = PerLoop(object)
    assert values.take() is None
    first = values()
    assert values.take() is first
    assert values.take() is None
    assert values() is not first
