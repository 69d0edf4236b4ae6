"""A server of the OpenAI embeddings protocol behind the port."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidence_lookup.adapters.openai_embedder.answers import read
from evidence_lookup.adapters.openai_embedder.batches import batches
from evidence_lookup.adapters.openai_embedder.connection import Connection
from evidence_lookup.adapters.openai_embedder.faults import mapped
from evidence_lookup.adapters.openai_embedder.known_models import KNOWN_MODELS
from evidence_lookup.adapters.openai_embedder.token_estimate import estimate
from evidence_lookup.adapters.prefixed_model import prefixed_model
from evidence_lookup.adapters.token_fit import beginning
from evidence_lookup.adapters.vectors import unit_rows
from evidence_lookup.domain.errors import (
    DimensionMismatchError,
    InvalidVectorError,
    SettingsError,
)
from evidence_lookup.domain.text import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANK = "."


class OpenAIEmbedder:
    """Vectors from a server that speaks the OpenAI embeddings protocol.

    Tokens are estimated, since the vocabulary is not at hand: `count_tokens` says rather too many
    than too few. Vectors are brought to unit length whatever the server sends. Connections are
    opened at first use in the running event loop; `aclose` ends those of that loop.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "",
        api_key: str = "",
        dimensions: int | None = None,
        batch_size: int = 64,
        max_retries: int = 3,
        timeout_seconds: float = 30.0,
        max_tokens: int = 8_191,
        query_prefix: str = "",
        passage_prefix: str = "",
        unrelated_similarity: float | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            model: the model's name at the server.
            base_url: the address up to ``/v1``; empty is the vendor's own.
            api_key: empty for servers that ask for none.
            dimensions: length of the vectors; must be given for models that are not OpenAI's.
                It is sent only to OpenAI's own models that can shorten their vectors; of all
                others it says what to expect.
            batch_size: most texts in a request.
            max_retries: how often a request is repeated after 408, 409, 429, 5xx or a lost
                connection, after 0.5 to 8 seconds or when the server says.
            timeout_seconds: how long a request may wait for the server, each time.
            max_tokens: how much of a text the model reads.
            query_prefix: stands before each question.
            passage_prefix: stands before each passage.
            unrelated_similarity: the model's own figure; 0 for models that are not OpenAI's.

        Raises:
            SettingsError: a setting is missing, or does not fit the model.
        """
        known = KNOWN_MODELS.get(model)
        dimension = dimensions or (known.dimension if known else 0)
        own_tokens = max(estimate(query_prefix), estimate(passage_prefix))
        faults: list[str] = []
        if not model:
            faults.append("embedder.model: is empty")
        elif not dimension:
            faults.append(f"embedder.dimensions: must be set, {model!r} is not known here")
        if max_tokens <= own_tokens:
            faults.append(f"embedder.max-tokens: {max_tokens} leaves no room beside the prefix")
        if faults:
            raise SettingsError(faults)
        self._name = model
        self._base_url = base_url
        self._api_key = api_key
        self._dimension = dimension
        shortened = known is not None and known.can_shorten and dimension < known.dimension
        self._sent_dimensions = dimension if shortened else None
        self._batch_size = batch_size
        self._timeout_seconds = timeout_seconds
        self._max_tokens = max_tokens - own_tokens
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        default = known.unrelated_similarity if known else 0.0
        self._unrelated = default if unrelated_similarity is None else unrelated_similarity
        self._connection = Connection(
            base_url=base_url,
            api_key=api_key,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    @property
    def model(self) -> str:
        """The server's name of the model, with a digest of the prefixes if there are any."""
        return prefixed_model(
            self._name, query_prefix=self._query_prefix, passage_prefix=self._passage_prefix
        )

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads, without the prefix."""
        return self._max_tokens

    @property
    def unrelated_similarity(self) -> float:
        """As set; else reported figures for OpenAI's models, and 0 for others."""
        return self._unrelated

    def count_tokens(self, text: str) -> int:
        """About how many tokens *text* has, rather too many than too few."""
        return estimate(text)

    def fit(self, text: str) -> str:
        """The longest beginning of *text* of at most `max_tokens`, cut at a word's end."""
        return beginning(text, limit=self._max_tokens, count=estimate)

    async def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The unit vector of a question, ``(dimension,)``; cut as by `fit`.

        Raises: as `embed_passages`.
        """
        vectors = await self._embed([self._query_prefix + self._readable(text)])
        vector: NDArray[np.float32] = vectors[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The unit vectors of *texts* in their order, ``(len(texts), dimension)``; cut as by `fit`.

        Raises:
            BackendUnavailableError: nobody answers, or the server is overloaded or fails (429,
                5xx), after the retries too.
            BackendTimeoutError: no answer in time.
            BackendFailedError: the server refuses, or its answer is not of the protocol.
            DimensionMismatchError: the vectors are not of the dimension that is set.
            InvalidVectorError: a vector is zero, NaN or infinite.
            MissingExtraError: the ``openai`` library is not installed.
        """
        return await self._embed([self._passage_prefix + self._readable(text) for text in texts])

    async def aclose(self) -> None:
        """End the connections of the running event loop; may be repeated, and used again after."""
        await self._connection.aclose()

    def _readable(self, text: str) -> str:
        # Servers refuse an empty text.
        return clean(self.fit(text)).strip() or _BLANK

    async def _embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        rows: list[NDArray[np.float64]] = []
        for batch in batches(texts, size=self._batch_size):
            rows += await self._request(batch)
        if not rows:
            return np.zeros((0, self._dimension), np.float32)
        try:
            return unit_rows(rows)
        except InvalidVectorError as error:
            raise InvalidVectorError(
                f"{error}, from {self._server} with {self._name!r}: see embedder.model"
            ) from error

    async def _request(self, texts: list[str]) -> "list[NDArray[np.float64]]":
        client = await self._connection.client()
        with mapped(
            server=self._server,
            model=self._name,
            api_key=self._api_key,
            timeout_seconds=self._timeout_seconds,
        ):
            if self._sent_dimensions is None:
                answer = await client.embeddings.create(model=self._name, input=texts)
            else:
                answer = await client.embeddings.create(
                    model=self._name, input=texts, dimensions=self._sent_dimensions
                )
            vectors = read(answer, count=len(texts))
        for vector in vectors:
            self._check_length(vector.size)
        return vectors

    def _check_length(self, actual: int) -> None:
        if actual != self._dimension:
            raise DimensionMismatchError(
                f"{self._name!r} at {self._server} gives vectors of {actual} dimensions instead "
                f"of {self._dimension}: see embedder.dimensions",
                expected=self._dimension,
                actual=actual,
            )

    @property
    def _server(self) -> str:
        return self._base_url or "of OpenAI"
