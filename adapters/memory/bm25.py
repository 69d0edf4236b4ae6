"""Okapi BM25 over texts in memory, for alphabetic scripts and CJK alike.

Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; with the
never-negative idf ``ln(1 + (N - n + 0.5) / (n + 0.5))``.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import groupby

from evidence_lookup.domain.text import is_cjk, normalise

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+")


def tokens(text: str) -> list[str]:
    """Words of alphabetic scripts, and pairs of neighbours for CJK; one alone is itself."""
    found: list[str] = []
    for word in _WORD.findall(normalise(text)):
        for cjk, group in groupby(word, is_cjk):
            run = "".join(group)
            if cjk and len(run) > 1:
                found.extend(run[i : i + 2] for i in range(len(run) - 1))
            else:
                found.append(run)
    return found


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """The weight of each text that shares a token with *query*, by key; all are above 0."""
    counts = {key: Counter(tokens(text)) for key, text in texts.items()}
    lengths = {key: count.total() for key, count in counts.items()}
    average = sum(lengths.values()) / len(lengths) if lengths else 0.0
    weights: dict[str, float] = {}
    for token in dict.fromkeys(tokens(query)):
        holders = {key: count[token] for key, count in counts.items() if token in count}
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key, often in holders.items():
            scale = _K1 * (1 - _B + _B * lengths[key] / average)
            weights[key] = weights.get(key, 0.0) + idf * often * (_K1 + 1) / (often + scale)
    return weights
