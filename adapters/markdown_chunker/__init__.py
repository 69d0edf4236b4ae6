"""Chunks by headings, blocks and sentences."""

from evidence_lookup.adapters.markdown_chunker.chunker import MarkdownChunker

__all__ = ["MarkdownChunker"]
