"""What stands for a content where the content itself would be too much (R46, R52)."""

from evidence_lookup.domain.text import cut

PREVIEW_LENGTH = 120


def preview(content: str) -> str:
    """The beginning of *content* in one line of at most 120 characters."""
    return cut(" ".join(content.split()), PREVIEW_LENGTH)
