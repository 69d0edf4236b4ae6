"""What a document says of itself."""

import re
from collections.abc import Mapping

from attrs import Factory, define, field, frozen

from evidence_lookup.adapters.documents.yaml_nodes import YamlNode
from evidence_lookup.domain.document import RESERVED_NAMES
from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.text import has_controls

_COMMA = re.compile("[,，、]")
_WHOLE_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_BOOLEANS = {"true": True, "false": False}
# The first name that has a value counts.
_TEXTS = {
    "id": ("id",),
    "title": ("title",),
    "category": ("category", "domain"),
    "language": ("language", "lang"),
}
# The values of all names count together.
_LISTS = {"keywords": ("keywords", "tags"), "entities": ("entities",)}


@frozen
class Metadata:
    """The values of the known names, and what was wrong with others."""

    texts: Mapping[str, str] = field(factory=dict[str, str])
    lists: Mapping[str, tuple[str, ...]] = field(factory=dict[str, tuple[str, ...]])
    scope: Mapping[str, str | int | bool] = field(factory=dict[str, str | int | bool])
    warnings: tuple[str, ...] = ()


def metadata(node: YamlNode) -> Metadata:
    """The metadata in the mapping *node*.

    Texts, dates, numbers and booleans are taken as written: ``title: no`` is the title "no". A
    name that stands twice is not used. Only in a scope are whole numbers, ``true`` and ``false``
    without quotes no texts.
    """
    reading = _Reading()
    values = reading.named(node, within="")
    texts = {
        name: text
        for name, aliases in _TEXTS.items()
        if (text := next(filter(None, (reading.text(alias, values) for alias in aliases)), None))
    }
    lists = {
        name: tuple(dict.fromkeys(item for alias in names for item in reading.list(alias, values)))
        for name, names in _LISTS.items()
    }
    scope = reading.scope(values.get("scope"))
    return Metadata(texts, lists, scope, tuple(reading.warnings))


@define
class _Reading:
    warnings: list[str] = Factory(list[str])

    def named(self, node: YamlNode, *, within: str) -> dict[str, YamlNode]:
        """The values of a mapping by name, without names that stand twice."""
        values: dict[str, YamlNode] = {}
        twice: set[str] = set()
        for key, value in node.pairs:
            name = key.text.strip() if within else key.text.strip().casefold()
            if name in values:
                twice.add(name)
            values[name] = value
        for name in sorted(twice):
            del values[name]
            self.warnings.append(f"{within}{_shown(name)} stands twice; it is not used")
        return values

    def text(self, name: str, values: Mapping[str, YamlNode]) -> str | None:
        """The text under *name*, on one line."""
        node = values.get(name)
        if node is None or node.is_null:
            return None
        if node.kind != "text":
            self.warnings.append(f"{name} must be a text, not a {node.kind}; it is not used")
            return None
        return self._clean(name, node.text)

    def list(self, name: str, values: Mapping[str, YamlNode]) -> tuple[str, ...]:
        """The texts under *name*: a list's, or those of one text between commas."""
        node = values.get(name)
        if node is None or node.is_null:
            return ()
        if node.kind == "mapping":
            self.warnings.append(f"{name} must be a list or a text, not a mapping; it is not used")
            return ()
        if node.kind == "text":
            found = _COMMA.split(node.text)
        else:
            found = [item.text for item in node.items if item.kind == "text" and not item.is_null]
            if any(item.kind != "text" for item in node.items):
                self.warnings.append(f"{name} must hold texts only; the others are not used")
        return tuple(text for item in found if (text := self._clean(name, item)))

    def scope(self, node: YamlNode | None) -> dict[str, str | int | bool]:
        """The scope's values, with those left out that a scope cannot hold."""
        if node is None or node.is_null:
            return {}
        if node.kind != "mapping":
            self.warnings.append(f"scope must hold names with values, not a {node.kind}")
            return {}
        scope: dict[str, str | int | bool] = {}
        for name, value in self.named(node, within="scope: ").items():
            fault = _scope_fault(name, value)
            if fault is None:
                scope[name] = _scope_value(value)
            else:
                self.warnings.append(f"scope: {fault}; it is not used")
        return scope

    def _clean(self, name: str, text: str) -> str | None:
        one_line = " ".join(text.split())
        if has_controls(one_line):
            self.warnings.append(f"{name} holds a control character; it is not used")
            return None
        return one_line or None


def _scope_fault(name: str, node: YamlNode) -> str | None:
    if node.kind != "text" or node.is_null:
        return f"{_shown(name)} must be a text, a whole number or a boolean"
    if name in RESERVED_NAMES:
        return f"{_shown(name)} is a name that the index itself uses"
    try:
        Scope({name: _scope_value(node)})
    except ScopeError as error:
        return str(error)
    return None


def _scope_value(node: YamlNode) -> str | int | bool:
    if node.is_plain and node.text.lower() in _BOOLEANS:
        return _BOOLEANS[node.text.lower()]
    if node.is_plain and _WHOLE_NUMBER.fullmatch(node.text):
        return int(node.text)
    return node.text.strip()


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:80]}…")
