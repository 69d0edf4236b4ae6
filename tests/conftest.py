"""What every test shares."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, the loop that the drivers support."""
    return "asyncio"
