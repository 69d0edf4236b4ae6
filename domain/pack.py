"""The context pack: evidence rendered for a model, under a budget (R36, R37)."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen

from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.text import cut

CountTokens: TypeAlias = Callable[[str], int]
"""Tokens in a text; must not fall as a text grows at its end."""

_LEAST_CONTENT = 40
_SEPARATOR = "\n\n"
_CUT_MARK = " […]"


@frozen
class PackEntry:
    """One block in the pack. `content` is a beginning of the block's; `is_cut` says if not all."""

    evidence_key: str
    source: str | None
    title: str | None
    breadcrumb: str | None
    hit_reasons: tuple[str, ...]
    content: str
    is_cut: bool = False

    def render(self) -> str:
        """The entry as a model reads it; the key in brackets is what an answer cites.

        Metadata stands in one line each, so that none can imitate another entry's key.
        """
        section = self.breadcrumb if self.breadcrumb != self.title else None
        named = {
            "Title": self.title,
            "Source": self.source,
            "Section": section,
            "Found by": ", ".join(self.hit_reasons),
        }
        lines = [f"{name}: {' '.join(text.split())}" for name, text in named.items() if text]
        content = self.content + (_CUT_MARK if self.is_cut else "")
        return "\n".join([f"[{self.evidence_key}]", *lines, content])


@frozen
class PackedSource:
    """A line of the summary: what became of one block; `reason` is ``budget`` or None."""

    evidence_key: str
    source: str | None
    reason: str | None = None


@frozen
class ContextPackSummary:
    """What the pack holds whole, what it holds cut, and what it had no room for."""

    budget: int
    used: int
    included: tuple[PackedSource, ...] = ()
    cut: tuple[PackedSource, ...] = ()
    omitted: tuple[PackedSource, ...] = ()


@frozen
class ContextPack:
    """`text` is the rendered entries; ``summary.used`` counts its tokens, at most the budget."""

    text: str
    entries: tuple[PackEntry, ...]
    summary: ContextPackSummary


def pack(blocks: Sequence[EvidenceBlock], budget: int, count: CountTokens) -> ContextPack:
    """Render *blocks*, best first, into at most *budget* tokens as *count* counts them.

    The budget holds for the whole rendered text, metadata and separators included. Content is cut
    at a word's end, metadata never: a block that is not whole and would keep less than 40
    characters of its content is omitted, and the next ones are tried.
    """
    text = ""
    entries: list[PackEntry] = []
    omitted: list[PackedSource] = []
    for block in blocks:
        before = text + _SEPARATOR if text else ""
        entry = _fitting(block, before, budget, count)
        if entry is None:
            omitted.append(PackedSource(block.evidence_key, block.source, "budget"))
        else:
            entries.append(entry)
            text = before + entry.render()
    return ContextPack(
        text=text,
        entries=tuple(entries),
        summary=ContextPackSummary(
            budget=budget,
            used=count(text) if text else 0,
            included=tuple(PackedSource(e.evidence_key, e.source) for e in entries if not e.is_cut),
            cut=tuple(
                PackedSource(e.evidence_key, e.source, "budget") for e in entries if e.is_cut
            ),
            omitted=tuple(omitted),
        ),
    )


def _fitting(
    block: EvidenceBlock, before: str, budget: int, count: CountTokens
) -> PackEntry | None:
    """The block whole, or as much of it as fits behind *before*, or None."""

    def entry(content: str) -> PackEntry:
        return PackEntry(
            evidence_key=block.evidence_key,
            source=block.source,
            title=block.title,
            breadcrumb=block.breadcrumb,
            hit_reasons=block.hit_reasons,
            content=content,
            is_cut=len(content) < len(block.content),
        )

    def fits(candidate: PackEntry) -> bool:
        return count(before + candidate.render()) <= budget

    whole = entry(block.content)
    if fits(whole):
        return whole
    shortest, longest = 0, len(block.content)
    while longest - shortest > 1:
        middle = (shortest + longest) // 2
        if fits(entry(block.content[:middle])):
            shortest = middle
        else:
            longest = middle
    shortened = entry(cut(block.content, shortest))
    if len(shortened.content) < _LEAST_CONTENT or not fits(shortened):
        return None
    return shortened
