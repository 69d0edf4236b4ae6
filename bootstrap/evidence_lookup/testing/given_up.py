"""Calls that are given up on their way."""

import asyncio
from collections.abc import Awaitable

DELAYS = (0, 0, 0.0005, 0.001, 0.002, 0.004, 0.008)
"""Seconds after which a call is given up: before, during and after its parts."""


async def given_up(call: Awaitable[object], delay: float) -> None:
    """Cancel *call* after *delay* seconds: it must say so, or have ended well before."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(delay)
    had_ended = task.done()
    task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    if had_ended:
        assert not isinstance(outcome, BaseException), outcome
    else:
        assert isinstance(outcome, asyncio.CancelledError), f"not cancelled, but {outcome!r}"
