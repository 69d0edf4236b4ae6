"""The second and third step: one or two attempts, each searched and post-processed."""

from attrs import evolve, frozen

from evidence_lookup.application.guard import guarded
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.query_transform import TransformedQuery
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.stopwatch import Stopwatch
from evidence_lookup.domain.candidate import Candidate, best_similarity, candidates_from
from evidence_lookup.domain.comparison import ComparedPath
from evidence_lookup.domain.errors import (
    EvidenceLookupError,
    SchemaMismatchError,
    ScopeError,
    trace_error,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.rerank import RankedCandidate, rerank
from evidence_lookup.domain.selection import Drop, select
from evidence_lookup.domain.status import is_usable
from evidence_lookup.domain.text import cut
from evidence_lookup.domain.trace import Attempt, FallbackReason, QueryCut
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    SearchCapabilities,
)


@frozen
class Outcome:
    """One attempt with what came of it; `error` is set where it failed.

    `found` is what the port gave for `request`, before selection; None where it failed.
    """

    attempt: Attempt
    accepted: tuple[RankedCandidate, ...] = ()
    drops: tuple[Drop, ...] = ()
    warnings: tuple[str, ...] = ()
    error: EvidenceLookupError | None = None
    request: KnowledgeSearchRequest | None = None
    found: ComparedPath | None = None

    def is_usable(self, rules: LookupRules) -> bool:
        """Whether no second attempt is needed (R22)."""
        return is_usable(self.attempt.best_similarity, bool(self.accepted), rules.thresholds)


@frozen
class Retrieval:
    """Every attempt in order, the selected one, and why there was a second (R22 to R25)."""

    selected: Outcome
    attempts: tuple[Attempt, ...]
    fallback_reason: FallbackReason | None = None
    cuts: tuple[QueryCut, ...] = ()


@frozen
class Retriever:
    """Fetches candidates through the search port and accepts the good ones."""

    search: KnowledgeSearchPort
    embedder: Embedder
    readiness: Readiness

    async def retrieve(
        self,
        transformed: TransformedQuery,
        rules: LookupRules,
        mode: SearchMode,
        stopwatch: Stopwatch,
        *,
        deadline: float,
    ) -> Retrieval:
        """Search with the hints' filter, and again without it where that gave nothing usable.

        The query is embedded once for both attempts, everything ends at *deadline*, a moment of
        `anyio.current_time`, and the scope is on every attempt. An attempt that fails is an
        outcome with its error, never an exception; a second attempt that fails leaves the first
        one's evidence standing.
        """
        wide = Attempt("unfiltered", requested_mode=mode, top_k=rules.retrieve_k)
        hint_filter = transformed.hints.filter
        narrow = None
        if hint_filter is not None:
            narrow = evolve(wide, name="filtered", hint_filter=hint_filter.category)
        try:
            with guarded(deadline=deadline):
                # Opens and asks the backend at the first lookup, and is no work of the embedder.
                with stopwatch.stage("probe"):
                    capabilities = await self.readiness.capabilities()
                with stopwatch.stage("embed"):
                    request, cuts = await self._request(transformed, rules, mode, capabilities)
        except EvidenceLookupError as error:
            failed = _failed(narrow or wide, error)
            return Retrieval(failed, (failed.attempt,))

        async def run(attempt: Attempt, request: KnowledgeSearchRequest) -> Outcome:
            attempt = evolve(attempt, top_k=request.top_k)
            return await self._run(attempt, request, transformed, rules, stopwatch, deadline)

        if narrow is None:
            only = await run(wide, request)
            return Retrieval(only, (only.attempt,), cuts=cuts)
        first = await run(narrow, evolve(request, hint_filter=hint_filter))
        # A store that cannot keep the hints' filter can still be asked without it.
        cannot_filter = isinstance(first.error, ScopeError | SchemaMismatchError)
        if first.is_usable(rules) or (first.error and not cannot_filter):
            return Retrieval(first, (first.attempt,), cuts=cuts)
        reason = FallbackReason.LOW_QUALITY if first.accepted else FallbackReason.NO_EVIDENCE
        second = await run(wide, request)
        selected = first if first.accepted and not second.accepted else second
        return Retrieval(selected, (first.attempt, second.attempt), reason, cuts)

    async def _request(
        self,
        transformed: TransformedQuery,
        rules: LookupRules,
        mode: SearchMode,
        capabilities: SearchCapabilities,
    ) -> tuple[KnowledgeSearchRequest, tuple[QueryCut, ...]]:
        query = transformed.query
        read = {"dense": self.embedder.fit(query)}
        if mode is not SearchMode.DENSE:
            read["keyword"] = cut(query, capabilities.max_query_characters)
        request = KnowledgeSearchRequest(
            query=read.get("keyword", query),
            vector=await self.embedder.embed_query(read["dense"]),
            top_k=min(rules.retrieve_k, capabilities.max_top_k),
            mode=mode,
            scope=transformed.scope,
        )
        cuts = (QueryCut(path, len(query), len(kept)) for path, kept in read.items())
        return request, tuple(cut for cut in cuts if cut.kept < cut.length)

    async def _run(
        self,
        attempt: Attempt,
        request: KnowledgeSearchRequest,
        transformed: TransformedQuery,
        rules: LookupRules,
        stopwatch: Stopwatch,
        deadline: float,
    ) -> Outcome:
        try:
            with stopwatch.stage("search"), guarded(deadline=deadline):
                response = await self.search.search(request)
        except EvidenceLookupError as error:
            self.readiness.forget()
            return _failed(attempt, error)
        with stopwatch.stage("post_process"):
            candidates = candidates_from(response.hits)
            accepted, drops = select(rerank(candidates, transformed.hints), rules.limits)
        return Outcome(
            attempt=evolve(
                attempt,
                mode=response.mode,
                path=response.path,
                degraded=response.degraded,
                tries=response.tries,
                candidate_count=len(candidates),
                block_count=len(accepted),
                best_similarity=best_similarity(candidates),
            ),
            accepted=accepted,
            drops=drops,
            warnings=_warnings(candidates),
            request=request,
            found=ComparedPath(response.path, response.mode, candidates, response.degraded),
        )


def _failed(attempt: Attempt, error: EvidenceLookupError) -> Outcome:
    told = evolve(attempt, error=trace_error(error), tries=error.tries)
    return Outcome(told, error=error)


def _warnings(candidates: tuple[Candidate, ...]) -> tuple[str, ...]:
    synthetic = sum(candidate.identity.is_synthetic for candidate in candidates)
    if not synthetic:
        return ()
    return (
        f"synthetic_identity: {synthetic} of {len(candidates)} hits carry neither a document and "
        "chunk nor an id; their keys name nothing outside this result",
    )
