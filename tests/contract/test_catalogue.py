"""Every adapter of the port `Catalogue` against its contract."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from evidence_lookup.adapters.memory.catalogue import MemoryCatalogue
from evidence_lookup.adapters.sqlite import SqliteCatalogue
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.testing.catalogue_contract import CatalogueContract


class TestMemoryCatalogue(CatalogueContract):
    """The catalogue in a dict."""

    @pytest.fixture
    async def catalogue(self) -> AsyncIterator[Catalogue]:
        """It has no settings."""
        catalogue = MemoryCatalogue()
        yield catalogue
        await catalogue.aclose()

    async def release(self, catalogue: Catalogue) -> None:
        """Closing it keeps the entries."""
        await cast("MemoryCatalogue", catalogue).aclose()


class TestSqliteCatalogue(CatalogueContract):
    """The catalogue in a file."""

    @pytest.fixture
    async def catalogue(self, tmp_path: Path) -> AsyncIterator[Catalogue]:
        """In a folder that is not there yet."""
        catalogue = SqliteCatalogue(tmp_path / "data" / "knowledge.sqlite")
        yield catalogue
        await catalogue.aclose()

    async def release(self, catalogue: Catalogue) -> None:
        """Closing it keeps the file."""
        await cast("SqliteCatalogue", catalogue).aclose()
