"""How references are written, as patterns."""

import re

from evidence_lookup.domain.evidence_guard.brackets import CLOSERS, OPENERS

_CLOSER = f"[{re.escape(CLOSERS)}]"
_WRAPPERS = r"[\s*_`'\"“”‘’\\^@]{0,20}"
_SEPARATOR = r"(?:[,，;；、|&+]|and\b|和|与|及)"
_NAMES = (
    "evidence[ _]?keys?|evidence|document[ _]?ids?|documents?|docs?|ids?|sources?|src|references?"
    "|refs?|citations?|cite|chunks?|contexts?|excerpts?|passages?|results?"
    "|来源|出处|引用|参考资料|参考|资料|文档|文献|参见|见"
)
_NUMBER = r"[0-9]{1,3}"
_ONE_POSITION = (
    rf"(?:#?(?:{_NAMES})[\s_.:：#-]*|#)?{_NUMBER}(?:\s?[-–]\s?{_NUMBER})?"
    r"|[0-9]+(?::[0-9]+)?†[^\]】]*"
)

OPENER = re.compile(f"[{re.escape(OPENERS)}]")

LONGEST_ITEM = 500
"""Characters of a key that was not returned; of a longer one the end is told."""

LONGEST_POSITIONS = 80
"""Characters of a bracket that may hold positions."""

POSITIONS = re.compile(rf"\s*(?:{_ONE_POSITION})(?:\s*[,，;；、]\s*(?:{_ONE_POSITION}))*\s*", re.I)
"""The whole content of a bracket of positions: ``5``, ``1, 2``, ``1-3``, ``ID:4``, ``4†source``."""

POSITION = re.compile(rf"(?:{_ONE_POSITION})(?=\s*(?:{_SEPARATOR}|$))", re.I)
"""One position, up to a separator or the end."""

NUMBER = re.compile(_NUMBER)

PLAIN_NUMBERS = re.compile(r"[\s0-9,，;；、–-]+")
"""Positions without a name, which need a second look."""

WRAPPERS = re.compile(_WRAPPERS)
"""White space, and the marks that Markdown and quoting put around a key."""

LEAD_IN = re.compile(
    rf"(?:(?:(?:{_NAMES})\s*[:：=]|see also|see|cf\.|参见|见)\s*){_WRAPPERS}",
    re.I,
)
"""What may stand before a key within a bracket: ``Source: ``, ``see ``."""

NAMED_LEAD_IN = re.compile(rf"{_WRAPPERS}(?:(?:{_NAMES})\s*[:：=]\s*)?{_WRAPPERS}", re.I)
"""What may stand before an unknown key, whose document may well be called ``see x``."""

ITEM_END = re.compile(rf"{_WRAPPERS}(?={_SEPARATOR}|{_CLOSER})")
"""After a whole reference: a separator or the closing bracket."""

SEPARATOR = re.compile(rf"{_WRAPPERS}{_SEPARATOR}")

SPACE = re.compile(r"\s?(\s{0,20})")

NOTE = re.compile(r"\s*[:：,，;；|(（†]|\s+(?![-–])")
"""What begins a note after a returned key: ``[guide#chunk-3, lines 5 to 9]``, ``…†source】``."""

OTHER_ITEM = re.compile(
    rf"{_WRAPPERS}(?:(?:{_NAMES})\s*[:：=]\s*)?{_WRAPPERS}"
    rf"(vector:[^\s\[\]【】,，;；、*`]+|rank:[0-9]+){_WRAPPERS}(?:{_SEPARATOR}|$|(?={_CLOSER}))",
    re.I,
)
"""A key of a hit without document id and chunk index, with the separator behind it."""

BARE_RUN = re.compile(r"[^\s\"“”「」『』«»‹›<>()（）{}|*`,;，；、。：！？]+")
"""What a key without brackets can be part of."""

SENTENCE_END_FOLLOWS = re.compile(
    rf"(?:[{re.escape(OPENERS)}][0-9\s,]{{1,20}}{_CLOSER}){{0,20}}[\"”'’)]*\s*(?:[.!?。！？]|\n|$)"
)
"""After ``word[5]``: it is a citation at the end of its sentence rather than an index."""

FOOT = ".:!?_\\"
"""What a sentence puts behind a key without brackets."""

HEAD = OPENERS + "^_\\@"
"""What may stand before one."""

WHOLE_KEY = re.compile(r"(?s:.{1,500})#chunk-[0-9]+|vector:\S+|rank:[0-9]+")
"""The forms of evidence keys, of a text that is nothing else."""
