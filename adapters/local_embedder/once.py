"""A value that is made at first use."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Once(Generic[_Value]):
    """Makes a value at the first call, once even when many threads call together.

    A *make* that fails raises to its caller, and the next call tries again.
    """

    def __init__(self, make: Callable[[], _Value]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[_Value] = []

    def __call__(self) -> _Value:
        """The value."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
