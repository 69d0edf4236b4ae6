"""How long a text is for a language model."""

from typing import Protocol


class TokenCounter(Protocol):
    """Counts tokens for budgets; the count must not fall as a text grows at its end."""

    def __call__(self, text: str, /) -> int:
        """Tokens in *text*."""
        ...
