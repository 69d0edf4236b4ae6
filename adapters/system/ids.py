"""Names for records."""

import uuid_utils


def new_id() -> str:
    """A new UUIDv7 in its canonical form; within a process each sorts behind the one before."""
    return str(uuid_utils.uuid7())
