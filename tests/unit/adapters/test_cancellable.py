"""A cancellation is never lost in a driver's call."""

import asyncio
import gc
from contextlib import suppress

import anyio
import pytest

from evidence_lookup.adapters.cancellable import cancellable


async def test_the_result() -> None:
    """What the call gives comes back."""

    async def call() -> int:
        return 3

    assert await cancellable(call()) == 3


async def test_the_error() -> None:
    """What the call raises is raised."""

    async def call() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await cancellable(call())


@pytest.mark.parametrize("ending", ["result", "error", "cancelled"])
async def test_a_driver_that_swallows_cancellations(ending: str) -> None:
    """Whatever the driver makes of a cancellation, its caller gets CancelledError."""
    ended = asyncio.Event()

    async def call() -> int:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            if ending == "error":
                raise ValueError("cancelled by the client") from None
            if ending == "cancelled":
                raise
        finally:
            ended.set()
        return 3

    task = asyncio.create_task(cancellable(call()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_an_error_after_a_cancelled_scope_is_not_reported() -> None:
    """A scope cancels every wait inside it; what the driver raises later is nobody's any more."""
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    async def call() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        await asyncio.sleep(0.02)
        raise ValueError("late")

    with anyio.move_on_after(0.01) as scope:
        await cancellable(call())
    assert scope.cancelled_caught
    await asyncio.sleep(0.05)
    gc.collect()
    assert reported == []
