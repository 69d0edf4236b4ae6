"""Every adapter of the port `Chunker` against its contract."""

import re
from collections.abc import Callable

import pytest

from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.ports.chunker import Chunker
from evidence_lookup.testing.chunker_contract import ChunkerContract


class TestMarkdownChunker(ChunkerContract):
    """Counted by the rule of thumb."""

    @pytest.fixture
    def count_tokens(self) -> Callable[[str], int]:
        """The domain's estimate."""
        return estimate_tokens

    @pytest.fixture
    def chunker(self, count_tokens: Callable[[str], int]) -> Chunker:
        """A small one, so that everything is cut."""
        return MarkdownChunker(count_tokens, self.size)


class TestMarkdownChunkerByBytes(TestMarkdownChunker):
    """Counted by bytes, as byte-level vocabularies do with rare scripts: far off the estimate."""

    size = 100

    @pytest.fixture
    def count_tokens(self) -> Callable[[str], int]:
        """One token for each byte."""
        return lambda text: len(text.encode("utf-8", "surrogatepass"))


class TestMarkdownChunkerByWords(TestMarkdownChunker):
    """Counted by words: a long run of anything is one token."""

    size = 16

    @pytest.fixture
    def count_tokens(self) -> Callable[[str], int]:
        """One token for each run without white space."""
        return lambda text: len(re.findall(r"\S+", text))
