"""What came of one path of several that a search may go down."""

from attrs import frozen


@frozen
class TraceError:
    """An error in a trace: its kind, and its message in one line."""

    kind: str
    message: str


@frozen
class PathTry:
    """One path of several that a search went down; `error` says why it did not serve.

    `breaker` is the state of the path's circuit breaker, if it has one: ``closed``; ``open``, and
    the path was left alone for the error that it had before; ``half_open``, and it was on trial
    beside the search.
    """

    path: str
    error: TraceError | None = None
    breaker: str | None = None
