"""The same chunks and questions on several adapters: is the evidence the same?

The rules, with the first path as the reference:

- Dense, exact: the lists agree place by place. Two keys may stand in each other's places, and the
  last ones be left out for others, only where their similarities differ by at most `TIE`; and both
  paths give one key the same similarity, within `TIE`.
- Dense, approximate (a graph index): the first hits agree likewise, and on average 95 % of the
  keys are the same.
- Keyword: between paths of the same `terms` the keys found are the same set. Paths that cut texts
  into words by other rules find other texts; how many they share is told, and not judged.
- Hybrid: between paths of the same `terms` on average 90 % of the keys are the same, since each
  backend counts words in its own way, and so orders the keyword list differently.
- In each mode every hit is in the request's scope.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from attrs import field, frozen

from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.identity import identify
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.response_check import check_response

TIE = 1e-5
"""The difference of two similarities, 0 to 1, up to which they are equal."""
LEAST_OVERLAP = {SearchMode.DENSE: 0.95, SearchMode.HYBRID: 0.9}
"""The share of keys that two answers must have in common, on average over all requests."""
_FIRST = "first"


@frozen
class CongruentPath:
    """An adapter to compare.

    `open` gives it where no collection is yet, and removes what was made. `is_exact` says that it
    compares a query with every vector. Paths of the same `terms` cut texts into the same words.
    """

    open: Callable[[], AbstractAsyncContextManager[Knowledge]]
    is_exact: bool = True
    terms: str = ""


@frozen
class Answer:
    """The evidence keys of one response, best first, with their similarities, 0 to 1."""

    request: KnowledgeSearchRequest
    keys: tuple[str, ...]
    similarities: Mapping[str, float | None]


@frozen
class Agreement:
    """How far one path agrees with the reference in one mode; `overlap` is a mean, 0 to 1."""

    overlap: float
    differences: tuple[str, ...] = field(factory=tuple)


async def check_congruence(
    paths: Mapping[str, CongruentPath],
    chunks: Sequence[EmbeddedChunk],
    requests: Sequence[KnowledgeSearchRequest],
    *,
    model: str,
) -> dict[tuple[str, SearchMode], Agreement]:
    """Assert that *paths* give the same evidence by the rules above; the figures come back.

    A path is not asked in a mode that it lacks. *requests* of the keyword mode should have a
    `top_k` that cuts nothing off.
    """
    answers = {
        name: await _answers(path, chunks, requests, model=model) for name, path in paths.items()
    }
    first, figures = next(iter(paths)), dict[tuple[str, SearchMode], Agreement]()
    for name in paths:
        for mode in SearchMode:
            peer = _peer(paths, name, mode)
            agreement = _agreement(answers[peer or first], answers[name], mode)
            if agreement is not None:
                figures[name, mode] = agreement
            if agreement is not None and peer is not None:
                told = f"{name} against {peer}, {mode}: overlap {agreement.overlap:.3f}"
                _check(agreement, mode, is_exact=paths[name].is_exact, told=told)
    return figures


def _peer(paths: Mapping[str, CongruentPath], name: str, mode: SearchMode) -> str | None:
    """The path before *name* that must agree with it in *mode*, if there is one."""
    for other, path in paths.items():
        if other == name:
            return None
        if mode is SearchMode.DENSE or path.terms == paths[name].terms:
            return other
    return None


def _check(agreement: Agreement, mode: SearchMode, *, is_exact: bool, told: str) -> None:
    if mode is SearchMode.KEYWORD or (mode is SearchMode.DENSE and is_exact):
        assert not agreement.differences, "\n".join([told, *agreement.differences])
        return
    firsts = [one for one in agreement.differences if one.startswith(_FIRST)]
    assert not firsts, "\n".join([told, *firsts])
    assert agreement.overlap >= LEAST_OVERLAP[mode], told


async def _answers(
    path: CongruentPath,
    chunks: Sequence[EmbeddedChunk],
    requests: Sequence[KnowledgeSearchRequest],
    *,
    model: str,
) -> list[Answer]:
    async with path.open() as knowledge:
        await knowledge.prepare(model=model, dimension=len(chunks[0].vector))
        await knowledge.upsert(chunks)
        modes = (await knowledge.probe()).modes
        answers: list[Answer] = []
        for request in requests:
            if request.mode in modes:
                response = await knowledge.search(request)
                check_response(response, request)
                answers.append(_answer(request, response.hits))
        return answers


def _answer(request: KnowledgeSearchRequest, hits: Sequence[KnowledgeSearchHit]) -> Answer:
    keys = [
        identify(hit.metadata, hit_id=hit.id, original_rank=rank).evidence_key
        for rank, hit in enumerate(hits, start=1)
    ]
    similarities = [
        None if hit.similarity_score is None else hit.similarity_score.similarity for hit in hits
    ]
    return Answer(request, tuple(keys), dict(zip(keys, similarities, strict=True)))


def _agreement(
    left: Sequence[Answer], right: Sequence[Answer], mode: SearchMode
) -> Agreement | None:
    pairs = [
        (a, b)
        for a in left
        for b in right
        if a.request is b.request and a.request.mode is mode and (a.keys or b.keys)
    ]
    if not pairs:
        return None
    shares = [len({*a.keys} & {*b.keys}) / max(len(a.keys), len(b.keys)) for a, b in pairs]
    differences: list[str] = []
    for a, b in pairs:
        found = _dense_differences(a, b) if mode is SearchMode.DENSE else _set_differences(a, b)
        differences.extend(f"{one} ({a.request.query!r})" for one in found)
    return Agreement(sum(shares) / len(shares), tuple(differences))


def _dense_differences(a: Answer, b: Answer) -> Iterator[str]:
    if len(a.keys) != len(b.keys):
        yield f"{len(a.keys)} and {len(b.keys)} hits"
        return
    for rank, (one, other) in enumerate(zip(a.keys, b.keys, strict=True), start=1):
        if not _tied(a.similarities[one], b.similarities[other]):
            place = _FIRST if rank == 1 else f"place {rank}"
            yield f"{place}: {one} and {other}"
    for key in a.similarities.keys() & b.similarities.keys():
        if not _tied(a.similarities[key], b.similarities[key]):
            yield f"similarity of {key}: {a.similarities[key]} and {b.similarities[key]}"


def _set_differences(a: Answer, b: Answer) -> Iterator[str]:
    for key in sorted({*a.keys} ^ {*b.keys}):
        yield f"only one of two has {key}"


def _tied(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= TIE
