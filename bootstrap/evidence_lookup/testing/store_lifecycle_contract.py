"""Writes that run together, are given up, or meet a closing."""

import asyncio
import time
from collections import Counter

import anyio
import pytest

from evidence_lookup.domain.errors import BackendError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.given_up import DELAYS, given_up
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded


class StoreLifecycleContract(KnowledgeContract):
    """A write is seen whole or not at all, and ends for its caller when the caller wants it to."""

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_replace_is_one_visible_step(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Searches during replacements see one version whole: never a mix, never nothing."""
        sizes = (9, 4)

        async def put(version: int) -> None:
            size = sizes[version % 2]
            await knowledge.replace_document(
                "a", [embedded("a", n, f"word v{version}", tenant="acme") for n in range(size)]
            )

        await put(0)
        await self.settle(knowledge)
        seen: Counter[tuple[int, int]] = Counter()
        stop = asyncio.Event()

        async def watch() -> None:
            request = asked("word", mode=mode, top_k=50, scope=Scope({"tenant": "acme"}))
            while not stop.is_set():
                hits = (await knowledge.search(request)).hits
                versions = {int(hit.content.split("v")[1]) for hit in hits}
                assert len(versions) == 1, versions
                seen[versions.pop() % 2, len(hits)] += 1
                await asyncio.sleep(0)

        watchers = [asyncio.create_task(watch()) for _ in range(3)]
        for version in range(1, 25):
            await put(version)
            await asyncio.sleep(0.003)
        stop.set()
        await asyncio.gather(*watchers)
        assert set(seen) <= {(0, sizes[0]), (1, sizes[1])}
        assert sum(seen.values()) >= 5

    async def test_cancelled_replace_can_be_run_again(self, knowledge: Knowledge) -> None:
        """A replacement that is cancelled shows the old or the new version, and can be repeated."""
        old = [embedded("a", n, "old") for n in range(5)]
        new = [embedded("a", n, "new") for n in range(2)]
        for delay in (0, 0.001, 0.005):
            await knowledge.replace_document("a", old)
            task = asyncio.create_task(knowledge.replace_document("a", new))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert len(set((await self.stored(knowledge)).values())) == 1
            await knowledge.replace_document("a", new)
            assert await self.stored(knowledge) == {"a#chunk-0": "new", "a#chunk-1": "new"}

    async def test_two_writers(self, knowledge: Knowledge) -> None:
        """Writers at once lose nothing."""
        await asyncio.gather(
            *(
                knowledge.replace_document(f"d{n}", [embedded(f"d{n}", i) for i in range(3)])
                for n in range(10)
            )
        )
        assert len(await self.stored(knowledge)) == 30

    async def test_cancelled_writes(self, knowledge: Knowledge) -> None:
        """A write that is given up says CancelledError, and leaves whole documents behind it."""
        await knowledge.upsert([embedded("a", n, "old") for n in range(3)])
        for delay in DELAYS:
            await given_up(knowledge.upsert([embedded("b", n, "x") for n in range(50)]), delay)
            assert sum(text == "x" for text in (await self.stored(knowledge)).values()) in (0, 50)
            await given_up(knowledge.delete_documents(["b"]), delay)
            assert sum(text == "x" for text in (await self.stored(knowledge)).values()) in (0, 50)
            await given_up(knowledge.prepare(model=MODEL, dimension=DIMENSION), delay)
        await knowledge.delete_documents(["b"])
        assert await self.stored(knowledge) == {f"a#chunk-{n}": "old" for n in range(3)}

    async def test_a_write_keeps_its_deadline(self, knowledge: Knowledge) -> None:
        """A write ends soon after its deadline, though others wait before it."""
        chunks = [embedded("big", n, f"text {n}") for n in range(150)]
        for delay in DELAYS[::2]:
            beside = asyncio.create_task(knowledge.replace_document("big", chunks))
            await asyncio.sleep(0)
            started = time.perf_counter()
            with anyio.move_on_after(delay):
                await knowledge.replace_document("small", [embedded("small")])
            assert time.perf_counter() - started < delay + self.patience
            await beside
        await knowledge.replace_document("small", [embedded("small")])
        assert len(await self.stored(knowledge)) == 151

    async def test_closed_while_a_write_runs(self, knowledge: Knowledge) -> None:
        """A write beside a closing ends, done or with a BackendError, and never hangs."""
        for round_, delay in enumerate((0, 0.001, 0.004)):
            chunks = [embedded("a", n, f"v{round_}") for n in range(50)]
            write = asyncio.create_task(knowledge.replace_document("a", chunks))
            await asyncio.sleep(delay)
            with anyio.fail_after(30):
                await knowledge.aclose()
                (outcome,) = await asyncio.gather(write, return_exceptions=True)
            assert outcome is None or isinstance(outcome, BackendError)
            texts = set((await self.stored(knowledge)).values())
            assert texts <= {f"v{n}" for n in range(round_ + 1)}
            assert len(texts) <= 1
            assert outcome is not None or texts == {f"v{round_}"}

    async def test_writers_of_one_document(self, knowledge: Knowledge) -> None:
        """Of replacements of one document at once one is what stays, whole."""
        await asyncio.gather(
            *(
                knowledge.replace_document(
                    "a", [embedded("a", n, f"v{version}") for n in range(1 + version)]
                )
                for version in range(6)
            )
        )
        stored = await self.stored(knowledge)
        (version,) = {int(text[1:]) for text in stored.values()}
        assert len(stored) == 1 + version
