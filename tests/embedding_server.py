"""A real HTTP server on loopback that speaks the OpenAI embeddings protocol, faults included."""

import asyncio
import base64
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

import numpy as np
from aiohttp import web

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder

Answer = Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]


class EmbeddingServer:
    """Answers with `MemoryEmbedder` vectors, not of unit length, after the faults in `planned`.

    `requests` holds the bodies received, `keys` the authorisation headers.
    """

    def __init__(self, dimension: int = 64) -> None:
        self._embedder = MemoryEmbedder(dimension=dimension, max_tokens=8_191)
        self.planned: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "EmbeddingServer":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        """What the server answers for *texts* if all goes well."""
        vectors: list[list[float]] = (3.0 * await self._embedder.embed_passages(texts)).tolist()
        return vectors

    def _serve(self) -> None:
        self._loop.run_until_complete(self._run())

    async def _run(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/embeddings", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        if self.planned:
            return await self.planned.pop(0)(body)
        return answer(await self.vectors(body["input"]), encoding=body.get("encoding_format"))


def answer(
    vectors: list[list[float]], *, encoding: str | None = None, order: list[int] | None = None
) -> web.Response:
    """A protocol answer with *vectors*, listed in *order* of their numbers."""
    data = [
        {
            "object": "embedding",
            "index": number,
            "embedding": _packed(vectors[number]) if encoding == "base64" else vectors[number],
        }
        for number in (range(len(vectors)) if order is None else order)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return web.json_response({"object": "list", "data": data, "model": "fake", "usage": usage})


def refusal(status: int, message: str, *, code: str | None = None, **headers: str) -> Answer:
    """An error answer of the protocol."""

    async def send(_body: dict[str, Any]) -> web.StreamResponse:
        error = {"message": message, "type": "fault", "param": None, "code": code}
        return web.json_response({"error": error}, status=status, headers=headers)

    return send


def plain(text: str, *, content_type: str = "application/json") -> Answer:
    """A successful answer with any body."""

    async def send(_body: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text=text, content_type=content_type)

    return send


def _packed(vector: list[float]) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
