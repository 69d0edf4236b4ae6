"""The command ``evidence-lookup``."""

__all__ = ["main"]


def main() -> None:
    """Run the command with the process's arguments."""
    from evidence_lookup.command.app import app

    app()
