"""Where the Markdown chunker cuts, and below which headings."""

import time

import pytest

from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.ports.chunker import ChunkedDocument
from evidence_lookup.ports.document_source import ReadDocument

_SENTENCE = "The proxy closes idle connections after ten minutes. "


def chunked(text: str, size: int = 320, *, is_markdown: bool = True) -> ChunkedDocument:
    """*text* as chunks of at most *size* estimated tokens."""
    return MarkdownChunker(estimate_tokens, size).chunk(ReadDocument(text, 0, is_markdown))


def contents(text: str, size: int) -> list[str]:
    """The contents of those chunks."""
    return [chunk.content for chunk in chunked(text, size).chunks]


def test_a_page_that_fits_stays_whole() -> None:
    """A short page is one chunk, below the heading that all of it shares."""
    page = chunked("# Down\n\n## Meaning\n\nIt is down.\n\n## Mitigation\n\nRestart it.\n")
    assert [chunk.headings for chunk in page.chunks] == [("Down",)]
    assert page.title == "Down"
    assert page.headings == ("Down", "Meaning", "Mitigation")


def test_a_chunk_that_is_half_full_ends_before_a_section() -> None:
    """One topic to a chunk: a section of level 2 begins a new one where there is enough before."""
    sections = "".join(f"## S{number}\n\n{_SENTENCE * 3}\n\n" for number in range(6))
    starts = [content.split("\n")[0] for content in contents(f"# Page\n\n{sections}", 64)]
    assert starts == ["# Page", "## S1", "## S2", "## S3", "## S4", "## S5"]


def test_small_sections_are_put_together_below_their_common_heading() -> None:
    """Of several sibling sections in a chunk, the path is that of the section above them."""
    sections = "".join(f"## S{number}\n\nShort text here.\n\n" for number in range(12))
    chunks = chunked(f"# Page\n\n{sections}", 40).chunks
    assert 3 <= len(chunks) <= 6
    assert {chunk.headings for chunk in chunks} == {("Page",)}
    assert all(chunk.content.startswith("#") for chunk in chunks)


def test_a_heading_stays_with_its_text() -> None:
    """No chunk ends with a heading whose text is in the next one."""
    text = "".join(f"## H{number}\n\n{_SENTENCE * (number % 7 + 1)}\n\n" for number in range(40))
    for size in range(16, 80, 7):
        for content in contents(text, size):
            assert not content.rstrip().splitlines()[-1].startswith("#")


def test_code_that_fits_is_not_cut() -> None:
    """A whole code block is kept, even if the chunk before it becomes short."""
    code = "```sh\n" + "redis-cli ping\n" * 8 + "```"
    for before in range(6):
        text = f"{_SENTENCE * before}\n\n{code}\n\n{_SENTENCE * 6}"
        assert any(code in content for content in contents(text, 64))


def test_longer_code_is_cut_at_line_ends() -> None:
    """Each chunk of a long code block holds whole lines."""
    lines = [f"redis-cli -h node{number} ping" for number in range(60)]
    text = "```sh\n" + "\n".join(lines) + "\n```\n"
    found = [line for content in contents(text, 64) for line in content.splitlines()]
    assert found == ["```sh", *lines, "```"]


def test_text_is_cut_at_sentence_ends() -> None:
    """A long English paragraph is cut behind full stops, also where lines are wrapped."""
    wrapped = (_SENTENCE * 40).replace(" connections after ", " connections\nafter ")
    parts = contents(wrapped, 64)
    assert len(parts) > 5
    assert all(part.endswith("minutes.") for part in parts)


@pytest.mark.parametrize("end", "。！？；")
def test_chinese_text_is_cut_at_sentence_ends(end: str) -> None:
    """A long Chinese paragraph is cut behind its marks, the semicolon included."""
    parts = contents(f"数据库连接池耗尽时先重启代理再检查慢查询{end}" * 40, 64)
    assert len(parts) > 10
    assert all(part.endswith(end) for part in parts)


