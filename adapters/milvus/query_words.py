"""The text of a query as the keyword path takes it."""

from evidence_lookup.domain.text import clean, cut

MAX_QUERY_CHARACTERS = 8_192


def words(query: str) -> str:
    """The words of *query*, bounded; marks are no words, so that marks alone give nothing."""
    bounded = clean(cut(query, MAX_QUERY_CHARACTERS))
    text = "".join(char if char.isalnum() or ord(char) > 127 else " " for char in bounded)
    return " ".join(text.split()) if any(char.isalnum() for char in text) else ""
