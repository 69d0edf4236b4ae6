"""What every `TraceRecorder` with its `TraceReader` promises, as a test suite for adapters."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta, timezone
from typing import Any, Protocol, cast

import anyio
import anyio.to_thread
import pytest
from attrs import evolve

from evidence_lookup.domain.invocation_summary import summary_of
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import FallbackReason
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.ports.trace import TraceReader, TraceRecorder, TraceRetention
from evidence_lookup.testing import samples
from evidence_lookup.testing.samples import SOME_TIME, invocation

_ODD = {
    "chinese": "数据库连接池耗尽怎么办？",
    "emoji": "👨‍👩‍👧‍👦 😀",
    "quotes": "it's \"quoted\" \\ '; DROP TABLE tool_invocation; --",
    "controls": "a\nb\tc\x1f\x7f",
    "nul": "before\0after",
    "lone_surrogate": "a\udce9b",
    "line_separator": "a\u2028b",
}


class Traces(TraceRecorder, TraceReader, TraceRetention, Protocol):
    """An adapter that records, reads and thins out."""


async def ids(traces: Traces, *, limit: int = 9, **conditions: Any) -> list[str]:
    """The ids of the records that pass a `TraceFilter` of *conditions*."""
    found = await traces.recent(limit=limit, where=TraceFilter(**conditions))
    return [one.id for one in found]


class TraceContract:
    """Subclass with a fixture `traces` to prove an adapter; all tests start with it EMPTY."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop of the asynchronous tests."""
        return "asyncio"

    @pytest.fixture
    async def traces(self) -> Traces:
        """An EMPTY recorder that also reads; every adapter gives its own."""
        raise NotImplementedError

    async def release(self, traces: Traces) -> None:
        """Give back what *traces* holds; it is used again after. Many hold nothing."""

    async def test_nothing_is_recorded_at_the_start(self, traces: Traces) -> None:
        """An unknown id is None, and there are no recent records."""
        assert await traces.get("0195-a") is None
        assert await traces.recent(limit=10) == ()
        assert await traces.recent(limit=10, where=TraceFilter(session_id="s")) == ()
        assert await traces.summaries(limit=10) == ()
        assert await traces.prune(keep=0) == 0

    async def test_a_record_comes_back_equal(self, traces: Traces) -> None:
        """Query transform, trace, pack summary, rerank trace, blocks: all is kept (R45, R46)."""
        record = invocation(session_id="s")
        await traces.record([record])
        assert await traces.get(record.id) == record
        assert await traces.recent(limit=1) == (record,)

    async def test_the_hints_of_a_lookup_are_kept(self, traces: Traces) -> None:
        """The matched titles, keywords, domains and entities stand in the record (R19)."""
        await traces.record([invocation()])
        found = await traces.get("0195-a")
        assert found is not None
        hints = found.retrieval_details.query_transform.hints
        assert hints.matched_titles == ("Guide",)
        assert hints.matched_keywords == ("retry",)
        assert hints.domains == ("ops",)
        assert hints.entities == ("Redis",)

    async def test_a_retry_and_its_reason_are_kept(self, traces: Traces) -> None:
        """Both attempts, the selected one and the reason of the retry stand there (R47)."""
        reason = FallbackReason.LOW_QUALITY
        await traces.record([invocation(of=samples.result(fallback_reason=reason))])
        found = await traces.get("0195-a")
        assert found is not None
        assert found.retrieval_details.fallback_reason is reason
        assert found.retrieval_details.retrieval_trace.selected_attempt == "unfiltered"
        assert len(found.retrieval_details.retrieval_trace.attempts) == 2

    async def test_a_lookup_without_evidence_is_kept(self, traces: Traces) -> None:
        """What was tried stands in the record although nothing was found (R48)."""
        record = invocation(of=samples.result(blocks=()))
        await traces.record([record])
        found = await traces.get("0195-a")
        assert found is not None
        assert found == record
        assert found.retrieval_details.evidence_blocks == ()
        assert [one.name for one in found.retrieval_details.retrieval_trace.attempts] == [
            "filtered"
        ]

    async def test_an_empty_batch_is_no_work(self, traces: Traces) -> None:
        """Recording nothing is no error."""
        await traces.record([])
        assert await traces.recent(limit=10) == ()

    async def test_a_stored_record_is_left_as_it_is(self, traces: Traces) -> None:
        """Recording an id again changes nothing, and the others of the batch are stored."""
        first = invocation("a", query="first")
        await traces.record([first])
        await traces.record([invocation("b"), invocation("a", query="second")])
        assert await traces.get("a") == first
        assert [one.id for one in await traces.recent(limit=10)] == ["b", "a"]

    async def test_of_one_id_twice_in_a_batch_the_first_counts(self, traces: Traces) -> None:
        """A batch is as good as its records one after the other."""
        first = invocation("a", query="first")
        await traces.record([first, invocation("b"), invocation("a", query="second")])
        assert await traces.get("a") == first

    async def test_recent_records_come_newest_first(self, traces: Traces) -> None:
        """The order is that of `created_at`, whatever the order of recording and of ids."""
        times = [3, 1, 2, 0.000_001, 0]
        records = [
            invocation(f"{len(times) - place}", created_at=SOME_TIME + timedelta(seconds=seconds))
            for place, seconds in enumerate(times)
        ]
        await traces.record(records)
        newest = sorted(records, key=lambda one: one.created_at, reverse=True)
        assert await traces.recent(limit=10) == tuple(newest)
        assert await traces.recent(limit=2) == tuple(newest[:2])

    async def test_records_of_one_moment_are_ordered_by_id(self, traces: Traces) -> None:
        """Among equal times the later id comes first, since ids grow with time."""
        await traces.record([invocation(one) for one in ("b", "d", "a", "c")])
        assert [one.id for one in await traces.recent(limit=3)] == ["d", "c", "b"]

    async def test_times_are_compared_as_moments(self, traces: Traces) -> None:
        """A time in another zone is the moment it names: it is ordered and comes back so."""
        ahead = SOME_TIME.astimezone(timezone(timedelta(hours=9)))
        later = SOME_TIME + timedelta(milliseconds=1)
        await traces.record([invocation("a", created_at=later), invocation("b", created_at=ahead)])
        assert [one.id for one in await traces.recent(limit=2)] == ["a", "b"]
        found = await traces.get("b")
        assert found is not None
        assert found.created_at == SOME_TIME

    @pytest.mark.parametrize("limit", [0, -1, -(2**70)])
    async def test_a_limit_below_one_gives_nothing(self, traces: Traces, limit: int) -> None:
        """No record is at most no record."""
        await traces.record([invocation()])
        assert await traces.recent(limit=limit) == ()

    async def test_a_limit_beyond_the_records_gives_all(self, traces: Traces) -> None:
        """Any larger number is all there is."""
        await traces.record([invocation("a"), invocation("b")])
        assert len(await traces.recent(limit=2**70)) == 2

    async def test_a_session_sees_its_own_records(self, traces: Traces) -> None:
        """With a session only its records come; without one, those of all and of none."""
        sessions = {"a": "s", "b": None, "c": "t", "d": "s", "e": ""}
        await traces.record(
            [invocation(one, session_id=session) for one, session in sessions.items()]
        )
        assert await ids(traces, session_id="s") == ["d", "a"]
        assert await ids(traces, limit=1, session_id="s") == ["d"]
        assert await ids(traces, session_id="") == ["e"]
        assert await ids(traces, session_id="S") == []
        assert [one.id for one in await traces.recent(limit=9)] == ["e", "d", "c", "b", "a"]

    async def test_a_status_sees_its_own_records(self, traces: Traces) -> None:
        """With a status only records of lookups that ended so come."""
        nothing = samples.result(blocks=(), invocation_id="b")
        await traces.record([invocation("a"), invocation(of=nothing), invocation("c")])
        assert await ids(traces, evidence_status=EvidenceStatus.NO_EVIDENCE) == ["b"]
        assert await ids(traces, evidence_status=EvidenceStatus.FOUND) == ["c", "a"]
        assert await ids(traces, evidence_status=EvidenceStatus.UNAVAILABLE) == []

    async def test_a_span_of_time_has_its_beginning_and_not_its_end(self, traces: Traces) -> None:
        """Records from `since` on and before `until` come, in whatever zone these are given."""
        second = timedelta(seconds=1)
        await traces.record(
            [invocation(f"{n}", created_at=SOME_TIME + n * second) for n in range(4)]
        )
        zone = timezone(timedelta(hours=-7))
        first, last = (SOME_TIME + second).astimezone(zone), SOME_TIME + 3 * second
        assert await ids(traces, since=first, until=last) == ["2", "1"]
        assert await ids(traces, since=last) == ["3"]
        assert await ids(traces, until=first) == ["0"]
        assert await ids(traces, since=last, until=first) == []

    @pytest.mark.parametrize("key", ["guide#chunk-1", *_ODD.values(), '"]', "%", "a' OR '1'='1"])
    async def test_a_key_finds_the_records_that_returned_it(self, traces: Traces, key: str) -> None:
        """With an evidence key only records with a block of that key come, its drops do not."""
        blocks = [samples.block("guide#chunk-0"), evolve(samples.block(), evidence_key=key)]
        drops = [Drop(key, DropReason.RETURN_N, 3)]
        results = {
            "a": samples.result(invocation_id="a", blocks=blocks),
            "b": samples.result(invocation_id="b", drops=drops),
            "c": samples.result(invocation_id="c", blocks=()),
        }
        await traces.record([invocation(of=one) for one in results.values()])
        assert await ids(traces, evidence_key=key) == ["a"]
        assert await ids(traces, evidence_key=key[:-1]) == []

    async def test_conditions_must_all_hold(self, traces: Traces) -> None:
        """A record that misses one of several conditions does not come."""
        await traces.record([invocation("a", session_id="s"), invocation("b", session_id="t")])
        found = EvidenceStatus.FOUND
        conditions: dict[str, Any] = {
            "evidence_status": found,
            "evidence_key": "guide#chunk-0",
            "since": SOME_TIME,
        }
        assert await ids(traces, session_id="s", **conditions) == ["a"]
        assert await ids(traces, session_id="s", until=SOME_TIME, **conditions) == []

    async def test_summaries_are_of_the_same_records(self, traces: Traces) -> None:
        """They come in the same order, under the same conditions, each equal to its record's."""
        retried = samples.result(invocation_id="b", fallback_reason=FallbackReason.NO_EVIDENCE)
        await traces.record(
            [invocation("a", session_id="s"), invocation(of=retried, session_id="s")]
        )
        await traces.record([invocation("c", session_id="t", query=_ODD["chinese"])])
        where = TraceFilter(session_id="s")
        assert await traces.summaries(limit=9) == tuple(
            map(summary_of, await traces.recent(limit=9))
        )
        assert await traces.summaries(limit=9, where=where) == tuple(
            map(summary_of, await traces.recent(limit=9, where=where))
        )
        assert [one.id for one in await traces.summaries(limit=1)] == ["c"]

    async def test_what_is_older_is_pruned(self, traces: Traces) -> None:
        """Records from before a moment go, that of the moment itself stays."""
        second = timedelta(seconds=1)
        await traces.record(
            [invocation(f"{n}", created_at=SOME_TIME + n * second) for n in range(4)]
        )
        before = SOME_TIME + 2 * second
        assert await traces.prune(before=before, dry_run=True) == 2
        assert len(await traces.recent(limit=9)) == 4
        assert await traces.prune(before=before) == 2
        assert await ids(traces) == ["3", "2"]
        assert await traces.prune(before=before) == 0

    async def test_the_newest_are_kept(self, traces: Traces) -> None:
        """Of too many records the oldest go, of equal times those of the earlier id."""
        await traces.record([invocation(one) for one in ("b", "d", "a", "c")])
        assert await traces.prune() == 0
        assert await traces.prune(keep=2**70) == 0
        assert await traces.prune(keep=3, dry_run=True) == 1
        assert await traces.prune(keep=3) == 1
        assert await ids(traces) == ["d", "c", "b"]
        assert await traces.prune(before=SOME_TIME + timedelta(1), keep=2) == 3
        assert await traces.recent(limit=9) == ()

    @pytest.mark.parametrize("odd", list(_ODD))
    async def test_any_text_is_kept_as_it_is(self, traces: Traces, odd: str) -> None:
        """Every text comes back the same, and finds its record again."""
        text = _ODD[odd]
        record = evolve(
            invocation(text, session_id=text, query=text), tool_name=text, timings={text: 0.5}
        )
        await traces.record([record])
        assert await traces.get(text) == record
        assert await traces.recent(limit=1, where=TraceFilter(session_id=text)) == (record,)

    async def test_a_record_of_many_large_chunks_is_kept_small(self, traces: Traces) -> None:
        """200 candidates of 5 kB are kept by key, score, reason and size (C71, R46)."""
        blocks = [samples.block(f"guide#chunk-{n}", f"{n} " + "文" * 5_000) for n in range(200)]
        record = invocation(of=samples.result(blocks=blocks))
        await traces.record([record])
        found = await traces.get(record.id)
        assert found is not None
        assert found == record
        assert [one.content_length for one in found.retrieval_details.evidence_blocks][:1] == [
            5_002
        ]
        assert max(len(one.preview) for one in found.retrieval_details.evidence_blocks) <= 120

    async def test_a_huge_record_is_kept(self, traces: Traces) -> None:
        """A record of several megabytes comes back whole."""
        record = invocation(of=samples.result("问题" * 1_000_000))
        await traces.record([record])
        assert await traces.get(record.id) == record

    async def test_a_batch_with_a_bad_record_stores_nothing(self, traces: Traces) -> None:
        """A batch is stored whole or not at all, and recording works on after."""
        await traces.record([invocation("a")])
        bad: Sequence[ToolInvocation] = [
            invocation("b"),
            cast("ToolInvocation", None),
            invocation("c"),
        ]
        with pytest.raises((AttributeError, TypeError)):
            await traces.record(bad)
        assert await traces.recent(limit=9) == (invocation("a"),)
        await traces.record([invocation("b")])
        assert await traces.get("b") == invocation("b")

    async def test_batches_are_left_as_they_were(self, traces: Traces) -> None:
        """What is given is only read, and changing it later changes no record."""
        batch = [invocation("b"), invocation("a")]
        await traces.record(batch)
        assert batch == [invocation("b"), invocation("a")]
        batch.clear()
        assert len(await traces.recent(limit=9)) == 2

    async def test_many_tasks_record_at_once(self, traces: Traces) -> None:
        """Records of tasks that run together are all kept, while others read."""

        async def write(number: int) -> None:
            await traces.record([invocation(f"{number:02}"), invocation("shared")])
            await traces.recent(limit=5)

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(write, number)
        found = await traces.recent(limit=99)
        assert [one.id for one in found] == ["shared"] + [f"{n:02}" for n in reversed(range(50))]

    async def test_released_and_used_again(self, traces: Traces) -> None:
        """What is there stays through `release`, which may be repeated."""
        await traces.record([invocation()])
        await self.release(traces)
        await self.release(traces)
        assert await traces.get("0195-a") == invocation()

    async def test_event_loops_in_turn(self, traces: Traces) -> None:
        """A recorder outlives the event loop that it was first used in."""

        async def write(invocation_id: str) -> None:
            await traces.record([invocation(invocation_id)])

        async def read() -> list[str]:
            found = [one.id for one in await traces.recent(limit=9)]
            await self.release(traces)
            return found

        await anyio.to_thread.run_sync(asyncio.run, write("a"))
        await anyio.to_thread.run_sync(asyncio.run, write("b"))
        assert await anyio.to_thread.run_sync(asyncio.run, read()) == ["b", "a"]
        assert await read() == ["b", "a"]
