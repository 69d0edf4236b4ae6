"""What came of one path of several that a search may go down."""

from attrs import frozen


@frozen
class TraceError:
    """An error in a trace: its kind, and its message in one line."""

    kind: str
    message: str


@frozen
class PathTry:
    """One path of several that a search went down; `error` says why it did not serve."""

    path: str
    error: TraceError | None = None
