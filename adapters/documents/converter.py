"""html, pdf and docx to Markdown, through markitdown."""

import io
import re
import warnings
import zipfile
from importlib import import_module
from typing import Any

from attrs import frozen

from evidence_lookup.adapters.documents.encoding import decode
from evidence_lookup.domain.errors import MissingExtraError, UnreadableDocumentError
from evidence_lookup.domain.text import clean, is_blank

_CONVERTERS = {
    ".html": "HtmlConverter",
    ".htm": "HtmlConverter",
    ".pdf": "PdfConverter",
    ".docx": "DocxConverter",
}
CONVERTED = frozenset(_CONVERTERS)
"""The endings that are converted."""

_LARGEST_UNPACKED = 256 * 1024 * 1024
_DECLARED = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.I)
_HEAD = 4_096
_PAGE_END = re.compile("[\f\v]")


@frozen
class Converted:
    """The Markdown of a file, with its title if the format has one."""

    text: str
    title: str | None = None
    warning: str | None = None


def convert(data: bytes, *, ending: str, source: str) -> Converted:
    """*data*, a file of the format *ending*, as Markdown.

    Raises:
        UnreadableDocumentError: the file is empty, damaged, locked or holds no text.
        MissingExtraError: the converter is not installed.
    """
    if not data:
        raise UnreadableDocumentError(f"{source} is empty")
    warning = None
    if _CONVERTERS[ending] == "HtmlConverter":
        declared = _DECLARED.search(data, 0, _HEAD)
        decoded = decode(data, source=source, declared=declared and declared[1].decode())
        data, warning = decoded.text.encode("utf-8", "replace"), decoded.warning
    elif ending == ".docx":
        _check_archive(data, source)
    result = _run(data, ending, source)
    text = clean(_PAGE_END.sub("\n", result.markdown))
    if is_blank(text):
        raise UnreadableDocumentError(f"{source} holds no text")
    title = " ".join(clean(result.title or "").split())
    return Converted(text, title or None, warning)


def _run(data: bytes, ending: str, source: str) -> Any:
    try:
        # Its parts, not MarkItDown: that loads a model to guess the format we know.
        converters = import_module("markitdown.converters")
        markitdown = import_module("markitdown")
    except ImportError as error:
        raise MissingExtraError("documents", f"{source}: a {ending} file") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(converters, _CONVERTERS[ending])().convert(
                io.BytesIO(data), markitdown.StreamInfo(extension=ending, charset="utf-8")
            )
    except markitdown.MissingDependencyException as error:
        raise MissingExtraError("documents", f"{source}: a {ending} file") from error
    # Each format's library has its own errors, and broken files raise any of Python's too.
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnreadableDocumentError(f"{source} is damaged or locked: {reason}") from error


def _check_archive(data: bytes, source: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise UnreadableDocumentError(f"{source} is damaged: {error}") from error
    if unpacked > _LARGEST_UNPACKED:
        raise UnreadableDocumentError(f"{source} unpacks to {unpacked} bytes, which is too much")
