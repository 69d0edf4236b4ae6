"""The command ``migrate``."""

import typer

from evidence_lookup.command.options import Config, Debug, Json, settings_from
from evidence_lookup.command.outcome import one_line_errors


def migrate(json: Json = False, config: Config = None, debug: Debug = False) -> None:
    """Make the tables in PostgreSQL, or bring them up to date.

    For `trace.store` and `catalogue.store`; may be repeated, and run by several hosts at once.
    SQLite files need no such step.
    """
    with one_line_errors(debug=debug):
        import anyio

        from evidence_lookup.adapters.postgres import migrate as migrated
        from evidence_lookup.command.rendering import print_json

        settings = settings_from(config, None)
        if "postgres" not in (settings.trace.store, settings.catalogue.store):
            if json:
                print_json(None)
            else:
                typer.echo(
                    "nothing to migrate: neither trace.store nor catalogue.store is postgres, and "
                    "SQLite files are brought up to date when they are opened"
                )
            return
        status = anyio.run(migrated, settings.postgres)
        if json:
            print_json(status)
        elif status.is_current:
            typer.echo(f"schema {status.schema} has version {status.after} already")
        else:
            typer.echo(f"schema {status.schema}: version {status.before} → {status.after}")
