"""The optional libraries that the local embedder runs on, imported at first use."""

import importlib
from typing import Any

from evidence_lookup.domain.errors import MissingExtraError


def driver(name: str) -> Any:
    """The module *name*, which the extra ``local`` brings.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError("local", f"the local embedder ({name})") from error
