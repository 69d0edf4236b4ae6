"""Evidence lookup: an agent asks, the team's own documents answer, each answer can be traced."""

from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.knowledge_base import (
    KnowledgeBase,
    SyncKnowledgeBase,
    open_knowledge_base,
    open_knowledge_base_sync,
)
from evidence_lookup.settings import Settings
from evidence_lookup.settings_loading import load_settings

__all__ = [
    "EvidenceStatus",
    "KnowledgeBase",
    "LookupResult",
    "Scope",
    "SearchMode",
    "Settings",
    "SyncKnowledgeBase",
    "load_settings",
    "open_knowledge_base",
    "open_knowledge_base_sync",
]
