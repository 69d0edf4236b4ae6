"""Time and names, which the domain takes as arguments."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The time of day in UTC, aware."""
        ...

    def elapsed(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...


class NewId(Protocol):
    """Gives each record its name."""

    def __call__(self) -> str:
        """A new UUIDv7 in its canonical form: later ones sort behind earlier ones."""
        ...
