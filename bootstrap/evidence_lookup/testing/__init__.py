"""Contract suites for those who write adapters; they need pytest, some of them hypothesis."""

import pkgutil

import pytest

# So that a failing assertion shows its values, as in a test module.
pytest.register_assert_rewrite(
    *(f"{__name__}.{one.name}" for one in pkgutil.iter_modules(__path__))
)
