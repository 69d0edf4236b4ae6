"""Where people read."""

from rich.console import Console as RichConsole


class Console(RichConsole):
    """Standard output; a reader that has gone is left to `one_line_errors`."""

    def on_broken_pipe(self) -> None:
        """Rich itself would end with exit code 1, which means "nothing found"."""
        raise BrokenPipeError
