"""The driver's client, one for each event loop."""

import importlib
from typing import TYPE_CHECKING

import anyio.to_thread
from anyio.lowlevel import RunVar

from evidence_lookup.domain.errors import MissingExtraError

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Connection:
    """Opens the driver's client at first use in the running event loop."""

    def __init__(
        self, *, base_url: str, api_key: str, timeout_seconds: float, max_retries: int
    ) -> None:
        """Nothing is opened yet; empty *base_url* is the vendor's own, empty *api_key* is none."""
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._client = RunVar["AsyncOpenAI | None"]("openai_client", default=None)

    async def client(self) -> "AsyncOpenAI":
        """The open client of the running event loop.

        Raises:
            MissingExtraError: the ``openai`` library is not installed.
        """
        client = self._client.get()
        if client is not None:
            return client
        try:
            # Reading the driver takes about a second, too long for an event loop.
            await anyio.to_thread.run_sync(importlib.import_module, "openai")
        except ModuleNotFoundError as error:
            raise MissingExtraError("openai", "the embedder of kind openai") from error
        from openai import AsyncOpenAI

        # Another task may have opened one in the meantime; from here on nothing waits.
        client = self._client.get()
        if client is None:
            client = AsyncOpenAI(
                base_url=self._base_url or None,
                api_key=self._api_key or "none",
                timeout=self._timeout_seconds,
                max_retries=self._max_retries,
            )
            self._client.set(client)
        return client

    async def aclose(self) -> None:
        """End the client of the running event loop, if there is one."""
        client = self._client.get()
        if client is not None:
            self._client.set(None)
            await client.close()
