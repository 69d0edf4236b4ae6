"""Citations that are data rather than text: JSON answers and the structures of model vendors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from attrs import evolve, frozen

from evidence_lookup.domain.evidence_guard.key_grammar import WHOLE_KEY

Json: TypeAlias = Any

_ID_FIELDS = ("document_id", "document_ids", "evidence_key", "evidence_keys")
_QUOTE_FIELDS = ("quote", "quotes", "cited_text", "quoted_text", "excerpt")
_LISTS_OF_KEYS = frozenset(
    {"citations", "sources", "references", "evidence", "evidence_ids", "chunk_ids", "source_ids"}
)
_ANTHROPIC_FIELDS = {
    "search_result_location": ("source", "title"),
    "web_search_result_location": ("url", "title"),
    "char_location": ("document_title", "file_id"),
    "page_location": ("document_title", "file_id"),
    "content_block_location": ("document_title", "file_id"),
}
_OPENAI_FIELDS = {"file_citation": ("file_id", "filename"), "url_citation": ("url", "title")}
_MOST_IDS = 20  # of one object, that a quote is sought in
_INDEX_FIELDS = ("document_index", "search_result_index")


@frozen
class StructuredCitation:
    """A citation that is data: what may be its key, the best first, and what it quotes.

    `candidates` are empty where only a position is given, which is then `position`. Where the
    quotes stand beside several ids, these are `ids`, of which this is that of `number`.
    """

    path: str
    candidates: tuple[str, ...]
    position: str | None = None
    quotes: tuple[tuple[str, str], ...] = ()
    start: int | None = None
    end: int | None = None
    ids: tuple[str, ...] = ()
    number: int = 0


@frozen
class AnswerText:
    """A text of the answer, with the citations of its own that a vendor's structure attaches.

    `may_be_key` says that the whole text may be a key, as an item of a list of sources is.
    """

    path: str
    text: str
    citations: tuple[StructuredCitation, ...] = ()
    may_be_key: bool = False


Part: TypeAlias = StructuredCitation | AnswerText
_Pending: TypeAlias = tuple[Json, str, bool]


def parts_of(answer: Json, path: str = "$") -> Iterator[Part]:
    """The citations and texts of a JSON value, in its order.

    - An object with `document_id`, `document_ids`, `evidence_key` or `evidence_keys`, at any
      depth: each text or number there is a citation. Its `quote`, `quotes`, `cited_text`,
      `quoted_text` or `excerpt` is quoted, from whichever of several ids holds it. An object with
      a quote and none of these names has its id in any text that has the form of a key.
    - Anthropic's citations (objects whose `type` is ``char_location``, ``page_location``,
      ``content_block_location``, ``search_result_location`` or ``web_search_result_location``).
      The host gives the evidence key as the `source` of a search result block or the `title` of
      a document block, so it comes back in `source` or `document_title`; `title`, `file_id` and
      `url` are looked at after these. `cited_text` is quoted. One that has only a
      `document_index` is a position.
    - OpenAI's annotations: ``file_citation`` with `file_id`, then `filename` (the host names its
      files by evidence key), and ``url_citation`` with `url`, then `title`; flat, as the
      Responses API has them, or nested, as chat completions and the Assistants API do. `quote`
      is quoted. What stands between `start_index` and `end_index` is the model's own words or
      the mark of the citation: it is no quotation, and no reference of its own.
      ``container_file_citation`` and ``file_path`` name files that the model made: no citations.
    - The answer as a list of texts is a list of document ids, unless none of them looks like a
      key and one has white space.
    - Every other text is an answer's text. In a list called `sources`, `citations`, `references`,
      `evidence` or the like, a text may be a key as a whole.
    """
    pending: list[_Pending] = [(answer, path, False)]
    while pending:
        value, place, may_be_key = pending.pop()
        if isinstance(value, StructuredCitation | AnswerText):
            yield value
        elif isinstance(value, str):
            yield AnswerText(place, value, may_be_key=may_be_key)
        elif (named := as_object(value)) is not None:
            pending += reversed(_of_object(named, place))
        elif (items := as_list(value)) is not None:
            pending += [
                (items[i], f"{place}[{i}]", may_be_key) for i in range(len(items) - 1, -1, -1)
            ]


def as_object(value: Json) -> Mapping[str, Json] | None:
    """*value* if it is a JSON object, else None."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else None


