"""Keeps the built graph in a folder, so that it is built once for a machine."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

_DIGEST_BYTES = 32
_LOCK_SECONDS = 60.0

_log = logging.getLogger(__name__)


def cached(path: Path, build: Callable[[], bytes]) -> bytes:
    """What *build* gives, from *path* if it was kept there before.

    The file ends with the SHA-256 of what stands before it, so a truncated or damaged one is seen
    and replaced. Processes that start at once build one after the other, and none reads half a
    file. A folder that cannot be written, a full disk for instance, is logged and costs only the
    building at each start.
    """
    content = _read(path)
    if content is not None:
        return content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(path.name + ".lock"), timeout=_LOCK_SECONDS):
            content = _read(path)
            if content is None:
                content = build()
                _write(path, content)
            return content
    except (OSError, Timeout) as error:
        _log.warning("the embedder's graph could not be kept in %s: %s", path.parent, error)
    return build() if content is None else content


def _read(path: Path) -> bytes | None:
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content, digest = stored[:-_DIGEST_BYTES], stored[-_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.write(hashlib.sha256(content).digest())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
