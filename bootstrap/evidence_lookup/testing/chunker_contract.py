"""What every `Chunker` promises."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_lookup.domain.text import is_blank
from evidence_lookup.ports.chunker import Chunker, TextChunk
from evidence_lookup.ports.document_source import ReadDocument

_HOSTILE = {
    "empty": "",
    "blank": " \n\t\r\n\u3000\n",
    "invisible": "\u200b\u200d\ufeff" * 300,
    "nul": "a\0b " * 300,
    "one_line": "a" * 10_000,
    "chinese_line": "数据库连接池耗尽" * 1_250,
    "line_ends": "a\r\nb\rc\n\r\n\r\rd\n\n" * 200,
    "families": "👨‍👩‍👧‍👦" * 500,
    "flags": "🇨🇳🇩🇪" * 500,
    "marks": "e" + "\u0301\u0323" * 3_000,
    "surrogates": "\ud800 a \udfff" * 500,
    "separators": "a\u2028b\u2029c\x0b\x0c\x85d " * 300,
    "empty_headings": "# \n## \n" * 300,
    "headings_only": "# a\n## b\n### c\n" * 200,
    "long_heading": f"# {'word ' * 3_000}\n\ntext",
    "unclosed_fence": "text\n\n```sh\n" + "# not a heading\n\n" * 300,
    "deep_list": "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(60)),
    "deep_quote": ">" * 3_000 + " a",
    "link_targets": "[a]: b\n" * 500,
    "unclosed_comment": "<!-- " + "# no\n\n" * 500,
    "table": "| a | b |\n|---|---|\n" + "| 1 | 二 |\n" * 500,
    "rules": "---\n\n" * 500,
}

_FRONT_MATTER = "---\ntitle: a\n---\n"
_PARTS = st.sampled_from(
    [
        "# Title\n", "## Meaning\n\n", "Setext\n===\n", "### 诊断 ###\r\n", "---\n", "\n\n", "\r\n",
        "```sh\nredis-cli ping\n# no heading\n```\n", "~~~\n", "    indented\n", "- item\n",
        "  - inner\n", "> quote\n", "1. one\n", "| a | b |\n|---|---|\n", "<!-- # no -->\n",
        "Restart it. Then wait! ", "先重启代理，再检查；等待。", "chunk chunk ",
        "👨‍👩‍👧‍👦🇨🇳", "e\u0301\u0323", "\r",
        "x" * 400, "字" * 200, " ", "\t", "\u3000", "\u200b", "[a]: b\n", "\0",
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.lists(_PARTS, max_size=60).map("".join), st.text(max_size=400))


class ChunkerContract:
    """Subclass with the fixtures `chunker`, of at most `size` tokens, and `count_tokens`."""

    size = 32

    @pytest.fixture
    def chunker(self) -> Chunker:
        """A chunker of the size `size`; every adapter gives its own."""
        raise NotImplementedError

    @pytest.fixture
    def count_tokens(self) -> Callable[[str], int]:
        """How the chunker counts."""
        raise NotImplementedError

    def test_any_text_is_cut_by_the_rules(
        self, chunker: Chunker, count_tokens: Callable[[str], int]
    ) -> None:
        """C59: offsets, size, order and coverage hold for whatever text."""

        # Given inside, since hypothesis objects to one test that several classes inherit.
        @settings(deadline=None, max_examples=200)
        @given(text=_TEXTS, front=st.sampled_from(["", _FRONT_MATTER]), is_markdown=st.booleans())
        def check(text: str, front: str, is_markdown: bool) -> None:
            document = ReadDocument(front + text, len(front), is_markdown)
            self.check(chunker, count_tokens, document)

        check()

    @pytest.mark.parametrize("name", _HOSTILE)
    @pytest.mark.parametrize("markdown", [True, False])
    def test_hostile_text_is_cut_by_the_rules(
        self, chunker: Chunker, count_tokens: Callable[[str], int], name: str, markdown: bool
    ) -> None:
        """C59: line ends, emoji, marks, unclosed blocks and depth do not shift an offset."""
        self.check(chunker, count_tokens, ReadDocument(_HOSTILE[name], is_markdown=markdown))

    def test_repeated_text_has_its_own_offsets(self, chunker: Chunker) -> None:
        """C05, C06, C59: equal chunks of one document stand at different places."""
        text = "\n\n".join(["## Agenda\n\n" + "chunk chunk " * 20] * 9)
        chunks = chunker.chunk(ReadDocument(text)).chunks
        assert len({chunk.content for chunk in chunks}) < len(chunks)
        assert len({chunk.start for chunk in chunks}) == len(chunks)

    def test_chunks_do_not_overlap(self, chunker: Chunker) -> None:
        """C61: no character is in two chunks."""
        chunks = chunker.chunk(
            ReadDocument("One sentence of seven words stands here. " * 50)
        ).chunks
        assert len(chunks) > 1
        assert all(a.end <= b.start for a, b in pairwise(chunks))

    def test_the_same_text_is_cut_the_same_way(self, chunker: Chunker) -> None:
        """A chunker has no memory: evidence keys stay when a file is read again."""
        document = ReadDocument("# A\n\n" + "Some words and more. " * 40)
        assert chunker.chunk(document) == chunker.chunk(document)

    def test_titles_and_headings_are_told(self, chunker: Chunker) -> None:
        """The first heading of level 1 is the title, and each heading stands once, in order."""
        text = "## Before\n\na\n\n# Guide\n\nb\n\n## Steps\n\nc\n\n# Other\n\nd\n\n## Steps\n\ne\n"
        chunked = chunker.chunk(ReadDocument(text))
        assert chunked.title == "Guide"
        assert chunked.headings == ("Before", "Guide", "Steps", "Other")
        bare = chunker.chunk(ReadDocument("## Steps\n\na\n"))
        assert (bare.title, bare.headings) == (None, ("Steps",))

    def test_a_chunk_names_what_it_stands_below(self, chunker: Chunker) -> None:
        """A chunk's headings are the path that leads to it."""
        words = "one two three. " * 20
        text = f"# Guide\n\n## Steps\n\n{words}\n\n# Other\n\n{words}"
        chunks = chunker.chunk(ReadDocument(text)).chunks
        assert chunks[0].headings[:1] == ("Guide",)
        assert chunks[1].headings == ("Guide", "Steps")
        assert chunks[-1].headings == ("Other",)

    def test_the_name_is_one_word(self, chunker: Chunker) -> None:
        """The name is part of a recipe, so it holds no white space."""
        assert chunker.name
        assert not any(char.isspace() for char in chunker.name)

    def check(
        self, chunker: Chunker, count_tokens: Callable[[str], int], document: ReadDocument
    ) -> tuple[TextChunk, ...]:
        """The chunks of *document*, after each rule of the port has been asserted."""
        text, chunks = document.text, chunker.chunk(document).chunks
        behind = document.body_start
        between: list[str] = []
        for chunk in chunks:
            assert text[chunk.start : chunk.end] == chunk.content
            assert chunk.start >= behind
            assert not is_blank(chunk.content)
            assert count_tokens(chunk.content) <= self.size
            between.append(text[behind : chunk.start])
            behind = chunk.end
        between.append(text[behind:])
        assert is_blank("".join(between))
        return chunks
