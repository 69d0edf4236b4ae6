"""No value, name or query leaves its place in the backend's own language (C28, C29, C32)."""

from collections.abc import Mapping
from contextlib import suppress

import pytest

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope, ScopeValue
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.injections import (
    STORED,
    for_each,
    fragments,
    generated,
    queries,
    values,
)
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import asked, embedded, foreign


class SearchInjectionContract(KnowledgeContract):
    """Generated values: each is asked on its own, and none may widen a result."""

    examples: int = 200
    """How many values each test generates."""

    async def _acme_and_other(self, knowledge: Knowledge) -> None:
        await knowledge.upsert(
            [
                embedded("a", tenant=STORED, category=STORED),
                embedded("b", tenant="other", category="other"),
                embedded("c"),
            ]
        )
        await self.settle(knowledge)

    async def test_C28_no_scope_value_widens(self, knowledge: Knowledge) -> None:
        """No generated scope value finds a row that does not hold that very value."""
        await self._acme_and_other(knowledge)

        async def ask(value: str) -> None:
            found = await self.found(knowledge, asked(scope=Scope({"tenant": value})))
            assert found == (["a#chunk-0"] if value == STORED else [])

        await for_each(values, ask, count=self.examples)

    async def test_C28_no_value_of_a_list_widens(self, knowledge: Knowledge) -> None:
        """No generated value finds more as one of a list, whatever stands beside it."""
        await self._acme_and_other(knowledge)

        async def ask(value: str) -> None:
            alone = Scope({"tenant": (value, value + "x")})
            beside = Scope({"tenant": (value, "other")})
            hit = ["a#chunk-0"] if value == STORED else []
            assert await self.found(knowledge, asked(scope=alone)) == hit
            assert await self.found(knowledge, asked(scope=beside)) == [*hit, "b#chunk-0"]

        await for_each(values, ask, count=self.examples)

    async def test_C28_no_hint_category_widens(self, knowledge: Knowledge) -> None:
        """No generated category finds a row of another one."""
        await self._acme_and_other(knowledge)

        async def ask(value: str) -> None:
            found = await self.found(knowledge, asked(category=value))
            assert found == (["a#chunk-0"] if value == STORED else [])

        await for_each(values, ask, count=self.examples)

    @pytest.mark.parametrize("mode", [SearchMode.KEYWORD, SearchMode.HYBRID])
    async def test_C28_no_value_widens_by_words(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """The filters of a search by words hold as those of a search by vectors do."""
        self.needs(mode)
        await self._acme_and_other(knowledge)

        async def ask(value: str) -> None:
            request = asked(mode=mode, scope=Scope({"tenant": (value, "absent")}), category=value)
            found = await self.found(knowledge, request)
            assert found == (["a#chunk-0"] if value == STORED else [])

        await for_each(values, ask, count=self.examples)

    async def test_C32_generated_values_match_themselves(self, knowledge: Knowledge) -> None:
        """Each of the generated values, stored side by side, finds its own row and no other."""
        texts = generated(values, self.examples)
        ids = [f"d{n:03}" for n in range(len(texts))]
        await knowledge.upsert(
            [
                embedded(name, tenant=text, category=text)
                for name, text in zip(ids, texts, strict=True)
            ]
        )
        await self.settle(knowledge)
        modes = [mode for mode in SearchMode if mode in self.modes]
        for n, (name, text) in enumerate(zip(ids, texts, strict=True)):
            request = asked(mode=modes[n % len(modes)], scope=Scope({"tenant": text}))
            assert await self.found(knowledge, request) == [f"{name}#chunk-0"], text
            assert await self.found(knowledge, asked(category=text)) == [f"{name}#chunk-0"], text
        for start in range(0, len(texts), 25):
            some = Scope({"tenant": texts[start : start + 25]})
            found = await self.found(knowledge, asked(scope=some, top_k=1_000))
            assert found == [f"{name}#chunk-0" for name in ids[start : start + 25]]

    async def test_C29_generated_names_do_not_widen(self, knowledge: Knowledge) -> None:
        """A generated scope name is refused before the backend sees it, or finds nothing."""
        await self._acme_and_other(knowledge)

        async def ask(name: str) -> None:
            with suppress(ScopeError):
                scope = Scope({f"tenant{name}": STORED})
                assert await self.found(knowledge, asked(scope=scope)) == []

        await for_each(fragments, ask, count=self.examples)

    @pytest.mark.parametrize(
        "name",
        [
            'tenant"] != "" or metadata["x', "", "a b", "a'", "1a", "a" * 65, "ü", "$gt", "$where",
            "a[0]", "a\nb", "\x00", "a\\", "tenant\u200b", "-a", ".a", "*", "metadata.*[0]",
        ],
    )  # fmt: skip
    async def test_C29_hostile_names_are_refused(self, knowledge: Knowledge, name: str) -> None:
        """A name that would leave its place in an expression makes no scope at all."""
        with pytest.raises(ScopeError):
            Scope({name: "x"})

    async def test_C29_names_of_the_backend_are_plain_names(self, knowledge: Knowledge) -> None:
        """A name that means something to a backend or a language is a metadata name like others."""
        names = [
            "__proto__", "constructor", "_id", "id", "_score", "_source", "content", "vector",
            "metadata", "text", "sparse", "pk", "keyword_text", "null", "true", "in", "or", "and",
            "not", "like", "exists", "tenant.keyword", "a" * 64,
        ]  # fmt: skip
        await knowledge.upsert(
            [
                foreign("all", dict.fromkeys(names, "x")),
                *(foreign(f"d{n:02}", {name: "y"}) for n, name in enumerate(names)),
            ]
        )
        for n, name in enumerate(names):
            assert await self.found(knowledge, asked(scope=Scope({name: "x"}))) == ["all#chunk-0"]
            found = await self.found(knowledge, asked(scope=Scope({name: "y"})))
            assert found == [f"d{n:02}#chunk-0"], name

    async def test_names_with_marks(self, knowledge: Knowledge) -> None:
        """Dots and dashes in a name are part of it; a nested value is another thing."""
        odd: dict[str, str | int | bool] = {"team.name": "x", "access-list": "y"}
        await knowledge.upsert([foreign("a", odd), embedded("b", team="x")])
        await self.write_foreign(knowledge, foreign("c", {"team": {"name": "x"}}))
        for name, value in odd.items():
            assert await self.found(knowledge, asked(scope=Scope({name: value}))) == ["a#chunk-0"]

    async def test_long_values(self, knowledge: Knowledge) -> None:
        """Values of 5,000 characters that differ in the last one only are told apart."""
        for text in ("x" * 5_000, "文" * 5_000):
            await knowledge.upsert([embedded("a", tenant=text + "1"), embedded("b", tenant=text)])
            for value, name in ((text + "1", "a"), (text, "b")):
                found = await self.found(knowledge, asked(scope=Scope({"tenant": value})))
                assert found == [f"{name}#chunk-0"]
            assert await self.found(knowledge, asked(scope=Scope({"tenant": text + "2"}))) == []

    async def test_generated_queries(self, knowledge: Knowledge) -> None:
        """No text of a query is an error, and none leads out of the scope, in any mode."""
        await self._acme_and_other(knowledge)
        scopes: list[Mapping[str, ScopeValue]] = [{"tenant": STORED}, {"tenant": "absent"}]

        async def ask(query: str) -> None:
            for mode in SearchMode:
                for scope in scopes:
                    found = await self.found(knowledge, asked(query, mode=mode, scope=Scope(scope)))
                    allowed = ["a#chunk-0"] if scope["tenant"] == STORED else []
                    assert found in ([], allowed)
                    assert mode is SearchMode.KEYWORD or found == allowed

        await for_each(queries, ask, count=50)
