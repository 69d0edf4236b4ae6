"""The front door: a knowledge base that a host opens, asks and closes."""

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from functools import partial, wraps
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from attrs import evolve, field, frozen

from evidence_lookup.domain.errors import CallerError, EvidenceLookupError, UnsupportedModeError
from evidence_lookup.domain.filters import Scope, ScopeValue
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.settings import Settings

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from evidence_lookup.application.compare import Compare
    from evidence_lookup.application.compare import OnProgress as OnCompareProgress
    from evidence_lookup.application.compare_report import CompareReport
    from evidence_lookup.application.diagnosis import Check, Diagnosis
    from evidence_lookup.application.explain import Explain
    from evidence_lookup.application.ingest import Ingest, OnProgress
    from evidence_lookup.application.ingest_report import IngestReport
    from evidence_lookup.application.lookup import Lookup
    from evidence_lookup.application.recording import Recording
    from evidence_lookup.application.replay import OnProgress as OnReplayProgress
    from evidence_lookup.application.replay_report import ReplayReport
    from evidence_lookup.application.settled_traces import StoredTraces
    from evidence_lookup.application.trace_stats import TraceStats
    from evidence_lookup.container import Container
    from evidence_lookup.domain.evidence_guard import GuardReport
    from evidence_lookup.domain.explanation import Explanation
    from evidence_lookup.ports.spool import Spool, SpoolStatus

T = TypeVar("T")
P = ParamSpec("P")
GivenScope: TypeAlias = Scope | Mapping[str, ScopeValue] | None


