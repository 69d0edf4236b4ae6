"""A Milvus server that is not there, or does not speak."""

import socket

import pytest

from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.testing.knowledge_samples import asked


async def test_nobody_listens() -> None:
    """A server that is not there is unavailable, at once, and named with its setting."""
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        await _is_unavailable(MilvusSettings(f"http://127.0.0.1:{port}"))


async def _is_unavailable(settings: MilvusSettings) -> None:
    knowledge = MilvusKnowledge(settings)
    for call in (knowledge.search(asked()), knowledge.probe()):
        with pytest.raises(BackendUnavailableError, match=r"127.0.0.1.*milvus.uri"):
            await call
    await knowledge.aclose()
