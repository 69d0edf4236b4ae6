"""How long hints take: run ``python tests/benchmarks/bench_hints.py [terms]``."""

import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from evidence_lookup.adapters.aho_corasick import build_hint_matcher
from evidence_lookup.domain.hints import HintTerm
from evidence_lookup.testing.samples import term

T = TypeVar("T")


def timed(what: str, work: Callable[[], T], *, repeat: int = 1) -> T:
    """Print the best time of *repeat* runs, in milliseconds, and give the result."""
    begin = time.perf_counter()
    result = work()
    best = time.perf_counter() - begin
    for _ in range(1, repeat):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    print(f"{what:58}{best * 1e3:12.3f} ms")
    return result


def keywords(count: int, dice: random.Random) -> tuple[HintTerm, ...]:
    """English phrases of one to three words and Chinese words, as keywords of many documents."""
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(3, 9))) for _ in range(20_000)]
    han = [chr(0x4E00 + offset) for offset in range(2_000)]
    return tuple(
        term(
            " ".join(dice.choices(words, k=dice.randint(1, 3)))
            if dice.random() < 0.6
            else "".join(dice.choices(han, k=dice.randint(2, 8))),
            title=f"document {number // 30}",
        )
        for number in range(count)
    )


def main() -> None:
    """A large catalogue, then the worst that terms and queries can do together."""
    dice = random.Random(1)
    terms = keywords(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000, dice)
    matcher = timed(f"build {len(terms)} keywords", lambda: build_hint_matcher(terms))
    long = " ".join(one.text for one in dice.choices(terms, k=6_000))[:50_000]
    for length in (100, 2_000, 50_000):
        timed(
            f"match {length} characters",
            partial(matcher.match, long[:length]),
            repeat=20,
        )
    for what, texts, query in (
        ("a term at each letter of 50,000", ["a"], "a" * 50_000),
        ("a term at each CJK character", ["中"], "中" * 50_000),
        ("2,000 lengths of one letter", ["a" * k for k in range(1, 2_001)], "a" * 50_000),
        ("2,000 lengths of one CJK character", ["中" * k for k in range(1, 2_001)], "中" * 50_000),
        (
            "the same, each failing at its end",
            ["中" * k + "文" for k in range(2_000)],
            "中" * 50_000,
        ),
        ("1,500 ends of one text", [("aa中" * 500)[-k:] for k in range(1, 1_501)], "aa中" * 16_667),
    ):
        worst = timed(f"build: {what}", partial(build_hint_matcher, [*map(term, texts)]))
        timed(f"match: {what}", partial(worst.match, query), repeat=3)


if __name__ == "__main__":
    main()
