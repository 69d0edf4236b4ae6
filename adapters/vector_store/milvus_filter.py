"""Filters over a Milvus collection that LangChain made."""

import re
from collections.abc import Sequence
from typing import Any

from evidence_lookup.adapters.milvus.expression import equals_any, joined
from evidence_lookup.domain.errors import ScopeError

_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def milvus_filter(
    conditions: Sequence[tuple[str, tuple[str | int | bool, ...]]], store: Any
) -> str:
    """All *conditions* as an expression over the fields of *store*, a `langchain_milvus.Milvus`.

    Raises:
        ScopeError: the collection has no field of that name, or a value cannot be written.
    """
    terms = [equals_any(_place(name, store), choices) for name, choices in conditions]
    return joined("and", terms)


def _place(name: str, store: Any) -> str:
    """Where LangChain keeps the metadata value *name*: a field, a dynamic field or a JSON one."""
    field = getattr(store, "_metadata_field", None)
    if field:
        return f'{field}["{name}"]'
    if name in store.fields and _FIELD.fullmatch(name):
        return name
    if store.enable_dynamic_field:
        return f'$meta["{name}"]'
    raise ScopeError(
        f"collection {store.collection_name!r} has no field {name!r} to filter by; its fields are "
        f"{', '.join(sorted(store.fields))}; nothing was searched"
    )
