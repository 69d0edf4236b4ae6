"""The one place where the driver's errors become this library's."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.quiet_loggers import QuietLoggers
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    StorageError,
)

_MAX_TEXT = 300
_SHOWN_ITEMS = 3
_CREDENTIALS = "elasticsearch.api-key, or elasticsearch.username and elasticsearch.password"
_TLS = (
    "elasticsearch.ca-cert-path, elasticsearch.certificate-fingerprint, "
    "elasticsearch.verify-certificates"
)
_LOGGERS = QuietLoggers("elastic_transport.node_pool")


@contextmanager
def translated(settings: ElasticsearchSettings) -> Generator[None, None, None]:
    """Raise what the driver raises inside as an error of this library.

    The driver logs a warning for each failure; inside, that is left out, since the error arrives
    here. The driver is loaded already.
    """
    from elastic_transport import ApiError, TransportError

    try:
        with _LOGGERS.quiet():
            yield
    except (ApiError, TransportError, OSError) as error:
        raise translate(error, settings) from error


def translate(error: Exception, settings: ElasticsearchSettings) -> BackendError:
    """The error of this library that says what *error* means."""
    import elastic_transport
    from elasticsearch import UnsupportedProductError

    where = f"Elasticsearch at {settings.url} (elasticsearch.url)"
    text = _line(str(getattr(error, "message", "") or error or type(error).__name__))
    match error:
        case UnsupportedProductError():
            return BackendFailedError(
                f"what answers at {settings.url} (elasticsearch.url) is no Elasticsearch"
            )
        case elastic_transport.ConnectionTimeout() | TimeoutError():
            return BackendTimeoutError(
                f"{where} gave no answer within {settings.timeout_seconds:g} s "
                f"(elasticsearch.timeout-seconds): {text}"
            )
        case elastic_transport.ConnectionError() if _is_another_certificate(error):
            return BackendFailedError(
                f"{where} shows a certificate with another SHA-256 than the one in "
                "elasticsearch.certificate-fingerprint"
            )
        case elastic_transport.TlsError():
            return BackendFailedError(f"{where} is not trusted ({_TLS}): {text}")
        case elastic_transport.ConnectionError() | OSError():
            return BackendUnavailableError(f"{where} does not answer: {text}")
        case elastic_transport.SerializationError():
            return BackendFailedError(f"{where} does not answer as one: {text}")
        case elastic_transport.ApiError():
            kind, reason = _cause(error.body)
            return _refusal(kind, reason or text, int(error.meta.status), settings)
        case _:
            return BackendFailedError(f"{where} refused ({type(error).__name__}): {text}")


def not_opened(settings: ElasticsearchSettings) -> BackendTimeoutError:
    """The error for a client that takes too long to open; says so without the driver."""
    return BackendTimeoutError(
        f"the client of Elasticsearch was not open within {settings.timeout_seconds:g} s "
        "(elasticsearch.timeout-seconds); its modules take long to load"
    )


def items_refused(
    failures: Sequence[tuple[str, int, Mapping[str, Any]]],
    total: int,
    settings: ElasticsearchSettings,
) -> BackendError:
    """The error for *failures* (id, status and error each) of a bulk request of *total* items."""
    named = "; ".join(
        f"{_line(name, 120)}: {_line(_cause({'error': cause})[1] or str(cause))}"
        for name, _, cause in failures[:_SHOWN_ITEMS]
    )
    more = len(failures) - _SHOWN_ITEMS
    text = (
        f"{len(failures)} of {total} rows were refused: {named}"
        + (f"; and {more} more" if more > 0 else "")
    )  # fmt: skip
    _, status, cause = failures[0]
    return _refusal(_cause({"error": cause})[0], text, status, settings)


def has_type(error: Exception, kind: str) -> bool:
    """Whether the server's word for *error* is *kind*."""
    return _cause(getattr(error, "body", None))[0] == kind


def _is_another_certificate(error: Exception) -> bool:
    # The driver keeps only the bytes of both digests for its text.
    from aiohttp import ServerFingerprintMismatch

    return isinstance(error.__context__, ServerFingerprintMismatch)


def _refusal(kind: str, text: str, status: int, settings: ElasticsearchSettings) -> BackendError:
    where = f"Elasticsearch at {settings.url} (elasticsearch.url)"
    if kind == "index_not_found_exception":
        return CollectionMissingError(
            f"{where} has no index {settings.index!r} (elasticsearch.index); "
            "'evidence-lookup ingest PATH' makes it"
        )
    if kind == "cluster_block_exception" and status in (403, 429):
        # Set by the server when its disk is almost full, and taken off when there is room again;
        # one with another status is of a node that starts, or has no master.
        return StorageError(
            f"{where} does not let {settings.index!r} (elasticsearch.index) be written; mostly "
            f"its disk is almost full: {text}"
        )
    match status:
        case 401 | 403:
            return BackendFailedError(f"{where} refuses the credentials ({_CREDENTIALS}): {text}")
        case 413:
            return BackendFailedError(
                f"{where} takes no request of this size (its http.max_content_length): {text}"
            )
        case 408 | 504:
            return BackendTimeoutError(f"{where} took too long for its own limits: {text}")
        case 429 | 502 | 503:
            return BackendUnavailableError(f"{where} cannot serve now (status {status}): {text}")
        case _:
            return BackendFailedError(f"{where} refused ({kind or f'status {status}'}): {text}")


def _cause(body: object) -> tuple[str, str]:
    """The server's word for the root of an error, and its reason."""
    error = _mapping(_mapping(body).get("error"))
    roots = error.get("root_cause")
    first = cast("Sequence[object]", roots)[0] if isinstance(roots, list) and roots else error
    root = _mapping(first)
    caused = _mapping(root.get("caused_by"))
    reason = str(root.get("reason") or error.get("reason") or "")
    deeper = str(caused.get("reason") or "")
    text = f"{reason} ({deeper})" if deeper and deeper not in reason else reason
    return str(root.get("type") or error.get("type") or ""), _line(text)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _line(text: str, limit: int = _MAX_TEXT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