@frozen
class KnowledgeBase:
    """Answers questions with evidence. Made by `open_knowledge_base`; used in one event loop."""

    settings: Settings
    _traces: "StoredTraces" = field(alias="traces")
    _spool: "Spool | None" = field(alias="spool")
    _recording: "Recording" = field(alias="recording")
    _lookup: "Lookup" = field(alias="lookup")
    _ingest: "Ingest" = field(alias="ingest")
    _compare: "Compare" = field(alias="compare")
    _explain: "Explain" = field(alias="explain")
    _diagnosis: "Diagnosis" = field(alias="diagnosis")

    async def lookup(
        self,
        query: str,
        *,
        scope: GivenScope = None,
        category: str | None = None,
        mode: SearchMode | str | None = None,
        session_id: str | None = None,
        raise_unavailable: bool = True,
    ) -> LookupResult:
        """The evidence for *query*, best first, with the traces of how it was found.

        *scope* and *category* narrow every attempt. Without *mode* the settings' one is used.

        Raises:
            ScopeError: the scope is malformed, or lacks a value that the settings require.
            UnsupportedModeError: there is no such mode.
            EvidenceLookupError: the knowledge base is unavailable. With *raise_unavailable* off
                the result says so instead (`evidence_status` is ``unavailable``).
        """
        result, error = await self._lookup.lookup(
            query, scope=_scope(scope, category), mode=_mode(mode), session_id=session_id
        )
        if error is not None and raise_unavailable:
            raise error
        return result

    async def lookup_many(
        self,
        queries: Sequence[str],
        *,
        scope: GivenScope = None,
        category: str | None = None,
        mode: SearchMode | str | None = None,
        session_id: str | None = None,
        raise_unavailable: bool = True,
    ) -> list[LookupResult]:
        """As `lookup` for each of *queries*, in their order; several run at once.

        Raises:
            ScopeError, EvidenceLookupError: as for `lookup`, of the first query that fails.
            CallerError: *queries* is one text.
        """
        answers = await self._lookup.lookup_many(
            _queries(queries),
            scope=_scope(scope, category),
            mode=_mode(mode),
            session_id=session_id,
        )
        if raise_unavailable:
            for _, error in answers:
                if error is not None:
                    raise error
        return [result for result, _ in answers]

    async def lookup_knowledge(
        self, query: str, *, scope: GivenScope = None, session_id: str | None = None
    ) -> dict[str, Any]:
        """The agent's view of the answer as a plain dict, ready for JSON; never raises for want
        of a backend or a scope: `evidence_status` is then ``unavailable`` and `reason` says why.
        """
        from evidence_lookup.adapters.json_values import to_json
        from evidence_lookup.domain.projection import project, unavailable

        try:
            result = await self.lookup(
                query, scope=scope, session_id=session_id, raise_unavailable=False
            )
        except EvidenceLookupError as error:
            answer: dict[str, Any] = to_json(unavailable(error))
        else:
            answer = to_json(project(result))
        return answer

    def knowledge_tool(
        self, *, scope: GivenScope = None, session_id: str | None = None
    ) -> Callable[[str], Awaitable[dict[str, Any]]]:
        """`lookup_knowledge(query)` for an agent: one argument, the host's scope bound in.

        Raises:
            ScopeError: *scope* is malformed, which no answer to an agent would show the host.
        """
        scope = _scope(scope, None)

        async def lookup_knowledge(query: str) -> dict[str, Any]:
            """Look up the team's own documents. Cite evidence by its document_id."""
            return await self.lookup_knowledge(query, scope=scope, session_id=session_id)

        return lookup_knowledge

    async def ingest(
        self,
        path: Path | str,
        *,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        prefix: str = "",
        scope: Mapping[str, str | int | bool] | None = None,
        category_from_folder: bool | None = None,
        rebuild: bool = False,
        on_progress: "OnProgress | None" = None,
    ) -> "IngestReport":
        """Bring the index in line with the documents at *path*, a folder or a file.

        *include* and *exclude* are patterns as in ``.gitignore``; *prefix* stands before ids made
        of paths; *scope* is put on every chunk. What is not given comes from the settings.

        Raises:
            UnreadableDocumentError: there is nothing at *path*.
            EmbedderMismatchError: another embedder made the index; *rebuild* starts anew.
            BackendError: the index cannot be written; running it again completes it.
        """
        from evidence_lookup.application.document_building import DocumentDefaults

        settings = self.settings.ingest
        by_folder = settings.category_from_folder
        defaults = DocumentDefaults(
            prefix=prefix,
            scope=dict(scope or {}),
            category_from_folder=by_folder
            if category_from_folder is None
            else category_from_folder,
        )
        return await self._ingest.ingest(
            Path(path),
            include=settings.include if include is None else include,
            exclude=settings.exclude if exclude is None else exclude,
            defaults=defaults,
            rebuild=rebuild,
            on_progress=on_progress,
        )

    async def trace(self, invocation_id: str) -> ToolInvocation | None:
        """The record of one lookup, by its `invocation_id`, or None.

        Beside a sidecar it is written when that is through, after the answer.
        """
        return await self._traces.get(invocation_id)

    async def recent_traces(
        self, *, limit: int = 20, where: TraceFilter | None = None, session_id: str | None = None
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records, newest first, that pass *where* and are of *session_id*."""
        where = where or TraceFilter()
        if session_id is not None:
            where = evolve(where, session_id=session_id)
        return await self._traces.recent(limit=limit, where=where)

    @property
    def lost_records(self) -> int:
        """Records of this process that could be neither stored nor kept for later."""
        return self._recording.lost + (self._spool.lost if self._spool else 0)

    async def settle_traces(self, *, timeout_seconds: float = 10.0) -> bool:
        """Deliver the records that wait for their store; False if some still do after that long.

        They are delivered without being asked for; a host may want to know before it ends.
        """
        return self._spool is None or await self._spool.settled(timeout_seconds=timeout_seconds)

    async def spool_status(self) -> "SpoolStatus":
        """What waits to be delivered to the trace store, of every process with this data folder.

        Raises:
            StorageError: the folder cannot be read.
        """
        from evidence_lookup.ports.spool import SpoolStatus

        return SpoolStatus() if self._spool is None else await self._spool.status()

    async def trace_stats(
        self, *, where: TraceFilter | None = None, limit: int = 10_000, top: int = 10
    ) -> "TraceStats":
        """Times by stage, statuses and unanswered queries over the newest *limit* records.

        Only records that pass *where* count; at most *top* unanswered queries are told.
        """
        from evidence_lookup.application.trace_stats import trace_stats

        where = where or TraceFilter()
        summaries = await self._traces.summaries(limit=_at_least_one(limit, "limit"), where=where)
        return trace_stats(summaries, limit_reached=len(summaries) == limit, top=top)

    async def prune_traces(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Remove the records from before *before*, and all but the newest *keep*; how many went.

        Either is enough. With *dry_run* they are counted, and stay.

        Raises:
            CallerError: neither is given, *before* has no time zone, or *keep* is below 0.
            BackendError: the records cannot be removed.
        """
        if before is None and keep is None:
            raise CallerError("say which records go: those from before a time, all but the newest")
        if before is not None and before.tzinfo is None:
            raise CallerError(f"before must have a time zone: {before}")
        if keep is not None and keep < 0:
            raise CallerError(f"keep must be at least 0, not {keep}")
        return await self._traces.prune(before=before, keep=keep, dry_run=dry_run)

    async def replay(
        self,
        *,
        where: TraceFilter | None = None,
        limit: int = 1_000,
        settings: Settings | None = None,
        scope: GivenScope = None,
        mode: SearchMode | str | None = None,
        distinct: bool = False,
        on_progress: "OnReplayProgress | None" = None,
    ) -> "ReplayReport":
        """Run recorded lookups again and compare; nothing is recorded, and no sidecar runs.

        The newest *limit* records that pass *where* are run one by one, oldest first, each in its
        own mode unless *mode* is given; what was searched in this knowledge base's ``rag.mode`` in
        that of *settings*. Without *settings* they are asked of this knowledge base,
        which shows what changed in the index since; with them of another one, opened for it. As
        records hold no scope values, one that was narrowed is run only if *scope* names exactly
        the same names. With *distinct* only the newest record of each query is run.

        Raises:
            ScopeError, UnsupportedModeError: as for `lookup`.
            SettingsError, MissingExtraError: as for `open_knowledge_base`, of *settings*.
            EmbedderMismatchError: the index was made by another embedder than is set.
            BackendError: the records cannot be read, or the knowledge base that is asked is
                unavailable from the start, or for 10 lookups in a row. A single lookup that fails
                is in the report.
        """
        from evidence_lookup.application.replay import Replay

        async def run(lookup: "Lookup") -> "ReplayReport":
            return await Replay(self._traces, lookup, self._lookup.rules.mode).replay(
                where=where or TraceFilter(),
                limit=_at_least_one(limit, "limit"),
                scope=_scope(scope, None),
                mode=_mode(mode),
                distinct=distinct,
                on_progress=on_progress,
            )

        if settings is None:
            return await run(self._lookup)
        async with open_knowledge_base(_unrecorded(settings)) as other:
            return await run(other._lookup)

    async def check_answer(
        self, answer: Any, *, session_id: str, scope: GivenScope = None
    ) -> "GuardReport":
        """Whether each reference of *answer* was returned by the lookups of *session_id*, and each
        quote beside one stands in the cited excerpt, as `EvidenceGuard` tells.

        *answer* is a text, or a JSON value (dict or list). Records hold only the beginning of an
        excerpt: where that does not settle a quote, the recorded query is asked again, unrecorded
        and within *scope*, and what comes back counts only if its hash is the recorded one.

        Raises:
            UnknownSessionError: no lookup of *session_id* is recorded.
            ScopeError: *scope* is malformed.
            CallerError: *answer* is neither a text nor a JSON value.
            BackendError: the records cannot be read.
        """
        from evidence_lookup.application.answer_check import AnswerCheck

        async def ask(query: str, within: Scope, mode: SearchMode | None) -> LookupResult:
            result, _ = await self._lookup.answer(query, scope=within, mode=mode)
            return result

        check = AnswerCheck(self._traces, ask, self._lookup.rules.required_scope)
        return await check.check(answer, session_id=session_id, scope=_scope(scope, None))

    async def compare(
        self,
        queries: Sequence[str],
        *,
        main: str | None = None,
        other: str | None = None,
        scope: GivenScope = None,
        category: str | None = None,
        mode: SearchMode | str | None = None,
        top_k: int | None = None,
        on_progress: "OnCompareProgress | None" = None,
    ) -> "CompareReport":
        """What two retrieval paths find for each of *queries*, side by side; nothing is recorded.

        A path is ``sdk``, ``vectorstore``, ``auto``, ``milvus``, ``elasticsearch`` or ``memory``.
        Without *main* it is the one that lookups use, without *other* that of ``sidecar.path``
        or, if that is *main*, ``sdk``; without *mode* and *top_k* what the settings say.

        Raises:
            SettingsError: there is no path of that name.
            ScopeError, UnsupportedModeError: as for `lookup`.
            EvidenceLookupError: neither path can be opened. One that fails is in the report.
        """
        main = main or self.settings.vector_store.mode
        beside = self.settings.sidecar.path
        return await self._compare.compare(
            _queries(queries),
            main=main,
            other=other or ("sdk" if beside == main else beside),
            scope=_scope(scope, category),
            mode=_mode(mode),
            top_k=top_k,
            on_progress=on_progress,
        )

    async def explain(
        self,
        query: str,
        evidence_key: str,
        *,
        scope: GivenScope = None,
        category: str | None = None,
        mode: SearchMode | str | None = None,
    ) -> "Explanation":
        """Why the chunk of *evidence_key* is, or is not, in the answer to *query*; unrecorded.

        The lookup is run again. A chunk that it did not list is searched for as deep as the
        backend goes, never outside the scope. That a document out of it exists is told all the
        same, with the names that exclude it: a question for a host, not for its agent.

        Raises:
            CallerError: *evidence_key* is none.
            ScopeError, UnsupportedModeError, EvidenceLookupError: as for `lookup`.
        """
        return await self._explain.explain(
            query, evidence_key, scope=_scope(scope, category), mode=_mode(mode)
        )

    async def diagnose(self) -> "tuple[Check, ...]":
        """One check for each part of the set-up, as ``evidence-lookup doctor`` shows them."""
        return await self._diagnosis.run()


def _synchronous(
    method: Callable[Concatenate[KnowledgeBase, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[SyncKnowledgeBase, P], T]":
    @wraps(method)
    def call(self: "SyncKnowledgeBase", /, *args: P.args, **kwargs: P.kwargs) -> T:
        answer: T = self.portal.call(partial(method, self.base, *args, **kwargs))
        return answer

    return call


@frozen
class SyncKnowledgeBase:
    """The synchronous twin of `KnowledgeBase`, method by method; safe to share between threads.

    Callbacks are called in the background thread that runs the event loop.
    """

    base: KnowledgeBase
    portal: "BlockingPortal"

    lookup = _synchronous(KnowledgeBase.lookup)
    lookup_many = _synchronous(KnowledgeBase.lookup_many)
    lookup_knowledge = _synchronous(KnowledgeBase.lookup_knowledge)
    ingest = _synchronous(KnowledgeBase.ingest)
    trace = _synchronous(KnowledgeBase.trace)
    compare = _synchronous(KnowledgeBase.compare)
    recent_traces = _synchronous(KnowledgeBase.recent_traces)
    settle_traces = _synchronous(KnowledgeBase.settle_traces)
    spool_status = _synchronous(KnowledgeBase.spool_status)
    trace_stats = _synchronous(KnowledgeBase.trace_stats)
    prune_traces = _synchronous(KnowledgeBase.prune_traces)
    replay = _synchronous(KnowledgeBase.replay)
    explain = _synchronous(KnowledgeBase.explain)
    check_answer = _synchronous(KnowledgeBase.check_answer)
    diagnose = _synchronous(KnowledgeBase.diagnose)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.base.settings

    @property
    def lost_records(self) -> int:
        """As `KnowledgeBase.lost_records`."""
        return self.base.lost_records

    def knowledge_tool(
        self, *, scope: GivenScope = None, session_id: str | None = None
    ) -> Callable[[str], dict[str, Any]]:
        """As `KnowledgeBase.knowledge_tool`; the tool is a plain function.

        Raises:
            ScopeError: *scope* is malformed.
        """
        tool = self.base.knowledge_tool(scope=scope, session_id=session_id)

        @wraps(tool)
        def lookup_knowledge(query: str) -> dict[str, Any]:
            answer: dict[str, Any] = self.portal.call(tool, query)
            return answer

        return lookup_knowledge


@asynccontextmanager
async def open_knowledge_base(
    settings: Settings | None = None, *, container: "Container | None" = None
) -> AsyncGenerator[KnowledgeBase]:
    """A knowledge base, open inside the running event loop and closed at the end.

    Without *settings* those of the current directory are loaded. A backend that is down does not
    stop the opening: lookups then say so. *container* is one whose providers were overridden.

    Raises:
        SettingsError: the settings are wrong.
        MissingExtraError: the settings name a backend whose extra is not installed.
    """
    from evidence_lookup.container import Container
    from evidence_lookup.opening import check_paths
    from evidence_lookup.settings_loading import load_settings

    container = container or Container(settings=settings or load_settings())
    parts: Any = container  # its providers have no types
    is_overridden = bool(parts.vector_store.overridden or parts.search.overridden)
    has_own_store = is_overridden or parts.langchain_store() is not None
    check_paths(container.settings(), has_own_store=has_own_store)
    try:
        yield KnowledgeBase(
            settings=container.settings(),
            traces=await _made(container.settled_traces()),
            spool=await _made(container.spool()),
            recording=await _made(container.recording()),
            lookup=await _made(container.lookup()),
            ingest=await _made(container.ingest()),
            compare=await _made(container.compare()),
            explain=await _made(container.explain()),
            diagnosis=await _made(container.diagnosis()),
        )
    finally:
        # First the sidecar, then the recording: they use what is closed after them, and the
        # container puts in order only what a part is given directly.
        await _made(parts.sidecar.shutdown())
        await _made(parts.recording.shutdown())
        if closing := container.shutdown_resources():
            await closing


@contextmanager
def open_knowledge_base_sync(
    settings: Settings | None = None, *, container: "Container | None" = None
) -> Generator[SyncKnowledgeBase]:
    """The synchronous twin of `open_knowledge_base`; one background thread runs the event loop."""
    from anyio.from_thread import start_blocking_portal

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(
            open_knowledge_base(settings, container=container)
        ) as base,
    ):
        yield SyncKnowledgeBase(base, portal)


def _queries(given: Sequence[str]) -> Sequence[str]:
    if isinstance(given, str):
        raise CallerError("queries is one text: give a list of texts")
    return given


def _at_least_one(given: int, name: str) -> int:
    if given < 1:
        raise CallerError(f"{name} must be at least 1, not {given}")
    return given


def _unrecorded(settings: Settings) -> Settings:
    return evolve(
        settings,
        trace=evolve(settings.trace, enabled=False),
        sidecar=evolve(settings.sidecar, enabled=False),
    )


def _mode(given: SearchMode | str | None) -> SearchMode | None:
    try:
        return None if given is None else SearchMode(given)
    except ValueError:
        modes = ", ".join(SearchMode)
        raise UnsupportedModeError(f"mode must be one of {modes}, not {given!r}") from None


async def _made(made: Any) -> Any:
    """What a provider gave: a future where an asynchronous resource is among its parts."""
    return await made if isawaitable(made) else made


def _scope(given: GivenScope, category: str | None) -> Scope:
    scope = given if isinstance(given, Scope) else Scope(given or {})
    return scope.narrowed(category=category) if category else scope
