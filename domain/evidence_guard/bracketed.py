"""References in brackets."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from evidence_lookup.domain.evidence_guard import key_grammar as grammar
from evidence_lookup.domain.evidence_guard.brackets import Group, groups, innermost
from evidence_lookup.domain.evidence_guard.known_keys import CHUNK_MARK, KnownKeys
from evidence_lookup.domain.evidence_guard.literal_keys import item_starts
from evidence_lookup.domain.evidence_guard.reference import Reference, named
from evidence_lookup.domain.evidence_guard.report import ReferenceVerdict
from evidence_lookup.domain.evidence_guard.text_units import CodeSpans
from evidence_lookup.domain.text import is_cjk

_SEEN_BEHIND = 20  # characters that are told of what follows a mark without a border


class BracketedReferences:
    """Reads the bracket groups of one text; *spans* are its `literal_spans`."""

    def __init__(
        self, text: str, known: KnownKeys, code: CodeSpans, spans: Sequence[tuple[int, int]]
    ) -> None:
        self._text, self._known, self._code = text, known, code
        self._ends = dict(spans)
        self._pairs = groups(text, spans)
        self._marks: dict[int, list[int]] = {}
        marks = [mark.span() for mark in CHUNK_MARK.finditer(text)]
        around = innermost(self._pairs, (start for start, _ in marks))
        for (_, end), inside in zip(marks, around, strict=True):
            if inside is not None:
                self._marks.setdefault(inside, []).append(end)
        around = innermost(self._pairs, (start for start, _ in spans))
        self._holds_key = {inside for inside in around if inside is not None}
        self._index = {self._pairs[n].start: n for n in self._marks.keys() | self._holds_key}
        self._item_ends = {
            number: [end for end in ends if self._ends_item(end, self._pairs[number])]
            for number, ends in self._marks.items()
        }

    def __iter__(self) -> Iterator[Reference]:
        """The references, group by group in order of the openers."""
        position_ends = -1
        for number, group in enumerate(self._pairs):
            if number in self._marks or number in self._holds_key:
                yield from self._keys(number, group)
            elif other := list(self._other_keys(group.start + 1, group)):
                yield from other
            elif positions := list(self._positions(group, follows=group.start == position_ends)):
                position_ends = group.end + 1
                yield from positions

    def _keys(self, number: int, group: Group) -> Iterator[Reference]:
        position = group.start + 1
        while position < group.end:
            nested = self._nested_reference(position)
            if nested is not None:
                end = nested
            else:
                item = self._item(position, number, group)
                if item is None:
                    return
                yield item
                end = item.end
            separator = grammar.SEPARATOR.match(self._text, end, group.end)
            if separator is None:
                blank = grammar.WRAPPERS.match(self._text, end, group.end)
                following = blank.end() if blank else end
                if following == end or following >= group.end:
                    return
                position = following
            else:
                position = separator.end()

    def _item(self, position: int, number: int, group: Group) -> Reference | None:
        for start in item_starts(self._text, position):
            if (end := self._ends.get(start)) is not None and end <= group.end:
                key = self._text[start:end]
                return named(key, key, (start, end), _outer(group))
        return (
            self._with_note(position, number, group)
            or next(self._other_keys(position, group), None)
            or self._up_to_mark(position, number, group)
            or self._position(position, group)
        )

    def _with_note(self, position: int, number: int, group: Group) -> Reference | None:
        """A returned key that something else follows, which is no other key or a returned one."""
        for start in item_starts(self._text, position):
            for key in self._known.starting_at(self._text, start):
                end = start + len(key)
                note = grammar.NOTE.match(self._text, end, group.end)
                if note is None:
                    continue
                is_last = self._next_mark(number, end) is None
                if is_last or any(self._known.starting_at(self._text, note.end())):
                    return named(key, key, (start, end), _outer(group))
        return None

    def _up_to_mark(self, position: int, number: int, group: Group) -> Reference | None:
        """All up to the first mark that ends an item, or up to the first mark if none does."""
        text, end = self._text, self._item_end(position, number, group)
        if end is None:
            return None
        position = max(position, end - grammar.LONGEST_ITEM)
        starts = list(item_starts(text, position))
        keys = [self._known.resolve(text[start:end]) for start in starts]
        key = next((one for one in keys if one is not None), None)
        lead = grammar.NAMED_LEAD_IN.match(text, position, end)
        start = starts[keys.index(key)] if key else lead.end() if lead else position
        if key is None and CHUNK_MARK.fullmatch(text, start, end):
            start = position
        written = text[start:end].strip()
        if key is None and CHUNK_MARK.fullmatch(written):
            return None  # no document: at most a position
        return named(written, key, (start, end), _outer(group))

    def _item_end(self, position: int, number: int, group: Group) -> int | None:
        ends = self._item_ends.get(number, [])
        if (index := bisect_left(ends, position)) < len(ends):
            return ends[index]
        marks = self._marks.get(number, [])
        if (first := bisect_left(marks, position)) == len(marks):
            return None
        farthest = min(group.end, marks[first] + _SEEN_BEHIND)
        run = grammar.BARE_RUN.match(self._text, marks[first], farthest)
        return run.end() if run else marks[first]

    def _ends_item(self, position: int, group: Group) -> bool:
        return grammar.ITEM_END.match(self._text, position, group.end + 1) is not None

    def _position(self, position: int, group: Group) -> Reference | None:
        end = min(group.end, position + grammar.LONGEST_POSITIONS)
        content = self._text[position:end].lstrip()
        found = grammar.POSITION.match(content)
        return _positional(found.group(), end - len(content), group) if found else None

    def _other_keys(self, position: int, group: Group) -> Iterator[Reference]:
        while (found := grammar.OTHER_ITEM.match(self._text, position, group.end)) is not None:
            written, start = found[1], found.start(1)
            key = self._known.resolve(written)
            if key is None and self._code.holds(start):
                return
            place = (start, found.end(1))
            yield named(written, key, place, _outer(group))
            position = found.end()

    def _positions(self, group: Group, *, follows: bool) -> Iterator[Reference]:
        text, start, end = self._text, group.start, group.end
        if not 1 < end - start <= grammar.LONGEST_POSITIONS or self._code.holds(start):
            return
        content = text[start + 1 : end]
        if grammar.POSITIONS.fullmatch(content) is None or text[end + 1 : end + 2] == "(":
            return
        if grammar.PLAIN_NUMBERS.fullmatch(content) and not (
            follows or _can_be_citation(text, start, end, content)
        ):
            return
        for found in grammar.POSITION.finditer(content):
            yield _positional(found.group(), start + 1 + found.start(), group)

    def _nested_reference(self, position: int) -> int | None:
        """The end of the group at *position*, if there is one that holds a key."""
        if (blank := grammar.WRAPPERS.match(self._text, position)) is not None:
            position = blank.end()
        number = self._index.get(position)
        return None if number is None else self._pairs[number].end + 1

    def _next_mark(self, number: int, position: int) -> int | None:
        marks = self._marks.get(number, [])
        index = bisect_left(marks, position + 1)
        return marks[index] if index < len(marks) else None


def _outer(group: Group) -> tuple[int, int]:
    return group.start, group.end + 1


def _positional(written: str, start: int, group: Group) -> Reference:
    return Reference(
        written.strip(),
        start,
        start + len(written.rstrip()),
        group.start,
        group.end + 1,
        ReferenceVerdict.POSITIONAL,
    )


def _can_be_citation(text: str, start: int, end: int, content: str) -> bool:
    """Whether plain numbers in brackets are no interval, definition, index or escape."""
    before, after = text[start - 1 : start], text[end + 1 : end + 2]
    line_start = start == 0 or before == "\n"
    if after == ":" and line_start:
        return False
    numbers = grammar.NUMBER.findall(content)
    if len(numbers) > 1 and int(numbers[0]) == 0:
        return False
    if before == "]":
        return False
    is_attached = before in (")", "_") or (before.isalnum() and not is_cjk(before))
    return not is_attached or grammar.SENTENCE_END_FOLLOWS.match(text, end + 1) is not None
