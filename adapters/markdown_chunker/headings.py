"""Headings: their texts without markup, and the path above a place."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidence_lookup.domain.text import clean

# Longer ones are no headings to a reader, and inline parsing is not linear in the worst case.
_LONGEST_PARSED = 2_000
_SPACES = frozenset({"softbreak", "hardbreak"})


@frozen
class Heading:
    """A heading of `level` 1 to 6; its text may be empty."""

    level: int
    text: str


def heading_text(markup: str, references: Mapping[str, Any]) -> str:
    """What a reader sees of a heading's *markup*, on one line.

    *references* is the parser's environment with the link targets of the document.
    """
    text = markup
    if len(markup) <= _LONGEST_PARSED:
        text = "".join(_visible(_inline_parser().parseInline(markup, dict(references))))
    return " ".join(clean(text).split())


def descend(path: Sequence[Heading], heading: Heading) -> tuple[Heading, ...]:
    """The path below *heading*, which stands at a place below *path*."""
    return (*(above for above in path if above.level < heading.level), heading)


def common_path(paths: Iterable[Sequence[Heading]]) -> tuple[Heading, ...]:
    """The longest beginning that all *paths* share; the same heading twice is two headings."""
    common: Sequence[Heading] | None = None
    for path in paths:
        if common is None:
            common = path
            continue
        shared = 0
        for ours, theirs in zip(common, path, strict=False):
            if ours is not theirs:
                break
            shared += 1
        common = common[:shared]
    return tuple(common or ())


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _visible(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type in _SPACES:
            yield " "
        elif token.type == "html_inline":
            continue
        elif token.children:
            yield from _visible(token.children)
        else:
            yield token.content
