"""Scope and hint filter: what a search may see (R16, R26)."""

from collections.abc import Mapping
from contextlib import suppress

import pytest
from attrs import evolve
from hypothesis import strategies as st

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope, ScopeValue
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.injections import for_each
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import asked, embedded, foreign, unit

_CHOICES: tuple[str | int | bool, ...] = (
    "acme", "Acme", "acme ", "1", "true", "null", 0, 1, -1, 2**53, 2**53 + 1, True, False,
)  # fmt: skip
_FOREIGN: tuple[object, ...] = (
    1.0, 0.0, 1.5, None, ["acme"], ["acme", 1], [], {"acme": 1}, {"": "acme"}, "", -0.0,
)  # fmt: skip
_scopes: st.SearchStrategy[dict[str, ScopeValue]] = st.dictionaries(
    st.sampled_from(["tenant", "team"]),
    st.sampled_from(_CHOICES)
    | st.lists(st.sampled_from(_CHOICES), min_size=1, max_size=4).map(tuple),
    min_size=1,
)


class SearchFilterContract(KnowledgeContract):
    """A hit is in scope exactly if `Scope.allows` says so, in every mode."""

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_no_filter_is_no_filter(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """Without a scope and a hint every chunk can be found, whatever its metadata."""
        await knowledge.upsert(
            [
                embedded("a", text="redis", tenant="acme", category="ops"),
                embedded("b", text="redis", tenant="other"),
                embedded("c", text="redis"),
            ]
        )
        found = await self.found(knowledge, asked("redis", mode=mode, scope=Scope()))
        assert found == [f"{name}#chunk-0" for name in "abc"]

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C35_no_foreign_row(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """No mode returns a row of another tenant, even where it is the best match of all."""
        await knowledge.upsert(
            [
                embedded("foreign", text="redis timeout", vector=unit(1), tenant="other"),
                embedded("nobody", text="redis timeout", vector=unit(1)),
                embedded("own", text="a redis", vector=unit(0.2, 1), tenant="acme"),
            ]
        )
        scope = Scope({"tenant": "acme"})
        found = await self.found(knowledge, asked("redis timeout", mode=mode, scope=scope))
        assert found == ["own#chunk-0"]

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_filters_do_not_eat_into_top_k(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A filter narrows the search itself: rows in scope come, however many stand before."""
        foreign = [embedded(f"f{n}", text="redis", tenant="other") for n in range(600)]
        own = [embedded(f"o{n}", text="redis", vector=unit(0, 1), tenant="acme") for n in range(3)]
        await knowledge.upsert([*foreign, *own])
        request = asked("redis", mode=mode, top_k=3, scope=Scope({"tenant": "acme"}))
        assert await self.found(knowledge, request) == [f"o{n}#chunk-0" for n in range(3)]

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_R16_hint_filter(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """The hint filter keeps one category, together with the scope."""
        await knowledge.upsert(
            [
                embedded("a", text="redis", category="ops", tenant="acme"),
                embedded("b", text="redis", category="food", tenant="acme"),
                embedded("c", text="redis", category="ops", tenant="other"),
                embedded("d", text="redis", tenant="acme"),
            ]
        )
        scope = Scope({"tenant": "acme"})
        request = asked("redis", mode=mode, scope=scope, category="ops")
        assert await self.found(knowledge, request) == ["a#chunk-0"]
        assert await self.found(knowledge, asked("redis", mode=mode, category="none")) == []

    async def test_C33_lists_and_several_names(self, knowledge: Knowledge) -> None:
        """A list matches any of its values, one alone too, and several names must all match."""
        await knowledge.upsert(
            [
                embedded("a", tenant="x", level=1),
                embedded("b", tenant="y", level=1),
                embedded("c", tenant="z", level=1),
                embedded("d", tenant="x", level=2),
            ]
        )
        for scope, names in (
            (Scope({"tenant": ("x", "y")}), "abd"),
            (Scope({"tenant": ("x",)}), "ad"),
            (Scope({"tenant": ("x", "y"), "level": (1, 3)}), "ab"),
        ):
            found = await self.found(knowledge, asked(scope=scope))
            assert found == [f"{name}#chunk-0" for name in names]

    async def test_long_lists(self, knowledge: Knowledge) -> None:
        """A list of 500 values, such as a long access list, matches like a short one."""
        await knowledge.upsert([embedded(f"d{n}", team=f"t{n}") for n in range(3)])
        values = tuple(f"t{n}" for n in range(1, 501))
        found = await self.found(knowledge, asked(scope=Scope({"team": values})))
        assert found == ["d1#chunk-0", "d2#chunk-0"]

    async def test_many_names(self, knowledge: Knowledge) -> None:
        """A scope of 40 names holds where all match, and where one does not."""
        every = {f"name{n}": n for n in range(40)}
        await knowledge.upsert([foreign("a", every), foreign("b", {**every, "name39": 0})])
        assert await self.found(knowledge, asked(scope=Scope(every))) == ["a#chunk-0"]

    @pytest.mark.parametrize("wanted", [1, "1", True, 0, False, "True", "true"])
    async def test_C37_types_are_told_apart(
        self, knowledge: Knowledge, wanted: str | int | bool
    ) -> None:
        """A whole number, its text and a boolean are three values."""
        values: list[str | int | bool] = [1, "1", True, 0, False, "True", "true"]
        await knowledge.upsert([embedded(f"d{n}", plan=value) for n, value in enumerate(values)])
        place = next(
            n for n, one in enumerate(values) if type(one) is type(wanted) and one == wanted
        )
        found = await self.found(knowledge, asked(scope=Scope({"plan": wanted})))
        assert found == [f"d{place}#chunk-0"]

    async def test_R26_scope_is_the_domains_rule(self, knowledge: Knowledge) -> None:
        """Over metadata of any JSON, generated scopes find what `Scope.allows` says, no less."""
        kinds = (*_CHOICES, *_FOREIGN)
        rows: dict[str, Mapping[str, object]] = {
            f"d{n:03}": {"tenant": one, "team": other}
            for n, (one, other) in enumerate(
                [*((kind, "acme") for kind in kinds), *((1, kind) for kind in kinds)]
            )
        }
        rows["none"] = {}
        stored = {name: foreign(name, scope) for name, scope in rows.items()}
        for one in stored.values():
            await self.write_foreign(knowledge, one)
        await self.settle(knowledge)

        async def ask(values: dict[str, ScopeValue]) -> None:
            scope = Scope(values)
            allowed = [
                f"{name}#chunk-0"
                for name, one in sorted(stored.items())
                if scope.allows(one.chunk.metadata())
            ]
            assert await self.found(knowledge, asked(top_k=100, scope=scope)) == allowed

        for value in _CHOICES:
            await ask({"tenant": value})
            await ask({"team": value, "tenant": (1, "acme")})
        await for_each(_scopes, ask, count=60)

    async def test_R26_scope_over_the_products_own_names(self, knowledge: Knowledge) -> None:
        """A host may narrow to documents, sources, categories and languages by the same filter."""
        chunks = [embedded(f"d{n}", n, category=f"c{n}") for n in range(3)]
        await knowledge.upsert(
            [evolve(one, chunk=evolve(one.chunk, language="en")) for one in chunks]
        )
        for name, value, ids in (
            ("doc_id", ("d0", "d2"), ["d0#chunk-0", "d2#chunk-2"]),
            ("source", "d1.md", ["d1#chunk-1"]),
            ("category", ("c1", "c2"), ["d1#chunk-1", "d2#chunk-2"]),
            ("chunk_index", 2, ["d2#chunk-2"]),
            ("language", "en", ["d0#chunk-0", "d1#chunk-1", "d2#chunk-2"]),
            ("language", "de", []),
        ):
            scope = Scope({name: value})
            assert await self.found(knowledge, asked(scope=scope)) == ids, name

    async def test_numbers_at_the_edges(self, knowledge: Knowledge) -> None:
        """Whole numbers are told from their neighbours to 64 bits; longer ones find nothing."""
        numbers = [2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, 1 - 2**63, 10**18, 0, -1]
        await knowledge.upsert([embedded(f"d{n}", level=one) for n, one in enumerate(numbers)])
        for n, number in enumerate(numbers):
            found = await self.found(knowledge, asked(scope=Scope({"level": number})))
            assert found == [f"d{n}#chunk-0"]
        for number in (2**63, -(2**63), -(2**63) - 1, 10**40):
            # One that the backend cannot be asked for may be refused instead.
            with suppress(ScopeError):
                assert await self.found(knowledge, asked(scope=Scope({"level": number}))) == []

    @pytest.mark.parametrize(
        "value",
        ['say "hi"', "it's", "back\\slash", "trail\\", "中文", "🙂👩‍👩‍👧", 'a\\"b', "%", "a b"],
    )
    async def test_C32_odd_values_match_themselves(self, knowledge: Knowledge, value: str) -> None:
        """Quotes, backslashes, unicode and emoji match exactly themselves."""
        await knowledge.upsert(
            [
                embedded("same", category=value, tenant=value),
                embedded("longer", category=value + "x", tenant=value + "x"),
            ]
        )
        scope = Scope({"tenant": value})
        assert await self.found(knowledge, asked(scope=scope)) == ["same#chunk-0"]
        assert await self.found(knowledge, asked(category=value)) == ["same#chunk-0"]

    async def test_look_alikes_are_other_values(self, knowledge: Knowledge) -> None:
        """Case, width, accents, spaces and invisible characters make another value."""
        values = [
            "acme", "ACME", "acme ", " acme", "аcme", "ａｃｍｅ", "acmé", "acme\u0301",
            "acme\u200b", "acme\u00a0", "\u202eacme", "acme\ufe0f", "é", "e\u0301",
            "ß", "ss", "ſ", "s",
        ]  # fmt: skip
        await knowledge.upsert(
            [embedded(f"d{n:02}", tenant=value) for n, value in enumerate(values)]
        )
        for n, value in enumerate(values):
            found = await self.found(knowledge, asked(scope=Scope({"tenant": value})))
            assert found == [f"d{n:02}#chunk-0"], ascii(value)

    async def test_C32_control_characters_are_refused(self, knowledge: Knowledge) -> None:
        """A scope value with a line end or another control character never reaches the backend."""
        for value in ("a\nb", "a\x00b", "\x01", "\ud800", "", " \t "):
            with pytest.raises(ScopeError):
                Scope({"tenant": value})
