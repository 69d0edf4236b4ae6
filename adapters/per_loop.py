"""A value of its own for each event loop."""

import itertools
from collections.abc import Callable
from typing import Generic, TypeVar

from anyio.lowlevel import RunVar

T = TypeVar("T")

_numbers = itertools.count()


class PerLoop(Generic[T]):
    """Makes a value when an event loop first asks for one, and keeps it as long as the loop."""

    def __init__(self, make: Callable[[], T]) -> None:
        """*make* is called in the running event loop, once for each."""
        self._make = make
        # Numbered, since some releases of anyio tell variables apart by their names alone.
        self._values = RunVar["T | None"](f"per_loop_{next(_numbers)}", default=None)

    def __call__(self) -> T:
        """The running event loop's value."""
        value = self._values.get()
        if value is None:
            value = self._make()
            self._values.set(value)
        return value

    def take(self) -> T | None:
        """The running event loop's value if there is one; the next call makes another."""
        value = self._values.get()
        self._values.set(None)
        return value
