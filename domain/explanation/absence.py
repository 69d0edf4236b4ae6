"""Why the selected attempt did not list a chunk, from what was asked about it since."""

from collections.abc import Sequence

from attrs import evolve, frozen

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.explanation.explanation import Explanation
from evidence_lookup.domain.explanation.key import chunk_keys
from evidence_lookup.domain.explanation.run import Run
from evidence_lookup.domain.explanation.stage import Stage
from evidence_lookup.domain.explanation.standing import Standing
from evidence_lookup.domain.explanation.steps import steps_to
from evidence_lookup.domain.explanation.wording import against_floor, compared, listed
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.trace import Attempt

# What a chunk has and its catalogue entry has not.
_OF_CHUNKS = frozenset(
    {"chunk_index", "chunkIndex", "docId", "breadcrumb", "keywords", "entities", "start", "end"}
)


@frozen
class Absence:
    """What is known of a chunk that the selected attempt did not list.

    `document` is what the catalogue has of its document; `is_of_document` is off where it was not
    asked: for a key of a store's own id, which names none, and within a scope that no entry can be
    judged by. `excluded_by` are the names of the scope's values that exclude
    the document; then nothing else is known, as nothing else may be told. `beyond_document` says
    that the document ends before the chunk. `main` is the chunk's standing in the lookup's own
    mode, `others` those in the modes of which that is made, or beside it. `meant` are documents in
    scope that an unknown one may mean. `error` says why catalogue or backend could not be asked.
    """

    document: CatalogueEntry | None = None
    is_of_document: bool = True
    excluded_by: tuple[str, ...] = ()
    beyond_document: bool = False
    main: Standing | None = None
    others: tuple[Standing, ...] = ()
    meant: tuple[CatalogueEntry, ...] = ()
    error: TraceError | None = None

    @property
    def found(self) -> Standing | None:
        """The first standing whose list holds the chunk."""
        return next((one for one in self.standings if one.rank is not None), None)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """All, the one in the lookup's own mode first."""
        return (*((self.main,) if self.main else ()), *self.others)


def is_of_documents(scope: Scope) -> bool:
    """Whether a document's catalogue entry tells if its chunks are in *scope*.

    It does not where the scope is on what chunks have of their own, as their headings; then
    nothing of any entry may be told.
    """
    return not _OF_CHUNKS & scope.values.keys()


def exclusion(document: CatalogueEntry, scope: Scope) -> tuple[str, ...]:
    """The names in *scope*, which is of documents, whose values exclude *document*."""
    metadata = document.metadata()
    return tuple(
        name for name, value in scope.values.items() if not Scope({name: value}).allows(metadata)
    )


def explain_absence(explanation: Explanation, run: Run, absence: Absence) -> Explanation:
    """*explanation*, which is ``not_retrieved``, with what *absence* tells."""
    attempt = run.attempt
    if attempt is None or explanation.stage is not Stage.NOT_RETRIEVED:
        return explanation
    if absence.excluded_by:
        names = listed(absence.excluded_by)
        told = f"The scope excludes its document, by its value of {names}."
        return _with(explanation, Stage.FILTERED, told, run, absence)
    if absence.beyond_document and absence.document is not None:
        there = "no chunk"
        if absence.document.chunk_count:
            there = f"the chunks {chunk_keys(absence.document)} only"
        told = f"There is no such chunk: its document has {there}."
        return _with(explanation, Stage.NOT_INDEXED, told, run, absence)
    found = absence.found
    category = _category(absence)
    if attempt.hint_filter is not None and (found or absence.document):
        is_other = category != attempt.hint_filter
        if is_other and (found is None or found.hint_filter is None):
            told = _other_category(attempt, category, run, absence)
            return _with(explanation, Stage.FILTERED, told, run, absence)
    if found is None and _is_nowhere(absence):
        return _with(explanation, Stage.NOT_INDEXED, _nowhere(run, absence), run, absence)
    told = _not_retrieved(explanation, attempt, absence)
    return _with(explanation, Stage.NOT_RETRIEVED, told, run, absence)


def _with(
    explanation: Explanation, stage: Stage, message: str, run: Run, absence: Absence
) -> Explanation:
    found, attempt = absence.found, run.attempt
    place = absence.main if absence.main and absence.main.rank else None
    similarity = found.similarity if found else None
    is_there = found is not None or absence.document is not None or bool(absence.excluded_by)
    details = {
        Stage.NOT_INDEXED: "not known to the catalogue"
        if absence.is_of_document and not is_there
        else "",
        Stage.FILTERED: f"scope: {listed(absence.excluded_by)}" if absence.excluded_by else "",
    }
    if stage is Stage.FILTERED and attempt and attempt.hint_filter and not absence.excluded_by:
        details[Stage.FILTERED] = f"hints: category {attempt.hint_filter}"
    if place and attempt:
        details[Stage.NOT_RETRIEVED] = f"rank {place.rank}, {attempt.top_k} asked for"
    elif attempt and absence.main and stage is Stage.NOT_RETRIEVED:
        details[Stage.NOT_RETRIEVED] = (
            f"not in the {absence.main.mode} list, read to {absence.main.depth}"
        )
    if similarity is not None and explanation.floor is not None:
        details[Stage.BELOW_FLOOR] = against_floor(similarity, explanation.floor)
    is_in = found is not None or (absence.document is not None and not run.scope)
    unknown = [*([] if is_there else [Stage.NOT_INDEXED]), *([] if is_in else [Stage.FILTERED])]
    return evolve(
        explanation,
        stage=stage,
        message=message,
        setting=_setting(stage, explanation, absence),
        rank=place.rank if place else None,
        score=place.score if place else None,
        similarity=similarity,
        excluded_by=absence.excluded_by,
        standings=absence.standings,
        steps=steps_to(stage, details, unknown=unknown),
    )


