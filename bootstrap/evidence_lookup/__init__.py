"""Evidence lookup: an agent asks, the team's own documents answer, each answer can be traced.

The names below are imported when they are first used, so that a host that starts often, or
rarely looks something up, pays nothing for the import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evidence_lookup.application.ingest_report import IngestReport
    from evidence_lookup.domain.errors import EvidenceLookupError
    from evidence_lookup.domain.evidence import EvidenceBlock
    from evidence_lookup.domain.evidence_guard import EvidenceGuard, GuardReport
    from evidence_lookup.domain.filters import Scope
    from evidence_lookup.domain.hit import SearchMode
    from evidence_lookup.domain.record import ToolInvocation
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
    "EvidenceBlock",
    "EvidenceGuard",
    "EvidenceLookupError",
    "EvidenceStatus",
    "GuardReport",
    "IngestReport",
    "KnowledgeBase",
    "LookupResult",
    "Scope",
    "SearchMode",
    "Settings",
    "SyncKnowledgeBase",
    "ToolInvocation",
    "load_settings",
    "open_knowledge_base",
    "open_knowledge_base_sync",
]

_HOME = {
    "EvidenceBlock": "domain.evidence",
    "EvidenceGuard": "domain.evidence_guard",
    "EvidenceLookupError": "domain.errors",
    "EvidenceStatus": "domain.status",
    "GuardReport": "domain.evidence_guard",
    "IngestReport": "application.ingest_report",
    "LookupResult": "domain.result",
    "Scope": "domain.filters",
    "SearchMode": "domain.hit",
    "Settings": "settings",
    "ToolInvocation": "domain.record",
    "load_settings": "settings_loading",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_HOME.get(name, 'knowledge_base')}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value
