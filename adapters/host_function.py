"""A function of the host that a setting names."""

import re
from collections.abc import Callable
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from evidence_lookup.domain.errors import SettingsError

_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")


def host_function(named: str, setting: str) -> Callable[[Any], Any]:
    """The plain function ``module:function`` that *setting* names.

    Raises:
        SettingsError: there is no such function, or it is asynchronous.
    """
    match = _NAME.fullmatch(named)
    if match is None:
        raise SettingsError([f"{setting} is {named!r}: write module:function"])
    name, attribute = match.groups()
    try:
        function = getattr(import_module(name), attribute)
    except ImportError as error:
        fault = (
            f"{setting}: the module {name!r} cannot be imported (install it, or put its folder on "
            f"PYTHONPATH): {error}"
        )
        raise SettingsError([fault]) from error
    except AttributeError as error:
        raise SettingsError([f"{setting}: the module {name!r} has no {attribute!r}"]) from error
    if iscoroutinefunction(function):
        raise SettingsError([f"{setting}: {named} must be a plain function"])
    if not callable(function):
        raise SettingsError([f"{setting}: {named} is no function"])
    return function  # type: ignore[no-any-return]
