"""Look up knowledge: transform, retrieve, post-process, pack, assemble, record (R44)."""

from collections.abc import Sequence

import anyio
from attrs import frozen

from evidence_lookup.application.assembly import (
    EMPTY_QUERY,
    L1_DISABLED,
    assemble,
    assemble_unsearched,
    evidence_blocks,
    timed,
)
from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.query_transform import TransformedQuery, transform_query
from evidence_lookup.application.recording import Recording
from evidence_lookup.application.retrieval import Outcome, Retriever
from evidence_lookup.application.sidecar import Sidecar
from evidence_lookup.application.stopwatch import Stopwatch
from evidence_lookup.domain.errors import EvidenceLookupError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.pack import pack
from evidence_lookup.domain.record import Redact, tool_invocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.text import clean, is_blank
from evidence_lookup.ports.clock import Clock, NewId
from evidence_lookup.ports.token_counter import TokenCounter

_AT_ONCE = 8
# A catalogue that hangs must leave time to search: hints may take half of the deadline.
_SHARE_OF_HINTS = 0.5


@frozen
class Lookup:
    """The use case; safe to share between tasks of one event loop.

    With a sidecar the record of a lookup is written when that is through, after the answer.
    """

    hint_index: HintIndex
    retriever: Retriever
    count_tokens: TokenCounter
    recording: Recording
    clock: Clock
    new_id: NewId
    rules: LookupRules
    sidecar: Sidecar | None = None
    redact: Redact | None = None

    async def lookup(
        self,
        query: str,
        *,
        scope: Scope | None = None,
        mode: SearchMode | None = None,
        session_id: str | None = None,
    ) -> tuple[LookupResult, EvidenceLookupError | None]:
        """The answer to *query*, recorded, and the error where the status is `unavailable`.

        Raises:
            ScopeError: the settings require a scope value that *scope* lacks.
        """
        scope = scope or Scope()
        scope.require(self.rules.required_scope)
        stopwatch = Stopwatch(self.clock)
        result, selected = await self._answer(query, scope, mode or self.rules.mode, stopwatch)
        result = timed(result, stopwatch.timings())
        invocation = tool_invocation(
            result,
            session_id=session_id,
            created_at=self.clock.now(),
            duration_seconds=stopwatch.total(),
            redact=self.redact,
        )
        if self.sidecar is not None:
            await self.sidecar.record(invocation, selected)
        else:
            await self.recording.record(
                invocation, timeout_seconds=self.rules.record_timeout_seconds
            )
        return result, selected.error if selected else None

    async def answer(
        self, query: str, *, scope: Scope | None = None, mode: SearchMode | None = None
    ) -> tuple[LookupResult, Outcome | None]:
        """As `lookup`, but unrecorded and without the sidecar; with it the selected attempt.

        That is None where nothing was searched.

        Raises:
            ScopeError: as for `lookup`.
        """
        scope = scope or Scope()
        scope.require(self.rules.required_scope)
        stopwatch = Stopwatch(self.clock)
        result, selected = await self._answer(query, scope, mode or self.rules.mode, stopwatch)
        return timed(result, stopwatch.timings()), selected

    async def lookup_many(
        self,
        queries: Sequence[str],
        *,
        scope: Scope | None = None,
        mode: SearchMode | None = None,
        session_id: str | None = None,
    ) -> list[tuple[LookupResult, EvidenceLookupError | None]]:
        """As `lookup` for each of *queries*, in their order; at most 8 run at once."""
        limiter = anyio.CapacityLimiter(_AT_ONCE)
        answers: dict[int, tuple[LookupResult, EvidenceLookupError | None]] = {}

        async def answer(position: int, query: str) -> None:
            async with limiter:
                answers[position] = await self.lookup(
                    query, scope=scope, mode=mode, session_id=session_id
                )

        (scope or Scope()).require(self.rules.required_scope)
        async with anyio.create_task_group() as tasks:
            for position, query in enumerate(queries):
                tasks.start_soon(answer, position, query)
        return [answers[position] for position in range(len(queries))]

    async def _answer(
        self, query: str, scope: Scope, mode: SearchMode, stopwatch: Stopwatch
    ) -> tuple[LookupResult, Outcome | None]:
        invocation_id, rules = self.new_id(), self.rules
        is_empty, query = is_blank(query), clean(query)
        if is_empty:
            nothing = TransformedQuery(query, scope, QueryHints())
            return assemble_unsearched(invocation_id, nothing, EMPTY_QUERY, rules), None
        began = anyio.current_time()
        with stopwatch.stage("transform"):
            transformed = await transform_query(
                query,
                scope,
                self.hint_index,
                deadline=began + rules.deadline_seconds * _SHARE_OF_HINTS,
            )
        if not rules.l1_enabled:
            return assemble_unsearched(invocation_id, transformed, L1_DISABLED, rules), None
        retrieval = await self.retriever.retrieve(
            transformed, rules, mode, stopwatch, deadline=began + rules.deadline_seconds
        )
        blocks = evidence_blocks(retrieval, transformed)
        with stopwatch.stage("pack"):
            context_pack = pack(blocks, rules.context_budget, self.count_tokens)
        with stopwatch.stage("assemble"):
            result = assemble(invocation_id, transformed, retrieval, blocks, context_pack, rules)
        return result, retrieval.selected
