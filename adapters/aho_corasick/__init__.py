"""Finds many terms in one pass."""

from evidence_lookup.adapters.aho_corasick.matcher import AhoCorasickMatcher, build_hint_matcher

__all__ = ["AhoCorasickMatcher", "build_hint_matcher"]
