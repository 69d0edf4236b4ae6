"""Bytes to text: formats, encodings, converters."""

import io
import random
import sys
import time
import zipfile

import docx
import pytest

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.domain.errors import MissingExtraError, UnreadableDocumentError
from evidence_lookup.ports.document_source import DocumentReader, ReadDocument

_CHINESE = "# Redis 超时\r\n\r\n当 Redis 主节点响应超过两秒时，先检查慢日志，然后重启哨兵。\r\n"
_FRENCH = "# Café\n\nL'élève a mangé à la fenêtre où il était déjà. Très bien, garçon.\n"


def read(data: bytes, source: str = "a.md") -> ReadDocument:
    """What a reader makes of *data*."""
    reader: DocumentReader = FormatReader()
    return reader.read(data, source=source)


def pdf(text: str) -> bytes:
    """A PDF of one page that shows *text*."""
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, start = len(objects) + 1, len(data)
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (size, table, size, start)
    )


def docx_file() -> bytes:
    """A Word file with a heading, a Chinese paragraph and a table."""
    document = docx.Document()
    document.add_heading("Failover", level=1)
    document.add_paragraph("先重启代理。")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "port"
    table.cell(0, 1).text = "6379"
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("source", "is_markdown"),
    [
        ("a.md", True),
        ("a.MARKDOWN", True),
        ("a.mdown", True),
        ("folder.d/PrometheusOperatorSyncFailed", True),
        ("a.txt", False),
        ("a.text", False),
        ("a.rst", False),
        ("a.log", False),
    ],
)
def test_text_formats(source: str, is_markdown: bool) -> None:
    """Text is taken as it is; without an ending it is Markdown."""
    document = read("# A\r\n文\n".encode(), source)
    assert (document.text, document.is_markdown) == ("# A\r\n文\n", is_markdown)
    assert document.warnings == ()


def test_plain_text_has_no_front_matter() -> None:
    """Only Markdown says of itself what it is."""
    assert read(b"---\ntitle: a\n---\nb\n", "a.txt").body_start == 0


@pytest.mark.parametrize("source", ["a.xyz", "a.md.bak", "v1.2", "a.zip"])
def test_unknown_formats_are_named(source: str) -> None:
    """Another ending is refused by its name."""
    with pytest.raises(UnreadableDocumentError, match=rf"{source}: unknown format \.\w+"):
        read(b"text", source)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n\t\r\n", "is blank"),
        ("\ufeff\u200b\u3000".encode(), "is blank"),
        (b"---\ntitle: a\n---\n\n", "holds no text below its front matter"),
        (b"text\0text", "is binary"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is binary"),
        (b"\x01\x02\x03\x04text", "is binary"),
        (random.Random(0).randbytes(5_000), "is binary"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, reason: str) -> None:
    """Empty, blank and binary files are errors that name the file."""
    with pytest.raises(UnreadableDocumentError, match=f"^a.md {reason}"):
        read(data)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (_CHINESE, "gb18030"),
        (_CHINESE, "utf-16"),
        (_CHINESE, "utf-16-le"),
        (_CHINESE, "utf-16-be"),
        (_CHINESE, "utf-32"),
        ("麻婆豆腐的做法", "gb18030"),
        (_CHINESE * 5_000, "gb18030"),
        ("# 網路逾時\n\n當主機沒有回應時，請先檢查網路連線與防火牆設定。\n", "big5"),
        (_FRENCH, "cp1252"),
        ("Use “quotes” – and dashes.", "cp1252"),
        ("# 시간 초과\n\n서버가 응답하지 않으면 다시 시작하십시오.\n", "euc_kr"),
        ("# タイムアウト\n\nサーバーが応答しない場合は再起動してください。\n", "euc_jp"),
    ],
)
def test_other_encodings_are_detected_with_a_warning(text: str, encoding: str) -> None:
    """Text that is not UTF-8 comes out right, and the warning names file and encoding."""
    document = read(text.encode(encoding))
    assert document.text == text
    assert len(document.warnings) == 1
    assert document.warnings[0].startswith("a.md is not UTF-8; it was read as ")