def _setting(stage: Stage, explanation: Explanation, absence: Absence) -> str | None:
    if stage is not Stage.NOT_RETRIEVED:
        return None
    main = absence.main
    if main is not None and main.rank is None and main.is_whole:
        return "rag.mode"
    return explanation.setting or "rag.retrieve-k"


def _category(absence: Absence) -> str | None:
    if absence.document is not None:
        return absence.document.category
    return absence.found.category if absence.found else None


def _other_category(attempt: Attempt, category: str | None, run: Run, absence: Absence) -> str:
    its = "it has none" if category is None else f"it is of {category!r}"
    told = f"The hints narrowed the search to category {attempt.hint_filter!r}, and {its}."
    found = absence.found
    if found is not None:
        told += f" Without that filter it has rank {found.rank} of the {found.mode} list."
    if run.trace.fallback_reason is not None:
        told += " The attempt without it ran too, and nothing of that was accepted."
    return told


def _is_nowhere(absence: Absence) -> bool:
    """Whether a list of every chunk in scope lacks it; a list of words holds what shares some."""
    return any(one.is_whole and one.mode is not SearchMode.KEYWORD for one in absence.standings)


def _nowhere(run: Run, absence: Absence) -> str:
    within = f" in the scope ({', '.join(run.scope)})" if run.scope else ""
    where = f"the index has no such chunk{within}"
    if absence.document is not None:
        return (
            f"The catalogue knows its document, but {where}: ingest it again "
            "(`evidence-lookup ingest --rebuild`)."
        )
    if not absence.is_of_document or absence.error is not None:
        return f"{where[0].upper()}{where[1:]}."
    meant = [one.doc_id for one in absence.meant]
    told = f" Was a chunk of {listed(meant, 'or')} meant?" if meant else ""
    return f"The catalogue does not know its document, and {where}.{told}"


def _not_retrieved(explanation: Explanation, attempt: Attempt, absence: Absence) -> str:
    main, found = absence.main, absence.found
    asked = f"{attempt.top_k} hits are asked for (rag.retrieve-k)"
    if main is None:
        told = explanation.message
    elif main.rank is None:
        told = _beyond(main, asked)
    elif main.rank > attempt.top_k:
        told = f"Rank {main.rank} of the {main.mode} list, and {asked}."
    else:
        told = (
            f"Not among the {attempt.top_k} hits that were asked for (rag.retrieve-k), though a "
            f"search of {main.depth} has it at rank {main.rank}."
        )
    if found is None and absence.is_of_document and absence.document is None and not absence.error:
        told += " The catalogue does not know its document."
    if main is not None and main.rank is not None and main.mode is SearchMode.HYBRID:
        told += f" Fused ranks move with the depth; that search asked for {main.depth} hits."
    for one in absence.others:
        if one.rank is not None:
            told += f" {one.mode.capitalize()} rank: {one.rank}."
        elif one.is_whole and one.mode is SearchMode.KEYWORD:
            told += " Keyword: no hit, as it shares no word with the query."
        else:
            told += f" {one.mode.capitalize()}: not in the first {one.depth}."
    if found and found.similarity is not None and explanation.floor is not None:
        near, floor = compared(found.similarity, explanation.floor)
        if found.similarity < explanation.floor:
            told += (
                f" Retrieved, its similarity {near} would still be below the evidence floor "
                f"{floor} (rag.evidence-floor)."
            )
        else:
            told += f" Its similarity {near} would pass the evidence floor {floor}."
    errors: Sequence[TraceError] = [
        error for error in (absence.error, *(one.error for one in absence.standings)) if error
    ]
    if errors:
        told += f" More could not be found out: {errors[0].kind}: {errors[0].message}"
    return told


def _beyond(main: Standing, asked: str) -> str:
    if main.error is not None:
        return f"Not in the first {main.depth} of the {main.mode} list; {asked}."
    if main.is_whole and main.mode is SearchMode.KEYWORD:
        return f"The {main.mode} list of {main.count} hits does not hold it (rag.mode)."
    return (
        f"Beyond rank {main.depth} of the {main.mode} list, as deep as the backend searches; "
        f"{asked}."
    )
