"""The YAML block at the head of a Markdown file."""

import re

from attrs import field, frozen

from evidence_lookup.adapters.documents.metadata import Metadata, metadata
from evidence_lookup.adapters.documents.yaml_nodes import YamlFault, compose

# Real front matter has a few hundred characters, and the YAML reader is slow.
_LONGEST = 65_536
_OPENING = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_LIKE_YAML = re.compile(r"[ \t]|- |[^\s:][^:]*:(?:\s|$)")
_NAMED = re.compile(r"[^\s:#][^:]*:(?:\s|$)")


@frozen
class FrontMatter:
    """What stands before the body, which begins at `body_start`."""

    body_start: int = 0
    metadata: Metadata = field(factory=Metadata)
    warnings: tuple[str, ...] = ()


def front_matter(text: str, *, source: str) -> FrontMatter:
    """The front matter of *text*, which begins with a line ``---`` and ends with another.

    A block that cannot be used is a warning that names *source*; it still is no part of the body
    if it looks like YAML, while prose between two rules is.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter()
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        first = _LINE.match(text, opening.end())
        if first is None or not _NAMED.match(first[0]):
            return FrontMatter()
        return _warned(source, "it is not closed by a line ---, so it is read as text")
    block = text[opening.end() : closing.start()]
    try:
        if len(block) > _LONGEST:
            raise YamlFault(f"longer than {_LONGEST} characters")
        node = compose(block)
    except YamlFault as fault:
        if _is_like_yaml(block):
            return _warned(source, f"{fault}; it is not used", closing.end())
        return _warned(source, f"{fault}; it is read as text")
    if node is None:
        return FrontMatter(closing.end())
    if node.kind == "text":
        return _warned(source, "no names with values, so it is read as text")
    if node.kind == "list":
        return _warned(source, "a list, not names with values; it is not used", closing.end())
    found = metadata(node)
    warnings = tuple(f"{source}: front matter: {warning}" for warning in found.warnings)
    return FrontMatter(closing.end(), found, warnings)


def _warned(source: str, warning: str, body_start: int = 0) -> FrontMatter:
    return FrontMatter(body_start, warnings=(f"{source}: front matter: {warning}",))


def _is_like_yaml(block: str) -> bool:
    """Whether most lines could be YAML: a forgotten closing line must not swallow the text."""
    lines = [line for line in _LINE.findall(block) if not line.startswith("#")]
    return 2 * sum(_LIKE_YAML.match(line) is not None for line in lines) > len(lines)
