"""What a query matched in the catalogue (R13 to R18)."""

import time
from typing import Any

import pytest

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hints import HintTerm, HintTermKind, QueryHints, hint_terms, hints_from


def entry(doc_id: str = "redis", *, title: str = "Redis Sentinel", **more: Any) -> CatalogueEntry:
    """An entry of the catalogue."""
    return CatalogueEntry(doc_id=doc_id, source="s", root="/", title=title, **more)


def term(text: str, kind: HintTermKind, title: str = "T", category: str | None = None) -> HintTerm:
    """A term that points to *title*."""
    return HintTerm(text.casefold(), text, kind, title, category)


def test_R13_matches_give_titles_keywords_domains_and_entities() -> None:
    """Each kind of match stands in its own list, in order of first match, without repeats."""
    hints = hints_from(
        [
            term("Redis", HintTermKind.KEYWORD, "Redis Sentinel", "databases"),
            term("quorum", HintTermKind.ENTITY, "Redis Sentinel", "databases"),
            term("VPN", HintTermKind.KEYWORD, "Tunnels", "network"),
            term("Redis", HintTermKind.KEYWORD, "Redis Cluster", "databases"),
        ]
    )
    assert hints == QueryHints(
        matched_titles=("Redis Sentinel", "Tunnels", "Redis Cluster"),
        matched_keywords=("Redis", "VPN"),
        domains=("databases", "network"),
        entities=("quorum",),
    )


def test_R13_a_title_or_heading_names_its_document_and_is_no_keyword() -> None:
    """A match by title or heading gives the title only; a heading chooses no domain."""
    titled = hints_from([term("T", HintTermKind.TITLE, "T", "a")])
    headed = hints_from([term("H", HintTermKind.HEADING, "T", "a")])
    assert titled == QueryHints(matched_titles=("T",), domains=("a",))
    assert headed == QueryHints(matched_titles=("T",))


def test_R13_terms_are_the_entrys_keywords_entities_title_and_headings() -> None:
    """Each term is folded for comparison and keeps its own text, kind, title and category."""
    one = entry(
        category="databases", keywords=(" Ｒedis ",), entities=("Quorum",), headings=("Fail-over",)
    )
    found = [(t.normalised, t.text, t.kind.value) for t in hint_terms([one])]
    assert found == [
        ("redis", "Ｒedis", "keyword"),
        ("quorum", "Quorum", "entity"),
        ("redis sentinel", "Redis Sentinel", "title"),
        ("fail-over", "Fail-over", "heading"),
    ]
    assert {(t.title, t.category) for t in hint_terms([one])} == {("Redis Sentinel", "databases")}


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
def test_R13_a_blank_term_is_none(blank: str) -> None:
    """Nothing would match everything, so a blank keyword or heading is left out."""
    terms = hint_terms([entry(keywords=(blank,), entities=(blank,), headings=(blank,))])
    assert [t.text for t in terms] == ["Redis Sentinel"]


def test_R13_a_heading_that_many_documents_share_says_nothing() -> None:
    """Three documents may share a heading, at four it is left out; their titles stay."""
    entries = [entry(f"d{n}", title=f"Title {n}", headings=("Impact",)) for n in range(4)]
    headings = [t for t in hint_terms(entries[:3]) if t.kind is HintTermKind.HEADING]
    assert [t.title for t in headings] == ["Title 0", "Title 1", "Title 2"]
    assert [t.text for t in hint_terms(entries)] == ["Title 0", "Title 1", "Title 2", "Title 3"]


def test_R13_a_title_that_many_documents_share_says_nothing() -> None:
    """Documents are counted, not titles: four files titled README are four."""
    entries = [entry(f"d{n}", title="README") for n in range(4)]
    assert len(hint_terms(entries[:3])) == 3
    assert hint_terms(entries) == ()


def test_R13_a_heading_repeated_in_one_document_is_not_shared() -> None:
    """A document counts once however often it repeats a heading."""
    one = entry(headings=("Step",) * 5)
    assert sum(t.kind is HintTermKind.HEADING for t in hint_terms([one])) == 5


