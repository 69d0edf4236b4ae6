"""Cuts a list of texts into requests that a server takes."""

from collections.abc import Iterator, Sequence

from evidence_lookup.adapters.openai_embedder.token_estimate import estimate

_REQUEST_TOKENS = 200_000
"""Two thirds of what the vendor takes in one request, since tokens are estimated."""


def batches(texts: Sequence[str], *, size: int) -> Iterator[list[str]]:
    """Runs of *texts*, each of at most *size* and of few enough tokens for one request."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        own = estimate(text)
        if batch and (len(batch) == size or tokens + own > _REQUEST_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += own
    if batch:
        yield batch
