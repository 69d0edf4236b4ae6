"""How the keyword path cuts text into words."""

import string
from typing import Any

MULTILINGUAL = "multilingual"
# Jieba gives blanks and marks as tokens; left in, texts would match by their blanks alone.
_NO_WORDS = [
    " ",
    "\t",
    "\n",
    "\r",
    "\u3000",
    *string.punctuation,
    *"，。！？；：、（）《》「」【】“”‘’…—·",
]


def analyzer_params(analyzer: str) -> dict[str, Any]:
    """The parameters of *analyzer*.

    ``multilingual`` cuts Chinese into words and Korean into syllables (jieba), ignores letter case
    and finds English words by their stem. Milvus' own type ``chinese`` minds the case and finds no
    Korean; ``standard`` and ``english`` find no word inside a Chinese or Korean run.
    """
    if analyzer != MULTILINGUAL:
        return {"type": analyzer}
    return {
        "tokenizer": "jieba",
        "filter": [
            "lowercase",
            {"type": "stop", "stop_words": _NO_WORDS},
            {"type": "stemmer", "language": "english"},
        ],
    }
