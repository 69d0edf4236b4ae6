"""Front matter, usable or not (C57's kind)."""

import time

import pytest

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.ports.document_source import ReadDocument

_BODY = "# Head\n\nText.\n\n---\n\nMore.\n"


def read(front: str, body: str = _BODY) -> ReadDocument:
    """A Markdown file with *front* between rules."""
    return FormatReader().read(f"---\n{front}\n---\n{body}".encode(), source="a/b.md")


def body_of(document: ReadDocument) -> str:
    """What is indexed of it."""
    return document.text[document.body_start :]


def test_all_names() -> None:
    """Every name is taken, in either of its spellings and in any case."""
    document = read(
        "id: ' guide '\nTitle: Redis\ndomain: database\nkeywords: redis, sentinel，哨兵\n"
        "tags: [cache, redis]\nentities:\n  - redis-master\nlang: zh\nweight: 10\n"
        "scope:\n  tenant: acme\n  level: 3\n  internal: true\n"
    )
    assert document.id == "guide"
    assert document.title == "Redis"
    assert document.category == "database"
    assert document.keywords == ("redis", "sentinel", "哨兵", "cache")
    assert document.entities == ("redis-master",)
    assert document.language == "zh"
    assert document.scope == {"tenant": "acme", "level": 3, "internal": True}
    assert document.warnings == ()
    assert body_of(document) == _BODY


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("2024-01-01", "2024-01-01"),
        ("no", "no"),
        ("1_000", "1_000"),
        ("1.50", "1.50"),
        ("0o17", "0o17"),
        ("|\n  two\n  lines", "two lines"),
        ("'a: b'", "a: b"),
        ("", None),
        ("~", None),
        ("'~'", "~"),
        ('"  "', None),
    ],
)
def test_values_are_taken_as_written(value: str, title: str | None) -> None:
    """A date, number or boolean as a title is its text; nothing is no title."""
    document = read(f"title: {value}")
    assert document.title == title
    assert document.warnings == ()


@pytest.mark.parametrize(
    "front",
    [
        "title: a: b",
        'title: "Redis\nowner: sre',
        "\ttitle: a",
        "title: a\n\tcategory: b",
        "- a\n- b",
        "title: a\nkeywords redis\nid: x",
        "title: {a\nid: b",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "title: &t a\nid: *t",
        f"a: {'[' * 3_000}{']' * 3_000}",
        f"a: {'{a: ' * 100}{'}' * 100}",
        'title: "\\z"',
        "title: a\x07b",
    ],
)
def test_what_cannot_be_used_is_a_warning(front: str) -> None:
    """The warning names the file; the text is read, without the block that is broken."""
    document = read(front)
    (warning,) = document.warnings
    assert warning.startswith("a/b.md: front matter: ")
    assert "\n" not in warning
    assert body_of(document) == _BODY
    assert (document.id, document.title, document.scope) == (None, None, {})


@pytest.mark.parametrize("front", ["", "   ", "# only a remark"])
def test_empty_front_matter_is_no_fault(front: str) -> None:
    """A block without names is passed over."""
    document = read(front)
    assert document.warnings == ()
    assert body_of(document) == _BODY


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nProse between rules. Some more: of it.\n\nAnd again.\n\n---\n\nMore.\n",
        "---\ntitle: never closed\n\n# Head\n\nText.\n",
        "---\ntitle: never closed\n\n# Head\n\nText.\nMore text.\nAnd: more.\n\n---\n\nEnd.\n",
    ],
)
def test_text_is_never_swallowed(text: str) -> None:
    """Where the block's end cannot be told, all is text, with a warning."""
    document = FormatReader().read(text.encode(), source="a.md")
    assert body_of(document) == text
    assert len(document.warnings) == 1


@pytest.mark.parametrize(
    "text", ["---\n\nA rule.\n", "----\ntitle: a\n----\nb\n", " ---\na: b\n---\n"]
)
def test_a_rule_is_no_front_matter(text: str) -> None:
    """Other rules at the head of a text are text."""
    document = FormatReader().read(text.encode(), source="a.md")
    assert body_of(document) == text
    assert document.warnings == ()


def test_line_ends_and_mark_before_it() -> None:
    """A byte order mark goes, carriage returns stay, and dots may close the block."""
    data = b"\xef\xbb\xbf---\r\ntitle: a\r\n...\r\nText\r\n"
    document = FormatReader().read(data, source="a.md")
    assert (document.title, body_of(document)) == ("a", "Text\r\n")


def test_a_name_that_stands_twice_is_not_used() -> None:
    """Which of two tenants a document belongs to is not guessed."""
    document = read("title: a\ntitle: b\ncategory: c\nscope:\n  tenant: x\n  tenant: y\n")
    assert (document.title, document.category, document.scope) == (None, "c", {})
    assert ["twice" in warning for warning in document.warnings] == [True, True]


def test_scope_values_that_no_scope_holds_are_left_out() -> None:
    """Each refused name is named; the others stay, with the type as written."""
    document = read(
        "scope:\n  source: x\n  doc_id: y\n  bad name: 1\n  list: [a]\n  none:\n  blank: ' '\n"
        "  bell: \"\\a\"\n  big: 99999999999999999999\n  date: 2024-01-01\n  no: no\n  text: '3'\n"
    )
    assert document.scope == {
        "big": "99999999999999999999",
        "date": "2024-01-01",
        "no": "no",
        "text": "3",
    }
    names = ("source", "doc_id", "bad name", "list", "none", "blank", "bell")
    assert all(any(repr(name) in warning for warning in document.warnings) for name in names)
    assert len(document.warnings) == len(names)


@pytest.mark.parametrize("front", ["scope: acme", "scope: [a]"])
def test_a_scope_that_is_no_mapping(front: str) -> None:
    """A scope without names is a warning."""
    document = read(front)
    assert document.scope == {}
    assert len(document.warnings) == 1


def test_control_characters_and_surrogates_are_refused() -> None:
    """No such character reaches an id, a store or a prompt."""
    document = read('id: "a\\0b"\ntitle: "\\ud800"\nkeywords: ["a\\e", fine]\n')
    assert (document.id, document.title, document.keywords) == (None, None, ("fine",))
    assert len(document.warnings) == 3


def test_wrong_kinds_are_warnings() -> None:
    """A list as a title and a mapping as keywords are not used."""
    document = read("title: [a]\nkeywords: {a: b}\nentities: [a, [b], 3, ~]\n")
    assert (document.title, document.keywords, document.entities) == (None, (), ("a", "3"))
    assert len(document.warnings) == 3


def test_tags_construct_nothing() -> None:
    """A YAML tag names a type of the program; it is passed over."""
    document = read("title: !!python/name:os.system a\nid: !!int '7'\n")
    assert (document.title, document.id) == ("a", "7")


@pytest.mark.parametrize(
    "front", [f"a: {'[' * 60_000}", "- " * 30_000, "{" + "a: b, " * 9_000 + "}", "a: b\n" * 200_000]
)
def test_time_is_bounded(front: str) -> None:
    """Large or nested blocks cost seconds at most."""
    began = time.perf_counter()
    assert read(front).warnings
    assert time.perf_counter() - began < 10
