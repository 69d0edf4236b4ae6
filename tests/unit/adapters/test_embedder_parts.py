"""The small parts that embedders are made of."""

import asyncio
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.openai_embedder.token_estimate import estimate
from evidence_lookup.adapters.sentence_transformers_embedder import SentenceTransformersEmbedder
from evidence_lookup.adapters.token_fit import beginning
from evidence_lookup.adapters.vectors import unit_rows
from evidence_lookup.domain.errors import InvalidVectorError, MissingExtraError, ModelFileError


def _words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 3, ""),
        ("one two three", 3, "one two three"),
        ("one two three four", 3, "one two three"),
        ("one two three four", 1, "one"),
        ("one", 0, ""),
        ("one  two   three    four", 2, "one  two"),
        (" " * 10_000 + "one two", 1, " " * 10_000 + "one"),
    ],
)
def test_a_beginning_ends_with_a_whole_word(text: str, limit: int, expected: str) -> None:
    """As many whole words as fit are kept, and a text that fits is kept as it is."""
    assert beginning(text, limit=limit, count=_words).rstrip() == expected.rstrip()


def test_a_beginning_costs_no_more_than_itself() -> None:
    """Of a very long text, only about as much is counted as is kept."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    beginning("ab " * 1_000_000, limit=100, count=count)
    assert max(counted) < 1_000


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("the pool is full", 4),
        ("The exhausted pool.", 6),
        ("v1.2.3", 6),
        ("HTTP", 4),
        ("数据库", 4),
        ("é", 1),
        ("😀", 3),
        ("a        b", 3),
        ("\n\n", 2),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    """Words count by letters, other characters by what they cost in UTF-8."""
    assert estimate(text) == tokens


def test_estimates_do_not_fall() -> None:
    """A longer text has no fewer tokens."""
    text = "The pool of 连接 is “exhausted” 😀 since 10:45, see https://host/a?b=1.\n" * 3
    counts = [estimate(text[:end]) for end in range(len(text))]
    assert counts == sorted(counts)


def test_rows_are_brought_to_unit_length() -> None:
    """Direction stays, even of very short and very long vectors."""
    rows = np.array([[3.0, 4.0], [3e-30, 4e-30], [3e30, 4e30]])
    np.testing.assert_allclose(unit_rows(list(rows)), [[0.6, 0.8]] * 3, rtol=1e-6)


@pytest.mark.parametrize("number", [0.0, float("nan"), float("inf")])
def test_rows_without_a_direction_are_named(number: float) -> None:
    """The number of the first wrong row is in the message."""
    with pytest.raises(InvalidVectorError, match="text 1 is"):
        unit_rows(list(np.array([[1.0, 0.0], [number, 0.0]])))


def test_memory_vectors_are_the_same_everywhere() -> None:
    """Another process, with another hash seed, makes the same vector."""
    program = (
        "import asyncio\nfrom evidence_lookup.adapters.memory.embedder import MemoryEmbedder\n"
        "print(asyncio.run(MemoryEmbedder().embed_query('The pool 连接池')).tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    vector = asyncio.run(MemoryEmbedder().embed_query("The pool 连接池"))
    assert done.stdout.strip() == vector.tobytes().hex()


async def test_memory_vectors_bring_forms_of_a_word_together() -> None:
    """Inflected forms are nearer than other words, and other words are mostly unrelated."""
    embedder = MemoryEmbedder()
    query = await embedder.embed_query("restarting databases")
    near, far = await embedder.embed_passages(["restarted database", "yellow lemons grow"])
    assert float(query @ near) > float(query @ far)
    assert float(query @ far) < embedder.unrelated_similarity


def test_memory_sizes_are_checked() -> None:
    """One dimension has no directions, and no token is no text."""
    with pytest.raises(ValueError, match="dimension"):
        MemoryEmbedder(dimension=1)
    with pytest.raises(ValueError, match="max_tokens"):
        MemoryEmbedder(max_tokens=0)


def test_the_sentence_transformers_library_is_optional() -> None:
    """Where it is missing, the extra is named; making the embedder needs nothing."""
    embedder = SentenceTransformersEmbedder(model="some/model", query_prefix="q: ")
    assert embedder.model != "some/model"
    try:
        importlib.import_module("sentence_transformers")
    except ModuleNotFoundError:
        with pytest.raises(MissingExtraError, match="sentence-transformers"):
            embedder.count_tokens("a")


def test_an_unknown_model_names_the_setting(tmp_path: Path) -> None:
    """A folder that holds no model is an error that names the setting."""
    pytest.importorskip(
        "sentence_transformers", reason="the extra sentence-transformers (torch) is not installed"
    )
    with pytest.raises(ModelFileError, match=r"embedder\.model"):
        SentenceTransformersEmbedder(model=str(tmp_path)).count_tokens("a")
