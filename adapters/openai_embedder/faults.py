"""What goes wrong between here and the server, as this library's errors."""

from collections.abc import Generator
from contextlib import contextmanager

from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
)

_QUOTED_CHARACTERS = 200


@contextmanager
def mapped(*, server: str, model: str, api_key: str, timeout_seconds: float) -> Generator[None]:
    """Raise the driver's errors as a `BackendError` that names the setting to change.

    The text of a refusal is quoted without *api_key*, and not at all where the key is refused,
    since servers repeat a part of it there.
    """
    import openai

    try:
        yield
    except openai.APITimeoutError as error:
        raise BackendTimeoutError(
            f"the embedding server {server} did not answer within {timeout_seconds:g} s: "
            "see embedder.timeout-seconds, or lower embedder.batch-size"
        ) from error
    except openai.APIConnectionError as error:
        raise BackendUnavailableError(
            f"the embedding server {server} cannot be reached: see embedder.base-url"
        ) from error
    except openai.APIStatusError as error:
        quoted = _quoted(error.message, api_key)
        raise _refusal(error.status_code, error.code, server, model, quoted) from error
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, KeyError) as error:
        # The driver raises whatever parsing meets when the answer is not what it should be.
        raise BackendFailedError(
            f"the answer of {server} is not one of the embeddings protocol: see embedder.base-url"
        ) from error


def _refusal(status: int, code: str | None, server: str, model: str, quoted: str) -> BackendError:
    if status in (401, 403):
        return BackendFailedError(
            f"the embedding server {server} refuses the key ({status}): see embedder.api-key"
        )
    if status == 404:
        return BackendFailedError(
            f"the embedding server {server} does not know the model {model!r} or the address "
            f"(404): see embedder.model and embedder.base-url; it says: {quoted}"
        )
    if status == 429 and code != "insufficient_quota":
        return BackendUnavailableError(
            f"the embedding server {server} still has too many requests after the retries (429): "
            "try later, or see embedder.max-retries and embedder.batch-size"
        )
    if status >= 500 or status in (408, 409):
        return BackendUnavailableError(
            f"the embedding server {server} fails ({status}), after the retries too: "
            f"see embedder.base-url; it says: {quoted}"
        )
    return BackendFailedError(
        f"the embedding server {server} refuses the request ({status}): see embedder.model, "
        f"embedder.dimensions and embedder.max-tokens; it says: {quoted}"
    )


def _quoted(message: str, api_key: str) -> str:
    hidden = message.replace(api_key, "***") if api_key else message
    return hidden[:_QUOTED_CHARACTERS]
