"""A host for tests: answers without end and prints the id of each answered lookup."""

import asyncio
import sys
from pathlib import Path

from evidence_lookup import KnowledgeBase, Settings, open_knowledge_base
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.settings import EmbedderSettings, RagSettings, TraceSettings


async def ask(base: KnowledgeBase) -> None:
    """Ask again and again."""
    while True:
        result = await base.lookup("where is the kettle kept")
        print(result.invocation_id, flush=True)


async def main(folder: str, url: str, schema: str, docs: str, at_once: str) -> None:
    """Open a knowledge base whose records go to *url* and ask it *at_once* at a time."""
    settings = Settings(
        data_dir=Path(folder),
        store="memory",
        rag=RagSettings(reference_threshold=0.02, evidence_floor=0.01),
        embedder=EmbedderSettings(kind="memory"),
        trace=TraceSettings(store="postgres"),
        postgres=PostgresSettings(url, schema=schema),
    )
    async with open_knowledge_base(settings) as base:
        await base.ingest(docs)
        await asyncio.gather(*(ask(base) for _ in range(int(at_once))))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