def test_a_section_a_little_too_long_is_cut_in_the_middle() -> None:
    """No chunk of a few words is left over where two of the same length are possible."""
    first, second = chunked("## H\n\n" + f"{_SENTENCE}\n\n" * 6, 64).chunks
    assert abs(len(first.content) - len(second.content)) < 2 * len(_SENTENCE)


def test_logs_are_cut_at_line_ends() -> None:
    """The records of a plain text file stay whole."""
    lines = [
        f"2024-01-01T00:00:{number:02} ERROR node {number} gone. Retry" for number in range(60)
    ]
    chunks = chunked("\n".join(lines), 64, is_markdown=False).chunks
    assert [line for chunk in chunks for line in chunk.content.split("\n")] == lines


def test_table_rows_stay_whole() -> None:
    """A long table is cut between rows."""
    rows = [f"| node {number} | gone. Restart it |" for number in range(60)]
    text = "\n".join(["| a | b |", "|---|---|", *rows])
    found = [line for content in contents(text, 64) for line in content.splitlines()]
    assert found == text.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~~ sh\n# no\n~~~\n# no\n~~~~\n",
        "    # no\n",
        "- a\n  ```\n  # no\n  ```\n",
        "````\n```\n# no\n````\n",
        "```\n# no\n",
        "<!--\n# no\n-->\n",
        "#no\n",
        "\\# no\n",
        "> # no\n",
        "- # no\n",
        "no\n",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    """Code of every kind, comments, quotes and items hold no headings of the document."""
    assert chunked(text).headings == ()


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# Close it ##\n", "Close it"),
        ("Set\next\n======\n", "Set ext"),
        (
            "  ### In `redis-cli` *now* [here](http://a/b) ![icon](x.png)\n",
            "In redis-cli now here icon",
        ),
        ("# Use [the guide][g]\n\n[g]: http://a/b\n", "Use the guide"),
        ("# A &amp; B <br> c\\*\n", "A & B c*"),
        ("#\t诊断\r\n", "诊断"),
    ],
)
def test_headings_are_told_without_markup(text: str, heading: str) -> None:
    """Both kinds of headings, as a reader sees them."""
    assert chunked(text).headings == (heading,)


def test_front_matter_is_not_cut_up() -> None:
    """Offsets count in the whole text, chunks begin behind the front matter (C59)."""
    front, body = "---\ntitle: a\n---\n", "\n# Head\r\n\r\nText 👨‍👩‍👧‍👦.\r\n"
    (chunk,) = MarkdownChunker(estimate_tokens).chunk(ReadDocument(front + body, len(front))).chunks
    assert (front + body)[chunk.start : chunk.end] == chunk.content
    assert chunk.content == "# Head\r\n\r\nText 👨‍👩‍👧‍👦."


def test_indentation_of_code_stays() -> None:
    """Only empty lines are trimmed: the first line of indented code keeps its spaces."""
    assert contents("\n\n    x = 1\n    y = 2\n\n", 64) == ["    x = 1\n    y = 2"]


def test_a_line_of_ten_thousand_characters_without_spaces_is_cut() -> None:
    """A line without spaces is cut to size at characters."""
    assert len(contents("a" * 10_000, 64)) == pytest.approx(10_000 / 256, abs=3)


def test_the_name_tells_the_size() -> None:
    """Another size is another recipe."""
    assert MarkdownChunker(estimate_tokens).name == "markdown-v1-320"


def test_a_size_that_holds_nothing_is_refused() -> None:
    """Some characters have several tokens, so that smaller sizes could not be kept."""
    with pytest.raises(ValueError, match="at least 16"):
        MarkdownChunker(estimate_tokens, 15)


@pytest.mark.parametrize(
    "text", ["字" * 100_000, "# a\n" * 15_000, "- a\n" * 15_000, "> " * 50_000]
)
def test_time_grows_with_length_only(text: str) -> None:
    """Text that is hostile to parsers and splitters costs seconds, not hours."""
    began = time.perf_counter()
    chunked(text)
    assert time.perf_counter() - began < 30
