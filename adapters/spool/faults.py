"""What the file system says, as this library's errors."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evidence_lookup.domain.errors import StorageError


@contextmanager
def mapped(folder: Path) -> Generator[None]:
    """Raise what goes wrong with the files of *folder* as a `StorageError` that names it."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"the spool in {folder} cannot be used ({error.strerror or error}): check its rights "
            "and free space, or set data-dir to another folder"
        ) from error


def full(folder: Path, *, max_bytes: int) -> StorageError:
    """The error of a folder that holds as much as it may."""
    return StorageError(
        f"the spool in {folder} is full, {max_bytes:,} bytes: see trace.spool-max-bytes"
    )
