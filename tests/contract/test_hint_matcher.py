"""Every adapter of the port `HintMatcher` against its contract."""

import pytest

from evidence_lookup.adapters.aho_corasick import build_hint_matcher
from evidence_lookup.ports.hint_matcher import BuildHintMatcher
from evidence_lookup.testing.hint_matcher_contract import HintMatcherContract


class TestAhoCorasick(HintMatcherContract):
    """The automaton."""

    @pytest.fixture
    def build(self) -> BuildHintMatcher:
        """It has no settings."""
        return build_hint_matcher
