"""What every `Embedder` promises."""

import asyncio
import base64
import random
from typing import TYPE_CHECKING

import anyio
import pytest

from evidence_lookup.ports.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SAME = 0.9999

_TEXTS = (
    "The database connection pool is exhausted; restart the proxy.",
    "数据库连接池耗尽时，先重启代理，再检查慢查询。",
    "A cat sat on the mat.",
    "Prices rose by 3.5 % in 2023, as the ministry had said in March. " * 6,
    "ok",
)

_HOSTILE = {
    "empty": "",
    "spaces": " " * 200,
    "line_ends": "\n" * 3000,
    "nul": "before\0after",
    "only_nul": "\0",
    "controls": "".join(map(chr, range(32))),
    "high_surrogate": "\ud800abc",
    "low_surrogate": "abc\udfff",
    "long_ligature": "\ufdfa" * 300,
    "square_words": "\u3316" * 300,
    "combining_marks": "e" + "\u0301\u0323" * 500,
    "zero_width": "\u200b\u200d\ufeff\u2060" * 50,
    "right_to_left": "\u202eשלום\u202c",
    "emoji": "😀👨‍👩‍👧‍👦🇨🇳" * 100,
    "noncharacters": "\uffff\ufffe\U0010ffff",
    "one_word": "a" * 5000,
    "chinese_run": "数据库连接池耗尽" * 150,
    "latin1_bytes": bytes(range(128, 256)).decode("latin1") * 8,
    "base64": base64.b64encode(random.Random(0).randbytes(2000)).decode(),
}


