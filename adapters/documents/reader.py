"""The document reader that knows formats by their endings."""

from pathlib import PurePosixPath

from evidence_lookup.adapters.documents.converter import CONVERTED, convert
from evidence_lookup.adapters.documents.encoding import decode
from evidence_lookup.adapters.documents.front_matter import front_matter
from evidence_lookup.domain.errors import UnreadableDocumentError
from evidence_lookup.domain.text import is_blank
from evidence_lookup.ports.document_source import ReadDocument

_MARKDOWN = frozenset({"", ".md", ".markdown", ".mdown"})
_PLAIN = frozenset({".txt", ".text", ".rst", ".log"})


class FormatReader:
    """Reads Markdown with YAML front matter, plain text, and html, pdf and docx.

    A file without an ending is read as Markdown if it holds text. The front matter's names are
    ``id``, ``title``, ``category`` or ``domain``, ``keywords`` and ``tags`` and ``entities`` (a
    list, or a text with commas), ``language`` or ``lang``, and ``scope``, a mapping of names to
    texts, whole numbers and booleans; others are passed over. Whatever is wrong with one of them is
    a warning, and that one is not used.
    """

    def read(self, data: bytes, *, source: str) -> ReadDocument:
        """The document in *data*; *source* gives the format by its ending.

        Raises:
            UnreadableDocumentError: the file is binary, empty or blank below its front matter, of
                an unknown format, damaged, or in no encoding that can be told.
            MissingExtraError: its format needs a converter that is not installed.
        """
        ending = PurePosixPath(source).suffix.lower()
        if ending in CONVERTED:
            return _converted(data, ending, source)
        if ending in _PLAIN:
            decoded = decode(data, source=source)
            warnings = (decoded.warning,) if decoded.warning else ()
            return ReadDocument(decoded.text, is_markdown=False, warnings=warnings)
        if ending not in _MARKDOWN:
            raise UnreadableDocumentError(f"{source}: unknown format {ending}")
        return _markdown(data, source)


def _converted(data: bytes, ending: str, source: str) -> ReadDocument:
    converted = convert(data, ending=ending, source=source)
    warnings = (converted.warning,) if converted.warning else ()
    return ReadDocument(converted.text, title=converted.title, warnings=warnings)


def _markdown(data: bytes, source: str) -> ReadDocument:
    decoded = decode(data, source=source)
    found = front_matter(decoded.text, source=source)
    if is_blank(decoded.text[found.body_start :]):
        raise UnreadableDocumentError(f"{source} holds no text below its front matter")
    texts, lists = found.metadata.texts, found.metadata.lists
    return ReadDocument(
        decoded.text,
        body_start=found.body_start,
        id=texts.get("id"),
        title=texts.get("title"),
        category=texts.get("category"),
        keywords=lists.get("keywords", ()),
        entities=lists.get("entities", ()),
        language=texts.get("language"),
        scope=found.metadata.scope,
        warnings=(*((decoded.warning,) if decoded.warning else ()), *found.warnings),
    )
