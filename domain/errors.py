"""Every error that this library raises on purpose.

    EvidenceLookupError
    ├── CallerError                     the caller can mend it: input, settings, set-up
    │   ├── SettingsError               a settings file or variable is wrong (every fault at once)
    │   ├── ScopeError                  a scope is malformed, or a required value is missing
    │   ├── MissingExtraError           an optional dependency is not installed
    │   ├── InvalidVectorError          a vector is zero, NaN or infinite
    │   ├── DimensionMismatchError      two vector dimensions differ
    │   ├── EmbedderMismatchError       the index was made by another embedder
    │   ├── SchemaMismatchError         an existing collection cannot be used as it stands
    │   ├── InvalidChunkError           a chunk or document cannot be stored as it is
    │   ├── UnsupportedModeError        the backend cannot search in the mode asked for
    │   ├── UnreadableDocumentError     a file's bytes cannot be turned into text
    │   └── UnknownSessionError         no lookup of a session is recorded
    └── BackendError                    the backend's fault; `retryable` says whether later may help
        ├── BackendUnavailableError     nobody answers
        ├── BackendTimeoutError         no answer in time
        ├── CollectionMissingError      the backend answers, but the collection is not there
        ├── StoreHeldError              another process holds the embedded database
        ├── StorageError                the disk is full or not writable
        ├── ModelFileError              a model file is missing, damaged or of another version
        └── BackendFailedError          any other refusal of the backend

`kind` is the short word that traces, JSON and `doctor` use for the error.
"""

from collections.abc import Sequence
from typing import ClassVar

from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.domain.text import clean, cut

_MESSAGE_LENGTH = 1_000


class EvidenceLookupError(Exception):
    """The root of this library's errors.

    `tries` are the paths that were gone down before it, where an adapter has several.
    """

    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    tries: tuple[PathTry, ...] = ()


class CallerError(EvidenceLookupError):
    """Something that the caller can mend."""

    kind = "caller"


class SettingsError(CallerError):
    """Settings are wrong; `faults` names each place with its mend."""

    kind = "settings"

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class ScopeError(CallerError):
    """A scope is malformed, or lacks a value that the settings require."""

    kind = "scope"


class MissingExtraError(CallerError):
    """An optional dependency is not installed; `extra` brings it."""

    kind = "missing_extra"

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs: pip install 'evidence-lookup[{extra}]'")


class InvalidVectorError(CallerError):
    """A vector is zero, NaN or infinite, so that no similarity exists for it."""

    kind = "invalid_vector"


class DimensionMismatchError(CallerError):
    """Vectors of `actual` dimensions meet an index of `expected` dimensions."""

    kind = "dimension_mismatch"

    def __init__(self, message: str, *, expected: int, actual: int) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(message)


class EmbedderMismatchError(CallerError):
    """The index holds vectors of the embedder `stored`, but `configured` is set."""

    kind = "embedder_mismatch"

    def __init__(self, message: str, *, stored: str, configured: str) -> None:
        self.stored = stored
        self.configured = configured
        super().__init__(message)


class SchemaMismatchError(CallerError):
    """An existing collection lacks what the settings say it has."""

    kind = "schema_mismatch"


class InvalidChunkError(CallerError):
    """A chunk or document cannot be stored as it is, for instance since it is too long."""

    kind = "invalid_chunk"


class UnsupportedModeError(CallerError):
    """The backend cannot search in the mode that was asked for."""

    kind = "unsupported_mode"


class UnreadableDocumentError(CallerError):
    """The bytes of a file cannot be turned into text."""

    kind = "unreadable_document"


class UnknownSessionError(CallerError):
    """No lookup of the session `session_id` is recorded."""

    kind = "unknown_session"

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"no lookup of session {session_id!r} is recorded: give the lookups that id "
            "(session_id, or `lookup --session`), or check whether their records were pruned"
        )


class BackendError(EvidenceLookupError):
    """A backend's fault."""

    kind = "backend"


class BackendUnavailableError(BackendError):
    """Nobody answers at the backend's address."""

    kind = "connection"
    retryable = True


class BackendTimeoutError(BackendError):
    """The backend did not answer in time."""

    kind = "timeout"
    retryable = True


class CollectionMissingError(BackendError):
    """The backend answers, but holds no collection of that name."""

    kind = "collection_missing"


class StoreHeldError(BackendError):
    """Another process holds the embedded database."""

    kind = "held_by_another_process"
    retryable = True


class StorageError(BackendError):
    """The disk is full, or the data folder cannot be written."""

    kind = "storage"


class ModelFileError(BackendError):
    """A model file is missing, damaged or of another version."""

    kind = "model_file"


class BackendFailedError(BackendError):
    """The backend refused, for a reason that no other class names."""

    kind = "failed"


def message_of(error: Exception) -> str:
    """What *error* says, in one line of at most 1,000 characters that can be stored anywhere."""
    beginning = str(error)[: 4 * _MESSAGE_LENGTH]
    return cut(clean(" ".join(beginning.split())), _MESSAGE_LENGTH)


def trace_error(error: EvidenceLookupError) -> TraceError:
    """*error* as a trace keeps it."""
    return TraceError(error.kind, message_of(error))
