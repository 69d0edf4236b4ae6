"""A fresh shelf for each test."""

from pathlib import Path

import pytest
from tests.unit.application.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A shelf with an empty folder."""
    root = tmp_path / "kb"
    root.mkdir()
    return Shelf(root)
