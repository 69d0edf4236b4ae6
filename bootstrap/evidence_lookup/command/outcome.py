"""Exit codes, and errors in one line."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum

from evidence_lookup.domain.errors import CallerError, EvidenceLookupError, SettingsError


class ExitCode(IntEnum):
    """How the command ends."""

    DONE = 0
    """Done; for a lookup: evidence was found."""
    NOTHING_FOUND = 1
    """A lookup found no evidence, a trace is unknown, a strict ingest skipped files, a replay had
    nothing to run or changed more than allowed, the guard found a wrong reference or quote, or a
    person said no."""
    WRONG_INPUT = 2
    """An argument or a setting is wrong; the message says which, and how to mend it."""
    UNAVAILABLE = 3
    """A backend is down, or refuses; a check of ``doctor`` failed."""
    UNEXPECTED = 4
    """A fault of this program; ``--debug`` shows the trace."""
    INTERRUPTED = 130
    """Stopped from the keyboard."""


@contextmanager
def one_line_errors(*, debug: bool) -> Generator[None]:
    """An exception becomes a line on standard error and an exit code; with *debug* it passes.

    A reader of standard output that has gone, as ``head`` does, is no error.
    """
    try:
        yield
    except KeyboardInterrupt:
        _say("interrupted; an ingest is completed by running it again")
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except SettingsError as error:
        if debug:
            raise
        for fault in error.faults:
            _say(fault)
        raise SystemExit(ExitCode.WRONG_INPUT) from None
    except EvidenceLookupError as error:
        if debug:
            raise
        _say(" ".join(str(error).split()))
        wrong = isinstance(error, CallerError)
        raise SystemExit(ExitCode.WRONG_INPUT if wrong else ExitCode.UNAVAILABLE) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ExitCode.DONE) from None
    except Exception as error:
        if debug:
            raise
        _say(f"unexpected {type(error).__name__}: {' '.join(str(error).split())} (see --debug)")
        raise SystemExit(ExitCode.UNEXPECTED) from None


def _say(line: str) -> None:
    print(f"error: {line}", file=sys.stderr)