class EmbedderContract:
    """Subclass with a fixture `embedder` to prove an adapter.

    `release` is awaited at the end of each event loop of this suite's own.
    """

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop that the suite runs on."""
        return "asyncio"

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The embedder to prove; every adapter gives its own."""
        raise NotImplementedError

    async def release(self, embedder: Embedder) -> None:
        """Give back what *embedder* holds in the running event loop; most hold nothing."""

    def test_says_what_it_is(self, embedder: Embedder) -> None:
        """The model has a name, and its figures are in range."""
        assert embedder.model
        assert embedder.dimension >= 1
        assert embedder.max_tokens >= 1
        assert -1.0 <= embedder.unrelated_similarity < 1.0

    async def test_passages_have_one_vector_each(self, embedder: Embedder) -> None:
        """Passages give float32 of shape (n, dimension), finite and of unit length."""
        vectors = await embedder.embed_passages(_TEXTS)
        assert vectors.shape == (len(_TEXTS), embedder.dimension)
        _assert_unit(vectors)
        await self.release(embedder)

    async def test_a_query_has_one_vector(self, embedder: Embedder) -> None:
        """A question gives float32 of shape (dimension,), finite and of unit length."""
        vector = await embedder.embed_query(_TEXTS[0])
        assert vector.shape == (embedder.dimension,)
        _assert_unit(vector[None])
        await self.release(embedder)

    async def test_no_text_has_no_vector(self, embedder: Embedder) -> None:
        """An empty batch gives an empty array of the right width."""
        vectors = await embedder.embed_passages([])
        assert vectors.shape == (0, embedder.dimension)
        assert vectors.dtype == "float32"
        await self.release(embedder)

    async def test_vectors_come_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        """Turning the batch round turns the vectors round."""
        forth = await embedder.embed_passages(_TEXTS)
        back = await embedder.embed_passages(_TEXTS[::-1])
        _assert_same(forth, back[::-1])
        await self.release(embedder)

    async def test_a_batch_changes_no_vector(self, embedder: Embedder) -> None:
        """A text has the same vector alone, beside others, and beside itself."""
        together = await embedder.embed_passages([*_TEXTS, *_TEXTS])
        for row, text in enumerate(_TEXTS):
            alone = await embedder.embed_passages([text])
            _assert_same(alone, together[row : row + 1])
            _assert_same(alone, together[row + len(_TEXTS) :][:1])
        await self.release(embedder)

    async def test_different_texts_differ(self, embedder: Embedder) -> None:
        """No two texts that say different things share a vector."""
        vectors = await embedder.embed_passages(_TEXTS)
        alike = vectors @ vectors.T
        for row in range(len(_TEXTS)):
            assert sorted(alike[row])[-2] < 0.99
        await self.release(embedder)

    async def test_a_batch_is_left_as_it_was(self, embedder: Embedder) -> None:
        """The list of texts is only read."""
        texts = list(_TEXTS[:2])
        await embedder.embed_passages(texts)
        assert texts == list(_TEXTS[:2])
        await self.release(embedder)

    async def test_a_question_is_near_its_answer(self, embedder: Embedder) -> None:
        """The passage that a question is about is nearer than another one."""
        query = await embedder.embed_query("Which database connection pool is exhausted?")
        passages = await embedder.embed_passages([_TEXTS[0], _TEXTS[2]])
        answer, other = (passages @ query).tolist()
        assert answer > other
        assert answer > embedder.unrelated_similarity
        await self.release(embedder)

    @pytest.mark.parametrize("name", list(_HOSTILE))
    async def test_any_text_has_a_vector(self, embedder: Embedder, name: str) -> None:
        """Any text of code points gives finite unit vectors, and leaves its neighbours alone."""
        text = _HOSTILE[name]
        _assert_unit((await embedder.embed_query(text))[None])
        vectors = await embedder.embed_passages([_TEXTS[0], text, _TEXTS[2]])
        _assert_unit(vectors)
        _assert_same(vectors[::2], await embedder.embed_passages([_TEXTS[0], _TEXTS[2]]))
        await self.release(embedder)

    async def test_nul_does_not_end_a_text(self, embedder: Embedder) -> None:
        """What stands after a NUL character is read."""
        vectors = await embedder.embed_passages(
            ["the pool", "the pool\0was exhausted by slow queries", "the pool\0is blue and cold"]
        )
        assert float(vectors[0] @ vectors[1]) < _SAME
        assert float(vectors[1] @ vectors[2]) < _SAME
        await self.release(embedder)

    def test_no_text_has_no_token(self, embedder: Embedder) -> None:
        """The model's own marks and prefix are not counted."""
        assert embedder.count_tokens("") == 0
        assert embedder.count_tokens("word") >= 1

    def test_more_words_have_more_tokens(self, embedder: Embedder) -> None:
        """Words that are added raise the count."""
        counts = [embedder.count_tokens("the pool is full. " * times) for times in (1, 2, 8, 64)]
        assert counts == sorted(set(counts))

    @pytest.mark.parametrize("text", _TEXTS)
    def test_what_fits_stays_whole(self, embedder: Embedder, text: str) -> None:
        """A text within the limit comes back as it is."""
        assert embedder.count_tokens(text) <= embedder.max_tokens
        assert embedder.fit(text) == text

    @pytest.mark.parametrize("unit", ["the pool is full. ", "数据库连接池耗尽。", "ab1-", "é😀 "])
    def test_what_is_too_long_is_cut_to_fit(self, embedder: Embedder, unit: str) -> None:
        """The cut text begins the whole one, fits, uses most of the room, and stays when cut."""
        text = unit * (2 * embedder.max_tokens)
        part = embedder.fit(text)
        assert text.startswith(part)
        assert len(part) < len(text)
        assert 0.7 * embedder.max_tokens <= embedder.count_tokens(part) <= embedder.max_tokens
        assert embedder.fit(part) == part

    def test_words_are_cut_at_their_end(self, embedder: Embedder) -> None:
        """Where there are spaces, no word is cut in two."""
        text = "exhausted connections " * embedder.max_tokens
        assert embedder.fit(text).endswith(("exhausted", "connections"))

    @pytest.mark.parametrize("name", list(_HOSTILE))
    def test_any_text_can_be_cut(self, embedder: Embedder, name: str) -> None:
        """Any text of code points is counted and cut to fit."""
        part = embedder.fit(_HOSTILE[name])
        assert _HOSTILE[name].startswith(part)
        assert embedder.count_tokens(part) <= embedder.max_tokens

    async def test_a_long_query_is_cut_as_fit_says(self, embedder: Embedder) -> None:
        """A question is read as far as `fit` cuts it."""
        text = "Why is the connection pool of the database exhausted? " * embedder.max_tokens
        long = await embedder.embed_query(text)
        _assert_same(long[None], (await embedder.embed_query(embedder.fit(text)))[None])
        await self.release(embedder)

    def test_event_loops_may_follow_one_another(self, embedder: Embedder) -> None:
        """One embedder serves two event loops in turn."""

        async def ask() -> "NDArray[np.float32]":
            vector = await embedder.embed_query(_TEXTS[0])
            await embedder.embed_passages(_TEXTS[:1])
            await self.release(embedder)
            return vector

        _assert_same(asyncio.run(ask())[None], asyncio.run(ask())[None])

    async def test_calls_may_overlap(self, embedder: Embedder) -> None:
        """Questions and batches asked for at once have the vectors that they have in turn."""
        texts = [f"{text} {number}" for number in range(3) for text in _TEXTS]
        queries = [await embedder.embed_query(text) for text in texts]
        passages = await embedder.embed_passages(texts)
        found: dict[int, NDArray[np.float32]] = {}
        batches: list[NDArray[np.float32]] = []

        async def ask(number: int) -> None:
            found[number] = await embedder.embed_query(texts[number])

        async def embed() -> None:
            batches.append(await embedder.embed_passages(texts))

        async with anyio.create_task_group() as group:
            group.start_soon(embed)
            for number in range(len(texts)):
                group.start_soon(ask, number)
            group.start_soon(embed)
        for batch in batches:
            _assert_same(batch, passages)
        for number, vector in found.items():
            _assert_same(vector[None], queries[number][None])
        await self.release(embedder)


def _assert_unit(vectors: "NDArray[np.float32]") -> None:
    assert vectors.dtype == "float32"
    squares = (vectors.astype("float64") ** 2).sum(axis=1)
    assert abs(squares - 1.0).max(initial=0.0) < 1e-5


def _assert_same(left: "NDArray[np.float32]", right: "NDArray[np.float32]") -> None:
    assert left.shape == right.shape
    assert (left * right).sum(axis=1).min(initial=1.0) >= _SAME