def as_list(value: Json) -> Sequence[Json] | None:
    """*value* if it is a JSON list, else None."""
    return cast("Sequence[Json]", value) if isinstance(value, list | tuple) else None


def _of_object(value: Mapping[str, Json], path: str) -> list[_Pending]:
    """The citations and texts of an object, and its values that are still to be read."""
    citation = _vendor_citation(value, path)
    if citation is not None:
        return [] if citation == _NO_CITATION else [(citation, path, False)]
    annotated, done = _annotated_text(value, path)
    found: list[_Pending] = [(each, path, False) for each in annotated]
    quotes = tuple(_texts(value, _QUOTE_FIELDS, path))
    id_names = [name for name in value if name in _ID_FIELDS]
    if quotes and not id_names:
        id_names = [name for name, each in value.items() if _is_quoted_id(name, each)]
    cited = {name: list(_id_citations(value[name], f"{path}.{name}")) for name in id_names}
    ids = tuple("".join(one.candidates) for each in cited.values() for one in each)[:_MOST_IDS]
    number = 0
    for name, each in value.items():
        for one in cited.get(name, ()):
            if quotes and number < _MOST_IDS:
                one = evolve(one, quotes=quotes, ids=ids, number=number)
            found.append((one, one.path, False))
            number += 1
        if name not in cited and name not in done and not (cited and name in _QUOTE_FIELDS):
            found.append((each, f"{path}.{name}", name in _LISTS_OF_KEYS))
    return found


def _is_quoted_id(name: str, value: Json) -> bool:
    is_key = isinstance(value, str) and WHOLE_KEY.fullmatch(value.strip()) is not None
    return is_key and name not in _QUOTE_FIELDS


_NO_CITATION = StructuredCitation("", ())


def _vendor_citation(value: Mapping[str, Json], path: str) -> StructuredCitation | None:
    """The citation that *value* is, `_NO_CITATION` if it is to be passed over, or None."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return None
    if kind in ("container_file_citation", "file_path"):
        return _NO_CITATION
    fields = _ANTHROPIC_FIELDS.get(kind) or _OPENAI_FIELDS.get(kind)
    if fields is None:
        return None
    details = {**value, **(as_object(value.get(kind)) or {})}
    candidates = tuple(
        one for name in fields if isinstance(one := details.get(name), str) and one.strip()
    )
    index = next((details[name] for name in _INDEX_FIELDS if name in details), None)
    start, end = details.get("start_index"), details.get("end_index")
    if start is None and isinstance(details.get("index"), int):
        start = end = details["index"]
    has_place = _is_place(start) and _is_place(end)
    return StructuredCitation(
        path=path,
        candidates=candidates,
        position=None if candidates else f"{kind} {'' if index is None else index}".strip(),
        quotes=tuple(_texts(details, ("cited_text", "quote"), path)),
        start=start if has_place else None,
        end=end if has_place else None,
    )


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _annotated_text(value: Mapping[str, Json], path: str) -> tuple[list[Part], set[str]]:
    """A text with the citations that stand beside it, and the names that this took."""
    for text_name, names in (("text", ("citations", "annotations")), ("value", ("annotations",)),
                             ("content", ("annotations",))):  # fmt: skip
        text = value.get(text_name)
        name = next((one for one in names if as_list(value.get(one)) is not None), None)
        if not isinstance(text, str) or name is None:
            continue
        beside = as_list(value[name]) or ()
        found = [
            citation
            for index, each in enumerate(beside)
            if (named := as_object(each)) is not None
            and (citation := _vendor_citation(named, f"{path}.{name}[{index}]")) is not None
        ]
        if not found and beside:
            continue  # citations of another kind
        cited = tuple(one for one in found if one != _NO_CITATION)
        return [AnswerText(f"{path}.{text_name}", text, cited)], {text_name, name}
    return [], set()


def _texts(value: Mapping[str, Json], names: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    for name in names:
        each = value.get(name)
        if isinstance(each, str) and each.strip():
            yield f"{path}.{name}", each
        else:
            for index, one in enumerate(as_list(each) or ()):
                if isinstance(one, str) and one.strip():
                    yield f"{path}.{name}[{index}]", one


def _id_citations(value: Json, path: str) -> Iterator[StructuredCitation]:
    if isinstance(value, str):
        yield StructuredCitation(path, (value,))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield StructuredCitation(path, (), position=str(value))
    else:
        for index, each in enumerate(as_list(value) or ()):
            if isinstance(each, str | int | float):
                yield from _id_citations(each, f"{path}[{index}]")
