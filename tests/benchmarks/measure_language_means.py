"""Measures the mean vectors that `LanguageCentredEmbedder` takes away.

    python tests/benchmarks/measure_language_means.py XQUAD_FOLDER OUT.npy

XQuAD (xquad.en.json, xquad.zh.json): CC BY-SA 4.0, google-deepmind/xquad.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from evidence_lookup.adapters.local_embedder import LocalEmbedder


def texts(file: Path) -> tuple[list[str], list[str]]:
    """Questions (two of each paragraph) and paragraphs."""
    data: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["data"]
    paragraphs = [one for article in data for one in article["paragraphs"]]
    questions = [qa["question"] for one in paragraphs for qa in one["qas"][:2]]
    return questions, [one["context"] for one in paragraphs]


async def measure(folder: Path) -> "np.typing.NDArray[np.float16]":
    """Shape ``(2, 2, dimension)``: English and Chinese, each for queries and passages."""
    embedder = LocalEmbedder(cache_folder=user_cache_path("evidence-lookup"))
    means: list[list[Any]] = []
    for language in ("en", "zh"):
        questions, passages = texts(folder / f"xquad.{language}.json")
        asked = [await embedder.embed_query(question) for question in questions]
        read = await embedder.embed_passages(passages)
        means.append([np.mean(asked, axis=0), read.mean(axis=0)])
    return np.array(means, np.float16)


if __name__ == "__main__":
    np.save(sys.argv[2], asyncio.run(measure(Path(sys.argv[1]))))
