"""Whether the disk has room for what is about to be written to an embedded database."""

import shutil

from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.errors import StorageError

_SPARE_BYTES = 1024 * 1024


def require_room(settings: MilvusSettings, size: int) -> None:
    """Refuse a write of *size* bytes that the disk cannot take.

    Without it the driver repeats a write that fails for want of room until its time is over. The
    database needs about twice the size of the rows, once for its journal, and a page or two.

    Raises:
        StorageError: less than twice *size* and one MiB are free.
    """
    if settings.path is None:
        return
    free = shutil.disk_usage(settings.path.parent).free
    if free < 2 * size + _SPARE_BYTES:
        raise StorageError(
            f"the disk of {settings.path} (milvus.uri) is full: {free:,} bytes are free, and "
            f"{size:,} are to be written; make room and run it again"
        )
