"""Deadlines, cancellation, closing and event loops."""

import asyncio
import time

import anyio
import pytest

from evidence_lookup.domain.errors import BackendError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchResponse
from evidence_lookup.testing.given_up import DELAYS, given_up
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit
from evidence_lookup.testing.response_check import check_response


class SearchLifecycleContract(KnowledgeContract):
    """A call ends when its caller wants it to, and leaves nothing broken behind."""

    async def test_C47_searches_do_not_block_the_loop(self, knowledge: Knowledge) -> None:
        """While 20 searches run at once, the event loop keeps ticking."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(50)])
        await self.settle(knowledge)
        await knowledge.search(asked())
        longest, stop = 0.0, asyncio.Event()

        async def heartbeat() -> None:
            nonlocal longest
            while not stop.is_set():
                before = time.perf_counter()
                await asyncio.sleep(0.005)
                longest = max(longest, time.perf_counter() - before)

        beat = asyncio.create_task(heartbeat())
        responses = await asyncio.gather(
            *(knowledge.search(asked(mode=SearchMode.HYBRID)) for _ in range(20))
        )
        stop.set()
        await beat
        assert all(len(response.hits) == 10 for response in responses)
        assert longest < 1.0

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_many_at_once_get_their_own_answers(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Searches that run together are not mixed up with each other."""
        await knowledge.upsert(
            [embedded(f"d{n}", text=f"word{n}", vector=unit(1, n), tenant=n) for n in range(16)]
        )
        await self.settle(knowledge)

        async def one(n: int) -> None:
            request = asked(
                f"word{n}", vector=unit(1, n), mode=mode, scope=Scope({"tenant": (n, 99)})
            )
            response = await knowledge.search(request)
            check_response(response, request)
            assert [hit.id for hit in response.hits] == [f"d{n}#chunk-0"]

        await asyncio.gather(*(one(n % 16) for n in range(32)))

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_deadline(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """A search ends soon after its deadline, with a TimeoutError or its answer alone."""
        await knowledge.upsert([embedded(f"d{n}", text="redis") for n in range(50)])
        await self.settle(knowledge)
        for delay in DELAYS:
            started = time.perf_counter()
            try:
                with anyio.fail_after(delay):
                    response = await knowledge.search(asked("redis", mode=mode))
                assert len(response.hits) == 10
            except TimeoutError:
                pass
            assert time.perf_counter() - started < delay + self.patience
        assert len(await self.found(knowledge, asked("redis", mode=mode))) == 10

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_deadline_while_a_write_runs(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A search that waits for a write beside it keeps its deadline, and so does the write."""
        chunks = [embedded("big", n, f"redis {n}") for n in range(150)]
        await knowledge.upsert([embedded("a", text="redis")])
        await self.settle(knowledge)
        for delay in DELAYS[::2]:
            write = asyncio.create_task(knowledge.replace_document("big", chunks))
            await asyncio.sleep(0)
            started = time.perf_counter()
            with anyio.move_on_after(delay):
                await knowledge.search(asked("redis", mode=mode))
            assert time.perf_counter() - started < delay + self.patience
            await write
        assert len(await self.found(knowledge, asked("redis", mode=mode, top_k=1_000))) == 151

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_cancelled_search_harms_nothing(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A cancelled search raises CancelledError and nothing else, at any point of its way."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        for delay in DELAYS:
            await given_up(knowledge.search(asked(mode=mode)), delay)
        assert await self.found(knowledge, asked(mode=mode)) == ["a#chunk-0"]

    async def test_cancelled_first_call(self, knowledge: Knowledge) -> None:
        """A search that is cancelled while it opens the backend leaves it to be opened again."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        for delay in (*DELAYS, 0.05, 0.2):
            await knowledge.aclose()
            await given_up(knowledge.search(asked()), delay)
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]

    async def test_cancelled_probe(self, knowledge: Knowledge) -> None:
        """A cancelled probe raises CancelledError and nothing else."""
        for delay in DELAYS:
            await given_up(knowledge.probe(), delay)
        assert (await knowledge.probe()).dimension == DIMENSION

    async def test_one_of_many_cancelled(self, knowledge: Knowledge) -> None:
        """Giving up some searches does not harm those beside them."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        tasks = [
            asyncio.create_task(knowledge.search(asked(mode=SearchMode.HYBRID))) for _ in range(20)
        ]
        await asyncio.sleep(0.001)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome in outcomes[1::2]:
            assert isinstance(outcome, KnowledgeSearchResponse)
            assert [hit.id for hit in outcome.hits] == ["a#chunk-0"]

    async def test_closed_twice(self, knowledge: Knowledge) -> None:
        """Closing twice is safe, and the next call opens it anew, with all that was written."""
        await knowledge.upsert([embedded("a")])
        await knowledge.aclose()
        await knowledge.aclose()
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]
        await knowledge.aclose()
        assert (await knowledge.probe()).dimension == DIMENSION
        await knowledge.aclose()
        await knowledge.upsert([embedded("b")])
        assert await self.found(knowledge, asked()) == ["a#chunk-0", "b#chunk-0"]

    async def test_closed_while_searches_run(self, knowledge: Knowledge) -> None:
        """Searches beside a closing end with their answer or a BackendError, and never hang."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        for delay in (0, 0.001, 0.003):
            tasks = [
                asyncio.create_task(knowledge.search(asked(mode=mode)))
                for mode in SearchMode
                for _ in range(4)
            ]
            await asyncio.sleep(delay)
            with anyio.fail_after(30):
                await asyncio.gather(knowledge.aclose(), knowledge.aclose())
                outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            for outcome in outcomes:
                assert isinstance(outcome, KnowledgeSearchResponse | BackendError)
                if isinstance(outcome, KnowledgeSearchResponse):
                    assert [hit.id for hit in outcome.hits] == ["a#chunk-0"]
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]

    @pytest.mark.usefixtures("anyio_backend")
    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    @pytest.mark.parametrize("close", [True, False])
    def test_two_event_loops_in_turn(self, knowledge: Knowledge, close: bool) -> None:
        """One knowledge serves several event loops in turn, closed between them or not."""

        async def write() -> None:
            await knowledge.upsert([embedded("a")])
            if close:
                await knowledge.aclose()

        async def read() -> None:
            assert await self.found(knowledge, asked()) == ["a#chunk-0"]
            await knowledge.aclose()

        asyncio.run(write())
        asyncio.run(read())

    async def test_two_event_loops_at_once(self, knowledge: Knowledge) -> None:
        """One knowledge serves two event loops in two threads at once, reading and writing."""

        async def work(name: str) -> None:
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
            for n in range(8):
                await knowledge.upsert([embedded(f"{name}{n}", tenant=name)])
                request = asked(scope=Scope({"tenant": name}))
                wanted = [f"{name}{i}#chunk-0" for i in range(n + 1)]
                assert await self.found(knowledge, request) == wanted

        async def other() -> None:
            await work("other")
            await knowledge.aclose()

        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, lambda: asyncio.run(other()))
            await work("own")
        assert len(await self.found(knowledge, asked(top_k=100))) == 16
