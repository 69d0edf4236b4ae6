"""A filter over the metadata of an index that others made, by the types of its mapping.

It may let through more than it should, where the mapping folds or rounds values, and never less:
each hit is judged once more by its metadata.
"""

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, cast

from attrs import frozen

from evidence_lookup.adapters.elasticsearch.layout import Fields, Layout, kind_of, properties
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import SchemaMismatchError, ScopeError

Value = str | int | bool
_WORDS = ("keyword", "constant_keyword", "wildcard", "flattened")
_WHOLE = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_FLOATS = ("half_float", "float", "double", "scaled_float")
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_INT64 = range(-(2**63), 2**63)
# What the server gives a field of texts that it learns from a row.
_LEARNT_LIMIT = 256
_NOTHING: dict[str, Any] = {"match_none": {}}


def metadata_clause(
    name: str, values: Sequence[Value], layout: Layout, settings: ElasticsearchSettings
) -> dict[str, Any]:
    """The rows whose metadata have one of *values* under *name*.

    Raises:
        SchemaMismatchError: the index cannot be filtered by *name*.
        ScopeError: a value is longer than what the index keeps of it.
    """
    found = _found(name, layout, settings)
    if found is None:
        if _learns(layout, settings):
            return _NOTHING  # the mapping would know it if a row had it
        raise _cannot(name, "which the mapping leaves out", settings)
    stored = _stored(found.kind, values)
    if stored is None:
        raise _cannot(name, f"which is of the type {found.kind}", settings)
    if longest := max((one for one in values if found.leaves_out(one)), key=_length, default=None):
        raise ScopeError(
            f"the value of {name!r} has {_length(longest)} characters, but index "
            f"{settings.index!r} (elasticsearch.index) keeps {found.limit:g} of "
            f"{found.path!r} (its ignore_above), so that no row can be found by it"
        )
    return {"terms": {found.path: stored}} if stored else _NOTHING


def left_out(
    name: str, values: Sequence[str], layout: Layout, settings: ElasticsearchSettings
) -> list[str]:
    """Those of *values* that are too long for a row to be found by them under *name*."""
    found = _found(name, layout, settings) or _Field("", "keyword", _LEARNT_LIMIT)
    return [one for one in values if found.leaves_out(one)]


@frozen
class _Field:
    """A field that can be asked, of a type of Elasticsearch; longer texts are not indexed."""

    path: str
    kind: str
    limit: float = inf

    def leaves_out(self, value: Value) -> bool:
        return self.kind in _WORDS and _length(value) > self.limit


def _length(value: Value) -> int:
    """In UTF-16 units, as the server counts."""
    return len(_word(value).encode("utf-16-le", "surrogatepass")) // 2


def _limit(mapping: Fields) -> float:
    return float(mapping.get("ignore_above", inf))


def _found(name: str, layout: Layout, settings: ElasticsearchSettings) -> _Field | None:
    path = f"{settings.metadata_field}.{name}"
    metadata = properties(layout.root)[settings.metadata_field]
    if kind_of(metadata) == "flattened":
        return _Field(path, "flattened", _limit(metadata))
    runtime = cast("Mapping[str, Fields]", layout.root.get("runtime", {})).get(path)
    one = runtime or _below(properties(metadata), name)
    if one is None:
        return None
    if kind_of(one) == "text":
        fields = cast("Mapping[str, Fields]", one.get("fields", {})).items()
        words = [
            _Field(f"{path}.{sub}", kind_of(field), _limit(field))
            for sub, field in fields
            if kind_of(field) in _WORDS
        ]
        if words:
            return max(words, key=lambda field: field.limit)
    is_indexed = one.get("index", True) or one.get("doc_values", True)
    return _Field(path, kind_of(one) if is_indexed else "hidden", _limit(one))


def _below(fields: Mapping[str, Fields], name: str) -> Fields | None:
    """The field *name*, of which each dot may lead into an object."""
    if name in fields:
        return fields[name]
    for place in (place for place, char in enumerate(name) if char == "."):
        inner = fields.get(name[:place])
        if inner is not None and (found := _below(properties(inner), name[place + 1 :])):
            return found
    return None


def _learns(layout: Layout, settings: ElasticsearchSettings) -> bool:
    """Whether the mapping takes up each name that a row brings, or refuses the row."""
    metadata = properties(layout.root)[settings.metadata_field]
    if metadata.get("enabled", True) is False:
        return False
    dynamic = metadata.get("dynamic", layout.root.get("dynamic", "true"))
    return str(dynamic).lower() != "false"


def _stored(kind: str, values: Sequence[Value]) -> list[Value] | None:
    """*values* as a field of *kind* may hold them, or None where it cannot be asked for any."""
    if kind in _WORDS:
        return [_word(value) for value in values]
    if kind == "boolean":
        return [one for one in map(_word, values) if one in ("true", "false")]
    if kind in _WHOLE:
        limit = 2 ** (_WHOLE[kind] - 1)
        return [one for one in _numbers(values) if -limit <= one < limit]
    return list(_numbers(values)) if kind in _FLOATS else None


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _numbers(values: Sequence[Value]) -> list[int]:
    texts = [str(value) for value in values if not isinstance(value, bool)]
    return [int(text) for text in texts if _NUMBER.fullmatch(text) and int(text) in _INT64]


def _cannot(name: str, why: str, settings: ElasticsearchSettings) -> SchemaMismatchError:
    field = f"{settings.metadata_field}.{name}"
    return SchemaMismatchError(
        f"index {settings.index!r} (elasticsearch.index) cannot be filtered by {field!r}, {why}: "
        "give it the type keyword (or a keyword sub-field), a number or boolean"
    )
