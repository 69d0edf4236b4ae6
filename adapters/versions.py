"""Which rows of a document are of the version that was written last."""

from collections.abc import Iterable
from typing import Protocol


class Versioned(Protocol):
    """A row of one document; `version` is None where it was written by itself."""

    @property
    def doc_id(self) -> object:
        """The document it is of."""
        ...

    @property
    def version(self) -> int | None:
        """When the document was replaced, in nanoseconds."""
        ...


def newest_versions(rows: Iterable[Versioned]) -> dict[object, int]:
    """The newest version of each document of which *rows* hold one."""
    newest: dict[object, int] = {}
    for row in rows:
        if row.version is not None:
            newest[row.doc_id] = max(row.version, newest.get(row.doc_id, row.version))
    return newest