def test_a_byte_order_mark_is_no_text() -> None:
    """The mark of UTF-8 is dropped without a warning."""
    document = read(_CHINESE.encode("utf-8-sig"))
    assert (document.text, document.warnings) == (_CHINESE, ())


def test_front_matter_in_another_encoding() -> None:
    """Decoding comes first, so that both work together."""
    document = read(f"---\r\ntitle: 超时处理手册\r\n---\r\n{_CHINESE}".encode("gb18030"))
    assert document.title == "超时处理手册"
    assert len(document.warnings) == 1


def test_a_large_file_is_read_in_bounded_time() -> None:
    """20 MB take seconds, in UTF-8 and where the encoding is detected."""
    text = _CHINESE * (20_000_000 // len(_CHINESE.encode("gb18030")))
    for encoding in ("utf-8", "gb18030"):
        began = time.perf_counter()
        assert len(read(text.encode(encoding)).text) == len(text)
        assert time.perf_counter() - began < 30


def test_html_is_converted() -> None:
    """Headings, tables and code become Markdown; scripts go; the title is the page's."""
    data = (
        "<html><head><title> The\n page </title><script>no()</script></head><body>"
        "<h1>Redis 超时</h1><p>Restart <b>it</b>.</p><pre>redis-cli ping</pre></body></html>"
    )
    document = read(data.encode(), "a.html")
    assert document.title == "The page"
    assert "# Redis 超时" in document.text
    assert "**it**" in document.text
    assert "no()" not in document.text
    assert document.is_markdown


def test_html_says_its_encoding() -> None:
    """A declared encoding is believed where the bytes are not UTF-8."""
    data = '<meta http-equiv="x" content="text/html; charset=gb2312"><p>重启代理</p>'.encode(
        "gb2312"
    )
    document = read(data, "a.htm")
    assert document.text.strip() == "重启代理"
    assert document.warnings == ("a.htm is not UTF-8; it was read as gb2312",)


@pytest.mark.parametrize("declared", ["nonsense", "base64", "idna", "utf-8"])
def test_html_that_lies_about_its_encoding(declared: str) -> None:
    """A declared encoding that does not decode is passed over."""
    data = f'<meta charset="{declared}"><p>{_CHINESE}</p>'.encode("gb18030")
    assert "先检查慢日志" in read(data, "a.html").text


def test_deep_html_is_read() -> None:
    """Nesting beyond what a converter follows loses markup, not text, and warns nobody."""
    assert "deep" in read(b"<div>" * 5_000 + b"deep", "a.html").text


def test_docx_is_converted() -> None:
    """Headings, paragraphs and tables of Word files come as Markdown."""
    text = read(docx_file(), "a.docx").text
    assert "# Failover" in text
    assert "先重启代理。" in text
    assert "6379" in text


def test_pdf_is_converted() -> None:
    """The text of a PDF is found."""
    assert "Restart the proxy" in read(pdf("Restart the proxy"), "a.pdf").text


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (b"", "a.pdf"),
        (b"no pdf", "a.pdf"),
        (pdf("x")[:200], "a.pdf"),
        (pdf(""), "a.pdf"),
        (b"", "a.docx"),
        (b"no zip", "a.docx"),
        (docx_file()[:3_000], "a.docx"),
        (b"", "a.html"),
        (b"<script>only()</script>", "a.html"),
    ],
)
def test_files_that_cannot_be_converted(data: bytes, source: str) -> None:
    """Damaged files and files without text are the file's fault, named, whatever failed."""
    with pytest.raises(UnreadableDocumentError, match=f"^{source}"):
        read(data, source)


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    """A Word file of a few kilobytes does not fill the memory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"word/{number}.xml", bytes(60_000_000))
    with pytest.raises(UnreadableDocumentError, match="unpacks to 300000000 bytes"):
        read(buffer.getvalue(), "a.docx")


def test_a_missing_converter_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without markitdown the error says what to install."""
    monkeypatch.setitem(sys.modules, "markitdown.converters", None)
    with pytest.raises(MissingExtraError, match=r"evidence-lookup\[documents\]") as caught:
        read(pdf("x"), "a.pdf")
    assert caught.value.extra == "documents"
