"""The tree of errors."""

import pytest

from evidence_lookup.domain import errors
from evidence_lookup.domain.errors import BackendError, CallerError, EvidenceLookupError

CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, EvidenceLookupError)
]


def test_every_error_has_a_kind_of_its_own() -> None:
    """The short word of traces and JSON names one class."""
    assert len({each.kind for each in CLASSES}) == len(CLASSES) > 15


@pytest.mark.parametrize("error", CLASSES, ids=lambda each: each.__name__)
def test_every_error_is_the_callers_or_the_backends(error: type[EvidenceLookupError]) -> None:
    """Below the root each error is one or the other; only a backend's can be worth a retry."""
    if error is not EvidenceLookupError:
        assert issubclass(error, CallerError) != issubclass(error, BackendError)
    assert issubclass(error, BackendError) or not error.retryable


@pytest.mark.parametrize("error", CLASSES, ids=lambda each: each.__name__)
def test_the_tree_on_the_page_is_the_tree(error: type[EvidenceLookupError]) -> None:
    """The drawing at the top of the module names every class."""
    assert error.__name__ in (errors.__doc__ or "")
