"""Small files that take very much to open: documents, workbooks and pictures as an attacker delivers them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence

__all__ = ["PDFS", "PICTURES", "WORKBOOKS"]


def _document(bodies: Sequence[bytes]) -> bytes:
    """Objects 1, 2, ... as a PDF whose catalogue is the first."""
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return made + tail % (len(bodies) + 1, table, len(bodies) + 1, len(made))


def _operations(count: int = 2_000_000) -> bytes:
    """One short text operation very often, packed: some sixty kilobytes."""
    packed = zlib.compress(b"BT /F1 1 Tf " + b"(a) Tj 1 0 Td " * count + b"ET", 9)
    return _document([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
    ])  # fmt: skip


def _forms(levels: int = 12, calls: int = 10) -> bytes:
    """Forms that each draw the next one ten times: a page of a million million boxes."""

    def form(number: int, last: bool) -> bytes:
        inner = b"0 0 1 1 re f " if last else b"/X Do " * calls
        resources = b"" if last else b" /Resources << /XObject << /X %d 0 R >> >>" % (number + 1)
        return b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9]%s /Length %d >>\nstream\n%s\nendstream" % (
            resources, len(inner), inner,
        )  # fmt: skip

    return _document([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Length 5 >>\nstream\n/X Do\nendstream",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        *(form(5 + level, level == levels - 1) for level in range(levels)),
    ])  # fmt: skip


def _deep(levels: int = 20_000) -> bytes:
    """A tree of pages in which every knot has one knot."""
    return _document([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        *(b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1) for number in range(2, levels)),
    ])  # fmt: skip


def _unpacking(size: int = 2**28) -> bytes:
    """A page whose stream unpacks to a quarter of a gibibyte."""
    packer, packed = zlib.compressobj(9), b""
    for _ in range(size // 2**20):
        packed += packer.compress(b" " * 2**20)
    packed += packer.flush()
    return _document([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R >>",
    ])  # fmt: skip


def _book(sheet: bytes, *, strings: bytes = b"", more: Mapping[str, bytes] | None = None) -> bytes:
    """A workbook of one sheet with this XML inside."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    package = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels"'
        f' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        f'<sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2"'
        f' Type="{office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
    }  # fmt: skip
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        archive.writestr("xl/sharedStrings.xml", b'<sst xmlns="%s">%s</sst>' % (main.encode(), strings))
        archive.writestr("xl/worksheets/sheet1.xml", b'<worksheet xmlns="%s">%s</worksheet>' % (main.encode(), sheet))
        for name, data in (more or {}).items():
            archive.writestr(name, data)
    return made.getvalue()


def _cells(inside: bytes) -> bytes:
    return b"<sheetData>" + inside + b"</sheetData>"


def _png(width: int, height: int) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    packer, packed = zlib.compressobj(9), b""
    row = bytes(1 + (width + 7) // 8)
    for _ in range(height):
        packed += packer.compress(row)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", packed + packer.flush()) + part(b"IEND", b"")


PDFS: dict[str, Callable[[], bytes]] = {
    "operations": _operations,
    "forms": _forms,
    "deep": _deep,
    "unpacking": _unpacking,
}
_ONE = b'<row r="1"><c r="A1" t="n"><v>1</v></c></row>'
WORKBOOKS = {
    # One cell at the other end of the sheet makes seventeen thousand million places.
    "dimension": lambda: _book(_cells(_ONE + b'<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row>')),
    "merged": lambda: _book(_cells(_ONE) + b'<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    "links": lambda: _book(_cells(_ONE) + b'<hyperlinks><hyperlink ref="A1:XFD1048576" location="x"/></hyperlinks>'),
    "cells": lambda: _book(_cells(b"<row>" + b"<c><v>1</v></c>" * 4_000_000 + b"</row>")),
    "strings": lambda: _book(_cells(_ONE), strings=b"<si><t>a</t></si>" * 3_500_000),
    "archive": lambda: _book(_cells(_ONE), more={"xl/media/x.bin": bytes(300 * 2**20)}),
}
PICTURES = {"pixels": lambda: _png(40_000, 40_000)}
