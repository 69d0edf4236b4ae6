"""A sentence-transformers model small enough to be made in a test."""

import importlib
import string
from pathlib import Path
from typing import Any

import pytest


def make_tiny_model(folder: Path) -> None:
    """Write a BERT of two layers with a vocabulary of characters and a few words to *folder*.

    The library reads it as it is, and takes the mean over the tokens.

    Skips the test where sentence-transformers, which needs torch, is not installed.
    """
    pytest.importorskip(
        "sentence_transformers", reason="the extra sentence-transformers (torch) is not installed"
    )
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    torch.manual_seed(0)
    words = ["the", "pool", "database", "connection", "is", "exhausted", "cat", "sat", "on"]
    single = [*string.ascii_lowercase, *string.digits, *string.punctuation, *"数据库连接池耗尽"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *single]
    pieces += ["##" + char for char in [*string.ascii_lowercase, *string.digits]]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=512,
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
