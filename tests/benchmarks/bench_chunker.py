"""How fast documents are cut: python tests/benchmarks/bench_chunker.py FOLDER [REPEAT]."""

import sys
import time
from pathlib import Path

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.domain.errors import UnreadableDocumentError
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.ports.document_source import ReadDocument, SourceFile


def main(folder: Path, repeat: int) -> None:
    """Print MB of text and chunks a second for all Markdown files of *folder*."""
    counted = [0, 0]

    def count(text: str) -> int:
        counted[0] += 1
        counted[1] += len(text)
        return estimate_tokens(text)

    documents: list[ReadDocument] = []
    for file in FilesystemSource().files(folder, include=["*.md", "*.txt"]):
        if isinstance(file, SourceFile):
            try:
                documents.append(FormatReader().read(file.path.read_bytes(), source=file.source))
            except UnreadableDocumentError as error:
                print(error)
    chunker = MarkdownChunker(count)
    began = time.perf_counter()
    chunks = [
        chunk
        for document in documents
        for _ in range(repeat)
        for chunk in chunker.chunk(document).chunks
    ]
    seconds = time.perf_counter() - began
    characters = sum(len(document.text) for document in documents) * repeat
    tokens = sorted(estimate_tokens(chunk.content) for chunk in chunks)
    print(
        f"{len(documents)} documents, {characters / 1e6:.1f} million characters: {seconds:.1f} s, "
        f"{characters / seconds / 1e6:.2f} million a second, {len(chunks) / seconds:.0f} chunks a "
        f"second; {len(chunks)} chunks of {tokens[len(tokens) // 2]} tokens in the middle, at most "
        f"{tokens[-1]}; counted {counted[0]} times, {counted[1] / characters:.2f} of the text"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
