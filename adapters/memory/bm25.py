"""Okapi BM25 over texts in memory, for alphabetic scripts and CJK alike.

Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; with the
never-negative idf ``ln(1 + (N - n + 0.5) / (n + 0.5))``.
"""

import math
from collections import Counter
from collections.abc import Mapping

from evidence_lookup.adapters.terms import terms

_K1, _B = 1.2, 0.75


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """The weight of each text that shares a term with *query*, by key; all are above 0."""
    counts = {key: Counter(terms(text)) for key, text in texts.items()}
    lengths = {key: count.total() for key, count in counts.items()}
    average = sum(lengths.values()) / len(lengths) if lengths else 0.0
    weights: dict[str, float] = {}
    for term in dict.fromkeys(terms(query)):
        holders = {key: count[term] for key, count in counts.items() if term in count}
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key, often in holders.items():
            scale = _K1 * (1 - _B + _B * lengths[key] / average)
            weights[key] = weights.get(key, 0.0) + idf * often * (_K1 + 1) / (often + scale)
    return weights