def test_R13_keywords_and_entities_count_however_many_share_them() -> None:
    """Front matter is meant: ten documents with one keyword all keep it."""
    entries = [
        entry(f"d{n}", title=f"Title {n}", keywords=("redis",), entities=("q",)) for n in range(10)
    ]
    kinds = [t.kind for t in hint_terms(entries)]
    assert kinds.count(HintTermKind.KEYWORD) == 10
    assert kinds.count(HintTermKind.ENTITY) == 10


def test_R16_one_domain_is_the_filter() -> None:
    """Exactly one domain, from however many matches, becomes the filter."""
    terms = [term(t, HintTermKind.KEYWORD, t, " databases ") for t in ("redis", "postgres")]
    assert hints_from(terms).filter == HintFilter("databases")


def test_R16_a_blank_category_is_no_domain() -> None:
    """Blank or missing categories neither make nor spoil a filter."""
    terms = [
        term("a", HintTermKind.KEYWORD, "A", " "),
        term("b", HintTermKind.KEYWORD, "B", None),
        term("c", HintTermKind.KEYWORD, "C", "databases"),
    ]
    assert hints_from(terms).domains == ("databases",)
    assert hints_from(terms).filter == HintFilter("databases")


@pytest.mark.parametrize("categories", [(), (None,), ("databases", "network")])
def test_R17_no_domain_or_several_give_no_filter(categories: tuple[str | None, ...]) -> None:
    """Where the hints do not agree on one domain nothing is filtered."""
    terms = [term(f"k{n}", HintTermKind.KEYWORD, "T", c) for n, c in enumerate(categories)]
    assert hints_from(terms).filter is None


def test_R17_a_heading_of_another_domain_does_not_spoil_the_filter() -> None:
    """A heading is too weak to choose a domain, and so to contradict one."""
    terms = [
        term("redis", HintTermKind.KEYWORD, "A", "databases"),
        term("impact", HintTermKind.HEADING, "B", "network"),
    ]
    assert hints_from(terms).filter == HintFilter("databases")


def test_R20_hints_took_part_when_anything_matched() -> None:
    """No match is no hint; a title, a keyword or an entity alone is one."""
    assert not QueryHints()
    assert not hints_from([])
    assert QueryHints(matched_titles=("T",))
    assert QueryHints(matched_keywords=("k",))
    assert QueryHints(entities=("e",))


def test_R26_a_term_is_in_scope_as_its_document_is() -> None:
    """A term of another tenant's document is out, and an empty scope leaves every term in."""
    terms = hint_terms([entry(keywords=("redis",), scope={"tenant": "acme", "level": 1})])
    assert len(terms) == 2
    for one in terms:
        assert one.is_in(Scope({"tenant": "acme", "doc_id": "redis"}))
        assert one.is_in(Scope())
        assert not one.is_in(Scope({"tenant": "evil"}))
        assert not one.is_in(Scope({"tenant": "acme", "level": True}))
    assert not term("x", HintTermKind.KEYWORD).is_in(Scope({"tenant": "acme"}))


def test_hints_are_bounded_kind_by_kind() -> None:
    """For a trace the first of each kind are kept."""
    many = QueryHints(("a", "b", "c"), ("d", "e", "f"), ("g", "h", "i"), ("j", "k", "l"))
    assert many.bounded(2) == QueryHints(("a", "b"), ("d", "e"), ("g", "h"), ("j", "k"))
    assert many.bounded(3) == many


def test_a_large_catalogue_takes_linear_time() -> None:
    """A hundred thousand terms are made and matched in seconds."""
    entries = [
        entry(
            f"d{n}",
            title="Same" if n % 2 else f"T {n}",
            keywords=tuple(f"k{n}-{i}" for i in range(9)),
        )
        for n in range(10_000)
    ]
    started = time.perf_counter()
    terms = hint_terms(entries)
    hints = hints_from(terms)
    assert time.perf_counter() - started < 5
    assert len(hints.matched_keywords) == 90_000
    assert len(terms) == 95_000
