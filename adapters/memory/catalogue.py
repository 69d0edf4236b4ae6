"""The catalogue in this process; gone when it ends."""

from collections.abc import Sequence
from uuid import uuid4

from evidence_lookup.domain.document import CatalogueEntry


class MemoryCatalogue:
    """The indexed documents in a dict."""

    def __init__(self) -> None:
        """An empty catalogue."""
        self._entries: dict[str, CatalogueEntry] = {}
        self._id = uuid4().hex
        self._changes = 0

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """Every entry, ordered by `doc_id`."""
        return tuple(self._entries[doc_id] for doc_id in sorted(self._entries))

    async def get(self, doc_ids: Sequence[str]) -> dict[str, CatalogueEntry]:
        """The entries of *doc_ids*; one that is not there is left out."""
        return {one: self._entries[one] for one in doc_ids if one in self._entries}

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """Write *entries* in their order, each over the entry of the same `doc_id`."""
        written = {entry.doc_id: entry for entry in entries}
        self._replace(self._entries | written, changed=bool(written))

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove the entries of *doc_ids*; an unknown id is no error."""
        gone = self._entries.keys() & set(doc_ids)
        kept = {one: entry for one, entry in self._entries.items() if one not in gone}
        self._replace(kept, changed=bool(gone))

    async def revision(self) -> str:
        """A text that changes whenever an entry does, and differs between two catalogues."""
        return f"{self._id}-{self._changes}"

    async def aclose(self) -> None:
        """Nothing to close; the entries stay."""

    def _replace(self, entries: dict[str, CatalogueEntry], *, changed: bool) -> None:
        self._entries = entries
        self._changes += changed
