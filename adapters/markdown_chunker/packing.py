"""Pieces put together into chunks that end at the best borders."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from evidence_lookup.adapters.markdown_chunker import borders
from evidence_lookup.adapters.markdown_chunker.pieces import Piece

# Far from the limit the pieces' own tokens are taken for the chunk's: counting is what takes most
# of the time, and a text has at most this many more for each of its parts than the parts together.
_ROUNDING = 2
# A chunk this full ends before a heading of level 1, 2, or a lower one, unless the rest of the
# section around that heading has room in it.
_FULL_AT = {1: 0.25, 2: 0.5}
_FULL_BELOW = 0.75
# How full a chunk must be to end at a border of at least this height.
_LEAST = (
    (borders.RULE + 1, 0.15),
    (borders.BLOCK, 0.5),
    (borders.INNER - 9, 0.4),
    (borders.SENTENCE, 0.5),
    (borders.CLAUSE, 0.6),
    (borders.WORD, 0.7),
    (borders.CHARACTER, 0.8),
)


def pack(
    pieces: Sequence[Piece], *, size: int, measure: Callable[[int, int], int]
) -> Iterator[tuple[int, int]]:
    """The chunks of *pieces*, each as the places of its first piece and behind its last.

    *measure* says how many tokens such a chunk has. None has more than *size*, unless one piece
    alone does.
    """
    page = _Page(pieces, size)
    first = 0
    while first < len(pieces):
        limit = size
        end = page.chunk_end(first, limit)
        while end > first + 1:
            filled = page.tokens(first, end)
            if filled + _ROUNDING * (end - first) <= size:
                break
            if (measured := measure(first, end)) <= size:
                break
            limit = min(limit - 1, filled - 1, filled * size // measured)
            end = page.chunk_end(first, limit)
        yield first, end
        first = end


class _Page:
    def __init__(self, pieces: Sequence[Piece], size: int) -> None:
        self._pieces = pieces
        self._size = size
        self._sums = [0, *accumulate(piece.tokens for piece in pieces)]
        self._section_ends, self._parent_ends = _ends(pieces)

    def tokens(self, first: int, end: int) -> int:
        """About how many tokens the pieces from *first* to before *end* have."""
        return self._sums[end] - self._sums[first]

    def chunk_end(self, first: int, limit: int) -> int:
        """Behind which piece a chunk that begins with *first* ends, at about *limit* tokens."""
        for end in range(first + 1, len(self._pieces)):
            if self._is_full(first, end):
                return end
            if self.tokens(first, end + 1) > limit:
                return self._best(first, end, limit)
        return len(self._pieces)

    def _is_full(self, first: int, end: int) -> bool:
        level = borders.heading_level(self._pieces[end].border)
        if level is None:
            return False
        enough = self._size * _FULL_AT.get(level, _FULL_BELOW)
        parent_fits = self.tokens(first, self._parent_ends[end]) <= self._size
        return self.tokens(first, end) >= enough and not parent_fits

    def _best(self, first: int, last: int, limit: int) -> int:
        """The best border of those before the pieces behind *first*, up to *last*."""
        section = self.tokens(first, self._section_ends[last - 1])
        # A section a little too long for one chunk makes two of about the same length.
        target = section / 2 if section <= 1.8 * limit else limit

        def rank(end: int) -> tuple[bool, int, float]:
            border, filled = self._pieces[end].border, self.tokens(first, end)
            enough = filled >= limit * self._least(end)
            return enough and border > borders.GLUED, border, -abs(filled - target)

        return max(range(first + 1, last + 1), key=rank)

    def _least(self, end: int) -> float:
        piece = self._pieces[end]
        if borders.RULE >= piece.border >= borders.LEAD_IN and piece.whole <= self._size:
            return 0  # what follows would have to be cut otherwise
        return next((share for border, share in _LEAST if piece.border >= border), 1)


def _ends(pieces: Sequence[Piece]) -> tuple[list[int], list[int]]:
    """For each piece, behind which piece its section ends, and the section around that one."""
    section_ends = [len(pieces)] * len(pieces)
    parent_ends = [len(pieces)] * len(pieces)
    next_of_level: dict[int, int] = {}
    for index in range(len(pieces) - 1, -1, -1):
        section_ends[index] = min(next_of_level.values(), default=len(pieces))
        level = borders.heading_level(pieces[index].border)
        if level is not None:
            above = (next_of_level.get(higher, len(pieces)) for higher in range(1, level))
            parent_ends[index] = min(above, default=len(pieces))
            next_of_level[level] = index
    return section_ends, parent_ends
