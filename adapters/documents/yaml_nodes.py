"""YAML as it is written: nothing is constructed, and no alias is followed."""

from collections.abc import Sequence
from typing import Any, Literal

from attrs import frozen

_DEEPEST = 20


class YamlFault(ValueError):
    """A text is no YAML that is accepted; the message has no line end and no quotation."""


@frozen
class YamlNode:
    """A value: `text` as written, `items` of a list, or `pairs` of names and values.

    `is_plain` says that the text stands without quotes, so that it may mean a number or boolean.
    """

    kind: Literal["text", "list", "mapping"]
    text: str = ""
    is_plain: bool = False
    items: "tuple[YamlNode, ...]" = ()
    pairs: "tuple[tuple[YamlNode, YamlNode], ...]" = ()

    @property
    def is_null(self) -> bool:
        """Whether there is no value: nothing after the colon, ``~`` or ``null``."""
        return self.kind == "text" and self.is_plain and self.text in _NULLS


_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def compose(text: str) -> YamlNode | None:
    """The one document in *text*; `None` if there is none.

    Aliases are refused: a few lines of them can stand for more than any memory holds.

    Raises:
        YamlFault: the text is malformed, nested too deeply, or uses anchors.
    """
    import yaml

    class _Loader(yaml.BaseLoader):
        _depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise YamlFault("aliases (*name) are not used")
            if self._depth >= _DEEPEST:
                raise YamlFault(f"nested more than {_DEEPEST} deep")
            self._depth += 1
            try:
                return super().compose_node(parent, index)
            finally:
                self._depth -= 1

    try:
        loader = _Loader(text)
        try:
            return _node(loader.get_single_node())
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        # The first line of the file is the rule before the text.
        line = "" if error.problem_mark is None else f" in line {error.problem_mark.line + 2}"
        raise YamlFault(f"no YAML{line} ({_one_line(error.problem or 'malformed')})") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, YamlFault):
            raise
        raise YamlFault(f"no YAML ({_one_line(str(error))})") from error


def _node(node: Any) -> YamlNode | None:
    import yaml

    if node is None:
        return None
    if isinstance(node, yaml.ScalarNode):
        return YamlNode("text", text=node.value, is_plain=node.style is None)
    if isinstance(node, yaml.SequenceNode):
        return YamlNode("list", items=_nodes(node.value))
    keys, values = zip(*node.value, strict=True) if node.value else ((), ())
    return YamlNode("mapping", pairs=tuple(zip(_nodes(keys), _nodes(values), strict=True)))


def _nodes(nodes: Sequence[Any]) -> tuple[YamlNode, ...]:
    return tuple(found for node in nodes if (found := _node(node)) is not None)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
