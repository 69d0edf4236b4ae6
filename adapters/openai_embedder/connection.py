"""The driver's client, one for each event loop."""

import importlib
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.domain.errors import MissingExtraError

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Connection:
    """Opens the driver's client at first use in the running event loop."""

    def __init__(
        self, *, base_url: str, api_key: str, timeout_seconds: float, max_retries: int
    ) -> None:
        """Nothing is opened yet; empty *base_url* is the vendor's own, empty *api_key* is none."""
        self._settings: dict[str, Any] = {
            "base_url": base_url or None,
            "api_key": api_key or "none",
            "timeout": timeout_seconds,
            "max_retries": max_retries,
        }
        self._is_loaded = False
        self._clients = PerLoop(self._open)

    async def client(self) -> "AsyncOpenAI":
        """The open client of the running event loop.

        Raises:
            MissingExtraError: the ``openai`` library is not installed.
        """
        if not self._is_loaded:
            try:
                # Reading the driver takes about a second, too long for an event loop.
                await anyio.to_thread.run_sync(importlib.import_module, "openai")
            except ModuleNotFoundError as error:
                raise MissingExtraError("openai", "the embedder of kind openai") from error
            self._is_loaded = True
        return self._clients()

    async def aclose(self) -> None:
        """End the client of the running event loop, if there is one."""
        client = self._clients.take()
        if client is not None:
            await client.close()

    def _open(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI

        return AsyncOpenAI(**self._settings)
