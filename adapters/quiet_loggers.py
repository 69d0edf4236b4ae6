"""What drivers log of an error that they raise as well."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar


class QuietLoggers:
    """Leaves out what the loggers of *names* say inside `quiet`, and nothing else of theirs."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._is_inside = ContextVar("is_inside", default=False)

    @contextmanager
    def quiet(self) -> Generator[None, None, None]:
        """Inside, in this task, they say nothing."""
        for name in self._names:
            # Adding it again does nothing.
            logging.getLogger(name).addFilter(self._is_told)
        token = self._is_inside.set(True)
        try:
            yield
        finally:
            self._is_inside.reset(token)

    def _is_told(self, _: logging.LogRecord) -> bool:
        return not self._is_inside.get()
