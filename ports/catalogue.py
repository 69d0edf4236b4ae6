"""Which documents are indexed."""

from collections.abc import Sequence
from typing import Protocol

from evidence_lookup.domain.document import CatalogueEntry


class Catalogue(Protocol):
    """The indexed documents; answers hints and incremental ingest. Safe with several processes."""

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """Every entry, ordered by `doc_id`.

        Raises:
            BackendError: the catalogue cannot be read.
        """
        ...

    async def get(self, doc_ids: Sequence[str]) -> dict[str, CatalogueEntry]:
        """The entries of *doc_ids*; one that is not there is left out.

        Raises:
            BackendError: the catalogue cannot be read.
        """
        ...

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """Write *entries*, each over the entry of the same `doc_id`: all or none.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the catalogue cannot be written.
        """
        ...

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove the entries of *doc_ids*: all or none; an unknown id is no error.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the catalogue cannot be written.
        """
        ...

    async def revision(self) -> str:
        """A text that changes whenever an entry does, by whichever process; cheap to ask.

        Raises:
            BackendError: the catalogue cannot be read.
        """
        ...
