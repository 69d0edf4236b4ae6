"""Many things in requests of a bounded size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: Callable[[T], int], *, limit: int) -> Iterator[list[T]]:
    """*items* in their order, in lists of at most *limit* together; a larger one goes alone."""
    batch: list[T] = []
    total = 0
    for item in items:
        one = size(item)
        if batch and total + one > limit:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += one
    if batch:
        yield batch
