"""Calls of drivers that a cancelled caller must be able to leave."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import anyio

T = TypeVar("T")

_PATIENCE_SECONDS = 1.0


async def cancellable(call: Awaitable[T]) -> T:
    """What *call* gives; where the caller is cancelled, always CancelledError instead.

    Some drivers give their result, or an error of their own, where a cancellation meets the end of
    a call, and so lose it: of gRPC's calls to a fast server every second one did.
    """
    task = asyncio.ensure_future(call)
    # Its error may come when nobody asks for it any more.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        # Not a shield: an error that meets a cancellation would stay in it, and be reported.
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        # Not before it has ended: its client may be closed next. A scope of anyio would cancel
        # this wait too.
        with anyio.move_on_after(_PATIENCE_SECONDS, shield=True):
            await asyncio.wait([task])
        raise
    return task.result()
