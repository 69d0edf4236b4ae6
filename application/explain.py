"""Why a chunk is, or is not, in the answer to a query (R58)."""

import anyio
from attrs import evolve, frozen

from evidence_lookup.application.deep_search import DeepSearch
from evidence_lookup.application.guard import guarded
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import EvidenceLookupError, trace_error
from evidence_lookup.domain.explanation import (
    Absence,
    Explanation,
    Stage,
    Standing,
    check_key,
    documents_meant,
    exclusion,
    explain_absence,
    explain_run,
    is_evidence_key,
    is_of_documents,
    run_of_result,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.identity import parse_evidence_key
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, SearchCapabilities

_PARTS = (SearchMode.DENSE, SearchMode.KEYWORD)


@frozen
class Explain:
    """The use case: runs a lookup again, unrecorded, and looks for what it did not list."""

    lookup: Lookup
    catalogue: Catalogue

    async def explain(
        self,
        query: str,
        evidence_key: str,
        *,
        scope: Scope | None = None,
        mode: SearchMode | None = None,
    ) -> Explanation:
        """Where the chunk of *evidence_key* stands in the answer to *query*.

        A chunk that the lookup did not list is searched for as deep as the backend goes, in the
        same scope, for as long as one lookup may take. Of a document out of *scope* only the names
        of the scope's values that exclude it are told, which still says that it exists: a question
        of the host, not one that an agent may ask.

        Raises:
            CallerError: *evidence_key* is none.
            ScopeError: the settings require a scope value that *scope* lacks.
            EvidenceLookupError: the lookup got no answer.
        """
        scope, rules = scope or Scope(), self.lookup.rules
        scope.require(rules.required_scope)
        await self._check(evidence_key, scope)
        result, selected = await self.lookup.answer(query, scope=scope, mode=mode)
        if selected is not None and selected.error is not None:
            raise selected.error
        found = selected.found if selected is not None else None
        run = run_of_result(
            result, candidates=found.candidates if found else (), limits=rules.limits
        )
        explanation = explain_run(evidence_key, run)
        if explanation.stage is not Stage.NOT_RETRIEVED or not selected or not selected.request:
            return explanation
        absence = await self._absence(evidence_key, selected.request, self._deadline())
        return explain_absence(explanation, run, absence)

    def _deadline(self) -> float:
        return anyio.current_time() + self.lookup.rules.deadline_seconds

    async def _check(self, evidence_key: str, scope: Scope) -> None:
        if is_evidence_key(evidence_key):
            return
        name = evidence_key.partition("#")[0].strip()
        check_key(evidence_key, await self._meant(name, scope, self._deadline()))

    async def _document(
        self, doc_id: str, deadline: float
    ) -> tuple[CatalogueEntry | None, EvidenceLookupError | None]:
        try:
            with guarded(deadline=deadline):
                return (await self.catalogue.get([doc_id])).get(doc_id), None
        except EvidenceLookupError as error:
            return None, error

    async def _meant(self, name: str, scope: Scope, deadline: float) -> tuple[CatalogueEntry, ...]:
        if not name or not is_of_documents(scope):
            return ()
        try:
            with guarded(deadline=deadline):
                entries = await self.catalogue.entries()
        except EvidenceLookupError:
            return ()
        return documents_meant(name, (one for one in entries if not exclusion(one, scope)))

    async def _absence(
        self, evidence_key: str, request: KnowledgeSearchRequest, deadline: float
    ) -> Absence:
        document, failure = None, None
        parsed = parse_evidence_key(evidence_key) if is_of_documents(request.scope) else None
        if parsed is not None:
            doc_id, index = parsed
            document, failure = await self._document(doc_id, deadline)
            if document is not None:
                if excluded_by := exclusion(document, request.scope):
                    return Absence(excluded_by=excluded_by)
                if document.is_complete and index >= document.chunk_count:
                    return Absence(document, beyond_document=True)
        absence = Absence(
            document,
            is_of_document=parsed is not None,
            error=trace_error(failure) if failure else None,
        )
        try:
            with guarded(deadline=deadline):
                capabilities = await self.lookup.retriever.readiness.capabilities()
        except EvidenceLookupError as error:
            return evolve(absence, error=trace_error(error))
        deep = DeepSearch(
            self.lookup.retriever.search, evidence_key, capabilities.max_top_k, deadline
        )
        main = await _main(deep, request, document)
        unfiltered = request if main.hint_filter else evolve(request, hint_filter=None)
        others = await _others(deep, unfiltered, main, capabilities)
        absence = evolve(absence, main=main, others=others)
        if parsed is None or document is not None or failure is not None or absence.found:
            return absence
        return evolve(absence, meant=await self._meant(parsed[0], request.scope, deadline))


async def _main(
    deep: DeepSearch, request: KnowledgeSearchRequest, document: CatalogueEntry | None
) -> Standing:
    """In the lookup's own mode, and without the hints' filter if only that hides the chunk."""
    without = evolve(request, hint_filter=None)
    hint_filter = request.hint_filter
    if hint_filter is None:
        return await deep.standing(request)
    if document is not None and document.category != hint_filter.category:
        return await deep.standing(without)
    filtered = await deep.standing(request)
    if document is not None or filtered.rank is not None or filtered.error is not None:
        return filtered
    return await deep.standing(without)


async def _others(
    deep: DeepSearch,
    request: KnowledgeSearchRequest,
    main: Standing,
    capabilities: SearchCapabilities,
) -> tuple[Standing, ...]:
    """In the modes that the main one is made of; in the dense one where it is the keyword one."""
    wanted = {SearchMode.HYBRID: _PARTS, SearchMode.KEYWORD: (SearchMode.DENSE,)}
    standings: list[Standing] = []
    for mode in wanted.get(main.mode, ()):
        if mode in capabilities.modes and main.error is None:
            standing = await deep.standing(evolve(request, mode=mode))
            standings += [standing] if standing.mode is mode else []
    return tuple(standings)
