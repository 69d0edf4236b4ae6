"""The figures of a lookup, from settings and embedder."""

from typing import Literal

import pytest
from attrs import evolve

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.domain.errors import SettingsError
from evidence_lookup.opening import check_paths, lookup_rules
from evidence_lookup.settings import (
    EmbedderSettings,
    PathName,
    RagSettings,
    Settings,
    SidecarSettings,
)


def thresholds(rag: RagSettings, unrelated: float | None = 0.5) -> tuple[float, float, float]:
    """Floor, reference and high threshold under these settings."""
    settings = Settings(rag=rag, embedder=EmbedderSettings(unrelated_similarity=unrelated))
    rules = lookup_rules(settings, MemoryEmbedder())
    return rules.limits.floor, rules.thresholds.reference, rules.thresholds.high


def test_R53_unset_thresholds_follow_the_embedders_figure() -> None:
    """The floor is what unrelated texts have; the others stand a fifth and two fifths above."""
    assert thresholds(RagSettings()) == pytest.approx((0.5, 0.6, 0.7))
    own = MemoryEmbedder().unrelated_similarity
    assert thresholds(RagSettings(), None)[0] == pytest.approx(own)


def test_a_floor_that_is_set_lifts_the_unset_thresholds() -> None:
    """One figure is enough: the others follow it."""
    assert thresholds(RagSettings(evidence_floor=0.75)) == pytest.approx((0.75, 0.8, 0.85))
    assert thresholds(RagSettings(reference_threshold=0.9)) == pytest.approx((0.5, 0.9, 0.9))


def test_thresholds_out_of_order_are_refused_with_all_three() -> None:
    """A floor above the reference threshold would call everything that is found faint."""
    with pytest.raises(SettingsError, match=r"0\.9.*0\.5.*0\.4.*must rise"):
        thresholds(RagSettings(evidence_floor=0.9, reference_threshold=0.5, high_threshold=0.4))


def test_a_shipped_vector_store_must_read_what_ingest_writes() -> None:
    """langchain-milvus over another store's documents is refused; a store of one's own is not."""
    settings = Settings(store="elasticsearch", vector_store=VectorStoreSettings(mode="auto"))
    with pytest.raises(SettingsError, match=r"auto.*elasticsearch.*vector-store\.factory"):
        check_paths(settings, has_own_store=False)
    check_paths(settings, has_own_store=True)
    check_paths(evolve(settings, store="milvus"), has_own_store=False)


@pytest.mark.parametrize(("mode", "path"), [("auto", "auto"), ("sdk", "sdk"), ("sdk", "milvus")])
def test_a_sidecar_is_another_path(mode: Literal["sdk", "auto"], path: PathName) -> None:
    """A sidecar that is the lookups' own path, under either of its names, is refused."""
    settings = Settings(
        vector_store=VectorStoreSettings(mode=mode), sidecar=SidecarSettings(True, path)
    )
    with pytest.raises(SettingsError, match=r"sidecar\.path"):
        check_paths(settings, has_own_store=False)
    check_paths(evolve(settings, sidecar=SidecarSettings(False, path)), has_own_store=False)


def test_credentials_in_an_address_are_refused_unseen() -> None:
    """An address stands in messages and records: it may hold no password."""
    with pytest.raises(ValueError, match=r"milvus\.token") as caught:
        MilvusSettings("http://root:hunter2@localhost:19530")
    assert "hunter2" not in str(caught.value)
