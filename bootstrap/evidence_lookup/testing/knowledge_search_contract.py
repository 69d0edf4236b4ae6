"""What every `KnowledgeSearchPort` promises, as one test suite for its adapters.

Subclass it in a test module and give the fixture `knowledge`, an EMPTY collection that was
prepared for `MODEL` and `DIMENSION`::

    class TestMyStore(KnowledgeSearchContract):
        modes = frozenset({SearchMode.DENSE})

        @pytest.fixture
        async def knowledge(self) -> AsyncIterator[Knowledge]:
            knowledge = MyKnowledge(...)
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
            yield knowledge
            await knowledge.drop()
            await knowledge.aclose()

The suite writes what it searches for. A search adapter without a write side is paired with the
store of another adapter on the same collection, and subclasses this suite alone::

    store = MilvusKnowledge(MilvusSettings(uri, collection=name))
    yield PairedKnowledge(MyVectorStoreSearch(...), store)

Hooks tell what the adapter is: `modes`, `semantics`, `settle`, `write_foreign`, `examples`,
`patience`. A test of a mode that is not in `modes` is skipped with that reason. An adapter that
cannot keep a promise overrides that one test, and says why in its docstring.
"""

from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.search_filter_contract import SearchFilterContract
from evidence_lookup.testing.search_identity_contract import SearchIdentityContract
from evidence_lookup.testing.search_injection_contract import SearchInjectionContract
from evidence_lookup.testing.search_input_contract import SearchInputContract
from evidence_lookup.testing.search_lifecycle_contract import SearchLifecycleContract
from evidence_lookup.testing.search_ranking_contract import SearchRankingContract

__all__ = ["Knowledge", "KnowledgeSearchContract"]


class KnowledgeSearchContract(
    SearchRankingContract,
    SearchIdentityContract,
    SearchFilterContract,
    SearchInjectionContract,
    SearchInputContract,
    SearchLifecycleContract,
):
    """What every knowledge search promises; all tests run on an EMPTY, prepared collection."""
