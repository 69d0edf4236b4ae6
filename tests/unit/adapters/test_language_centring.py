"""Centring by language, on pairs of sentences that say the same in English and in Chinese."""

import numpy as np

from evidence_lookup.adapters.language_centring import LanguageCentredEmbedder
from evidence_lookup.adapters.local_embedder import LocalEmbedder

PAIRS = (
    ("How do I renew the certificate of the ingress?", "怎样续期入口网关的证书？"),
    ("The disk of the database is full.", "数据库的磁盘已经写满。"),
    ("Whom do I call when the payment provider is down?", "支付服务商宕机时应该打电话给谁？"),
    ("The tea harvest begins in spring.", "茶叶的采摘从春天开始。"),
    ("Our football team lost the final.", "我们的足球队输掉了决赛。"),
)


async def test_unrelated_texts_are_as_near_across_languages_as_within(
    local_embedder: LocalEmbedder,
) -> None:
    """What sentences gain by being in one language, in standard deviations, mostly goes."""

    async def language_bias(embedder: LocalEmbedder | LanguageCentredEmbedder) -> float:
        texts = [text for pair in PAIRS for text in pair]
        passages = await embedder.embed_passages(texts)
        same: list[float] = []
        other: list[float] = []
        for position, text in enumerate(texts):
            for at, similarity in enumerate(passages @ await embedder.embed_query(text)):
                if at // 2 != position // 2:
                    (same if at % 2 == position % 2 else other).append(float(similarity))
        return float((np.mean(same) - np.mean(other)) / np.std(same))

    before, after = (
        await language_bias(local_embedder),
        await language_bias(LanguageCentredEmbedder(local_embedder)),
    )
    assert before > 0.5
    assert abs(after) < before / 2


async def test_unrelated_texts_stay_below_the_figure(local_embedder: LocalEmbedder) -> None:
    """Of short sentences that have nothing in common, in any languages, most are below it."""
    embedder = LanguageCentredEmbedder(local_embedder)
    texts = [text for pair in PAIRS for text in pair]
    passages = await embedder.embed_passages(texts)
    unrelated: list[float] = []
    for position, text in enumerate(texts):
        similarities = passages @ await embedder.embed_query(text)
        unrelated += [
            float(similarity)
            for at, similarity in enumerate(similarities)
            if at // 2 != position // 2
        ]
    below = np.mean(np.array(unrelated) < embedder.unrelated_similarity)
    assert below >= 0.85


def test_the_model_is_another_one(local_embedder: LocalEmbedder) -> None:
    """An index of plain vectors is never searched with centred ones: the names differ."""
    embedder = LanguageCentredEmbedder(local_embedder)
    assert embedder.model != local_embedder.model
    assert embedder.model.startswith(local_embedder.model)
    assert (embedder.dimension, embedder.max_tokens) == (
        local_embedder.dimension,
        local_embedder.max_tokens,
    )
