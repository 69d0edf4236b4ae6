"""What the query matched in the catalogue: hints, never evidence (R13 to R18)."""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.text import normalise

_MAX_DOCUMENTS_PER_WEAK_TERM = 3


class HintTermKind(StrEnum):
    """Where in a catalogue entry a term stands."""

    KEYWORD = "keyword"
    ENTITY = "entity"
    TITLE = "title"
    HEADING = "heading"


@frozen
class HintTerm:
    """A term that, found in a query, points to a document. `normalised` is what is compared.

    `document` is the document's own metadata, as pairs, for a scope to judge.
    """

    normalised: str
    text: str
    kind: HintTermKind
    title: str
    category: str | None
    document: tuple[tuple[str, str | int | bool], ...] = ()

    def is_in(self, scope: Scope) -> bool:
        """Whether the document is one that *scope* lets its caller see."""
        return not scope or scope.allows(dict(self.document))


@frozen
class QueryHints:
    """What a query matched, each list in order of first match, without repeats.

    `domains` are the categories of entries that matched by keyword, entity or title; a heading
    alone is too weak to choose a domain.
    """

    matched_titles: tuple[str, ...] = ()
    matched_keywords: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matched_titles or self.matched_keywords or self.entities)

    def bounded(self, most: int) -> "QueryHints":
        """These hints with at most *most* of each kind, for a trace."""
        return QueryHints(
            self.matched_titles[:most],
            self.matched_keywords[:most],
            self.domains[:most],
            self.entities[:most],
        )

    @property
    def filter(self) -> HintFilter | None:
        """The one domain that the hints agree on, as a filter; None for no or several domains."""
        return HintFilter(self.domains[0]) if len(self.domains) == 1 else None


def hint_terms(entries: Iterable[CatalogueEntry]) -> tuple[HintTerm, ...]:
    """The terms of *entries*: keywords and entities first, then titles and headings.

    Keywords and entities always count. Titles and headings are weaker: one that more than three
    documents share ("Impact", "Overview") says nothing and is left out.
    """
    terms: list[HintTerm] = []
    weak: defaultdict[str, list[tuple[str, HintTerm]]] = defaultdict(list)
    for entry in entries:
        document = tuple(sorted(entry.metadata().items()))
        for kind, texts in (
            (HintTermKind.KEYWORD, entry.keywords),
            (HintTermKind.ENTITY, entry.entities),
            (HintTermKind.TITLE, (entry.title,)),
            (HintTermKind.HEADING, entry.headings),
        ):
            for text in texts:
                key = normalise(text).strip()
                term = HintTerm(
                    key, text.strip(), kind, entry.title, entry.category or None, document
                )
                if not key:
                    continue
                if kind in (HintTermKind.TITLE, HintTermKind.HEADING):
                    weak[key].append((entry.doc_id, term))
                else:
                    terms.append(term)
    for shared in weak.values():
        if len({doc_id for doc_id, _ in shared}) <= _MAX_DOCUMENTS_PER_WEAK_TERM:
            terms.extend(term for _, term in shared)
    return tuple(terms)


def hints_from(matches: Iterable[HintTerm]) -> QueryHints:
    """The hints that *matches* give, in their order."""
    titles: dict[str, None] = {}
    keywords: dict[str, None] = {}
    entities: dict[str, None] = {}
    domains: dict[str, None] = {}
    for term in matches:
        titles[term.title] = None
        if term.kind is HintTermKind.KEYWORD:
            keywords[term.text] = None
        elif term.kind is HintTermKind.ENTITY:
            entities[term.text] = None
        if term.kind is not HintTermKind.HEADING and term.category and term.category.strip():
            domains[term.category.strip()] = None
    return QueryHints(tuple(titles), tuple(keywords), tuple(domains), tuple(entities))
