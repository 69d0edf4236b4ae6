"""Where people read."""

import sys

from rich.console import Console as RichConsole


class Console(RichConsole):
    """Standard output; a reader that has gone is left to `one_line_errors`."""

    def __init__(self) -> None:
        """What the output's encoding lacks is shown as ``?`` rather than ends the command."""
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
        super().__init__()

    def on_broken_pipe(self) -> None:
        """Rich itself would end with exit code 1, which means "nothing found"."""
        raise BrokenPipeError
