"""Run recorded lookups again, under the settings of now or under others, and compare."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import anyio
from attrs import frozen

from evidence_lookup.application.guard import guarded
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.application.replay_report import (
    ReplayProgress,
    ReplayReport,
    is_changed,
    totals,
)
from evidence_lookup.domain.errors import EvidenceLookupError, trace_error
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.replay import (
    ReplayedLookup,
    SkipReason,
    replayed,
    requested_mode,
    skip_reason,
)
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter
from evidence_lookup.ports.trace import TraceReader

OnProgress: TypeAlias = Callable[[ReplayProgress], None]

_PATIENCE = 10  # lookups; of a backend that hangs each takes the whole deadline


@frozen
class Replay:
    """The use case: records of `traces`, run by `lookup`. Nothing is recorded.

    `usual_mode` is the one of lookups that name none, where the records come from: what was
    searched in it counts as not having named one, and is run in the usual mode of `lookup`.
    """

    traces: TraceReader
    lookup: Lookup
    usual_mode: SearchMode | None = None

    async def replay(
        self,
        *,
        where: TraceFilter = EVERY_TRACE,
        limit: int = 1_000,
        scope: Scope | None = None,
        mode: SearchMode | None = None,
        distinct: bool = False,
        on_progress: OnProgress | None = None,
    ) -> ReplayReport:
        """The newest *limit* records that pass *where*, each run again, oldest first, one by one.

        *limit* is at least 1. Without *mode* a record is run in its own, or in the usual one, and
        within *scope*, which must name exactly what it was narrowed by: records hold no values.
        With *distinct* only the newest record of each query is run. A lookup that fails is told as
        such.

        Raises:
            EmbedderMismatchError: the index was made by another embedder than `lookup` has.
            BackendError: the records cannot be read, or the knowledge base is unavailable before
                the first lookup, or for 10 in a row.
        """
        scope = scope or Scope()
        records = await self.traces.recent(limit=limit, where=where)
        skipped: list[SkipReason] = []
        chosen = list(self._runnable(records, scope, mode, distinct, skipped))[::-1]
        if chosen:
            await self._warm_up(chosen[0], scope, mode)
        lookups: list[ReplayedLookup] = []
        changed = 0
        unanswered = 0
        for record in chosen:
            lookup, error = await self._run(record, scope, mode)
            unanswered = unanswered + 1 if error is not None and error.retryable else 0
            if error is not None and unanswered == _PATIENCE:
                raise error
            lookups.append(lookup)
            changed += is_changed(lookup)
            if on_progress is not None:
                on_progress(ReplayProgress(len(lookups), len(chosen), changed))
        return ReplayReport(totals(lookups, skipped), len(records) == limit, tuple(lookups))

    def _runnable(
        self,
        records: Sequence[ToolInvocation],
        scope: Scope,
        mode: SearchMode | None,
        distinct: bool,
        skipped: list[SkipReason],
    ) -> Iterable[ToolInvocation]:
        """Those of *records*, newest first, that can be run; why not goes to *skipped*."""
        seen: set[tuple[str, SearchMode]] = set()
        for record in records:
            reason = skip_reason(
                record, scope.values.keys(), required=self.lookup.rules.required_scope
            )
            if reason is None and distinct:
                question = (record.query, self._mode(record, mode))
                reason = SkipReason.REPEATED if question in seen else None
                seen.add(question)
            if reason is None:
                yield record
            else:
                skipped.append(reason)

    def _mode(self, record: ToolInvocation, mode: SearchMode | None) -> SearchMode:
        asked = requested_mode(record)
        own = None if asked is self.usual_mode else asked
        return mode or own or self.lookup.rules.mode

    async def _warm_up(self, record: ToolInvocation, scope: Scope, mode: SearchMode | None) -> None:
        """Open what is opened on first use, which is no lookup's time, and fail early."""
        rules, retriever = self.lookup.rules, self.lookup.retriever
        if rules.l1_enabled:
            with guarded(deadline=anyio.current_time() + rules.deadline_seconds):
                await retriever.readiness.capabilities()
                await retriever.embedder.embed_query("ready?")
        await self._run(record, scope, mode)

    async def _run(
        self, record: ToolInvocation, scope: Scope, mode: SearchMode | None
    ) -> tuple[ReplayedLookup, EvidenceLookupError | None]:
        chosen = self._mode(record, mode)
        result, selected = await self.lookup.answer(record.query, scope=scope, mode=chosen)
        error = selected.error if selected else None
        told = trace_error(error) if error else None
        return replayed(record, result, mode=chosen, error=told), error
