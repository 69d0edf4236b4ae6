"""Reads the vectors out of an answer, of which nothing is taken for granted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai.types import CreateEmbeddingResponse


def read(answer: "CreateEmbeddingResponse", *, count: int) -> "list[NDArray[np.float64]]":
    """The vectors of *answer* in the order of their index, one for each of *count* texts.

    Raises:
        ValueError: there are not *count* vectors numbered from 0, or one is no list of numbers;
            another error of Python's where the answer has not even the outline of one.
    """
    import numpy as np

    vectors = {item.index: np.asarray(item.embedding, np.float64) for item in answer.data}
    if len(answer.data) != count or sorted(vectors) != list(range(count)):
        raise ValueError(f"{len(answer.data)} vectors for {count} texts, or wrongly numbered")
    if any(vector.ndim != 1 or not vector.size for vector in vectors.values()):
        raise ValueError("a vector is no list of numbers")
    return [vectors[index] for index in range(count)]
