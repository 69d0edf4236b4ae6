"""What is asked of the server: always values in a structure, never text that it parses."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from evidence_lookup.adapters.elasticsearch.helper_fields import DOC_ID, FILTER_TERMS
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.metadata_filter import Value, metadata_clause
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.terms import terms
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.text import clean, cut, is_cjk

MAX_QUERY_CHARACTERS = 8_192
# Servers take 1,024 clauses and more; a term of more than 255 letters becomes several.
_MAX_CLAUSES = 512
_MAX_TERM_CHARACTERS = 1_024


def filter_term(name: str, value: Value) -> str:
    """The one term that says that *name* is *value*, of its own type: ``name=json``.

    A long one is replaced by its digest, since terms are bounded; each hit is judged by its
    metadata too.
    """
    text = f"{name}={json.dumps(value)}"
    return text if len(text) <= _MAX_TERM_CHARACTERS else sha256(text.encode()).hexdigest()


def filter_terms(metadata: Mapping[str, object]) -> list[str]:
    """A term for each value of *metadata* that a filter can ask for."""
    return [
        filter_term(name, value) for name, value in metadata.items() if isinstance(value, Value)
    ]


def conditions(scope: Scope, hint: HintFilter | None) -> list[tuple[str, tuple[Value, ...]]]:
    """Each name with the values it may have; all must hold."""
    asked = [
        (name, value if isinstance(value, tuple) else (value,))
        for name, value in scope.values.items()
    ]
    return asked if hint is None else [*asked, ("category", (hint.category,))]


def clauses(
    asked: Sequence[tuple[str, tuple[Value, ...]]], layout: Layout, settings: ElasticsearchSettings
) -> list[dict[str, Any]]:
    """*asked* as filters.

    Raises:
        SchemaMismatchError: an index that others made cannot be filtered by a name.
    """
    if layout.is_own:
        return [
            {"terms": {FILTER_TERMS: [filter_term(name, value) for value in values]}}
            for name, values in asked
        ]
    return [metadata_clause(name, values, layout, settings) for name, values in asked]


def document_clause(
    doc_ids: Sequence[str], layout: Layout, settings: ElasticsearchSettings
) -> dict[str, Any]:
    """The rows of *doc_ids*; where others made the index, it may be more.

    Raises:
        SchemaMismatchError: the index cannot be filtered by document.
    """
    if layout.is_own:
        return {"terms": {DOC_ID: list(doc_ids)}}
    return metadata_clause("doc_id", doc_ids, layout, settings)


def words(query: str, layout: Layout) -> str:
    """What of *query* the keyword field is asked for; empty where it has no words.

    For an own index terms as they were indexed, for another one the text, which is left to the
    analyzer of its field. At most 512 words or CJK characters of it.
    """
    bounded = clean(cut(query, MAX_QUERY_CHARACTERS))
    if layout.is_own:
        return " ".join(list(dict.fromkeys(terms(bounded)))[:_MAX_CLAUSES])
    return _beginning(bounded) if terms(bounded) else ""


def _beginning(text: str) -> str:
    count = 0
    in_word = False
    for place, char in enumerate(text):
        starts = char.isalnum() and (is_cjk(char) or not in_word)
        in_word = char.isalnum() and not is_cjk(char)
        count += starts
        if count > _MAX_CLAUSES:
            return text[:place]
    return text


def dense(
    field: str,
    vector: Sequence[float],
    *,
    limit: int,
    candidates: int,
    within: list[dict[str, Any]],
    is_exact: bool,
) -> dict[str, Any]:
    """The nearest *limit* rows to *vector*."""
    knn: dict[str, Any] = {
        "field": field,
        "query_vector": vector,
        "k": limit,
        "num_candidates": candidates,
    }
    if within:
        knn["filter"] = {"bool": {"filter": within}}
    if not is_exact:
        # Scores of vectors at less precision are no similarities; these are judged anew.
        knn["rescore_vector"] = {"oversample": 2.0}
    return {"knn": knn}


def keyword(field: str, text: str, *, within: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows that share a word with *text*."""
    match = {"match": {field: {"query": text, "operator": "or"}}}
    return {"query": {"bool": {"must": [match], "filter": within}}}
