"""The few members of the sentence-transformers library that are used, and how it is loaded."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evidence_lookup.domain.errors import MissingExtraError, ModelFileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TokenizerOfModel(Protocol):
    """A tokenizer of the ``transformers`` library."""

    def encode(self, text: str, **options: Any) -> Sequence[int]:
        """The numbers of the tokens of *text*."""
        ...

    def num_special_tokens_to_add(self) -> int:
        """How many marks stand around one text."""
        ...


class LoadedModel(Protocol):
    """A ``SentenceTransformer``."""

    max_seq_length: int | None
    tokenizer: TokenizerOfModel

    def encode(self, sentences: list[str], **options: Any) -> "NDArray[np.float32]":
        """The vectors of *sentences*, ``(n, dimension)``."""
        ...


def load(model: str, *, threads: int) -> LoadedModel:
    """The model *model*, a folder or a name on the library's hub, to run on the processor.

    Raises:
        MissingExtraError: the library is not installed.
        ModelFileError: the model cannot be loaded.
    """
    try:
        torch: Any = importlib.import_module("torch")
        library: Any = importlib.import_module("sentence_transformers")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "sentence-transformers", "the embedder of kind sentence-transformers"
        ) from error
    torch.set_num_threads(threads)
    try:
        loaded: LoadedModel = library.SentenceTransformer(model, device="cpu")
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelFileError(
            f"the model {model!r} cannot be loaded: see embedder.model; "
            "it must be a folder or a name that the hub knows"
        ) from error
    return loaded
