"""References in the text of an answer."""

from collections.abc import Iterable

from evidence_lookup.domain.evidence_guard.bare import bare_references
from evidence_lookup.domain.evidence_guard.bracketed import BracketedReferences
from evidence_lookup.domain.evidence_guard.known_keys import KnownKeys
from evidence_lookup.domain.evidence_guard.literal_keys import literal_spans
from evidence_lookup.domain.evidence_guard.reference import Reference
from evidence_lookup.domain.evidence_guard.text_units import CodeSpans


def find_references(text: str, known: KnownKeys, code: CodeSpans) -> list[Reference]:
    """The references in *text*, in order of their places.

    **In brackets** (``[…]``, ``【…】``, ``［…］``), one or several parted by ``,``, ``;``, ``、``,
    ``|``, ``&``, ``+`` or *and*. White space, quotation marks, and Markdown's marks and escapes
    around a reference are passed over, and so is a name before it (``Source: …``, ``see …``).

    1. A returned key that stands there literally, the longest first, whatever it holds. A note
       may follow it: ``[guide#chunk-3, lines 5 to 9]``.
    2. Else all up to a ``#chunk-N`` that ends the item. It is `valid` if it differs from a
       returned key only by white space, normal form or Markdown's escapes, and else `unknown`.
       Nested brackets are part of it unless they hold a reference of their own.
    3. ``vector:ID`` and ``rank:N``, likewise; outside code if they were not returned.
    4. Outside code a position, alone or with a name: ``5``, ``1, 2``, ``1-3``, ``ID:4``,
       ``Document 4``, ``#chunk-3``, ``4†source``: `positional`. Numbers have at most 3 digits. No
       position is: a Markdown link's text ``[5](…)``, a definition ``[5]: …``, a footnote
       ``[^5]``, an interval that begins with zero ``[0, 1]``, and a number behind a letter, digit
       or bracket (``arr[5]``) unless the sentence ends there (``in 30 s[5].``).

    **Without brackets**, in code and link targets too, a run of characters that holds
    ``#chunk-N``: white space, quotation marks, parentheses, commas, ``|``, ``*`` and backticks
    end it. A returned key that stands there literally is `valid` if white space, such a mark, or a
    change between CJK and other script stands before it; words before it are prose. A whole code
    span or link target is no exception. ``vector:ID`` and ``rank:N`` need brackets.

    Other brackets (``[INFO]``, ``list[str]``, ``[x]``, ``[text](url)``) are no references.
    """
    found = list(BracketedReferences(text, known, code, literal_spans(text, known)))
    found += bare_references(text, known, _merged((one.start, one.end) for one in found))
    return sorted(found, key=lambda one: (one.start, one.end))


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
