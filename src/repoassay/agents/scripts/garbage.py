"""Leave files that are valid of their kind and hold nothing: random words and values, one value, or noise.

Standard library alone.
"""

import json
import random
import struct
import sys
import zipfile
import zlib
from pathlib import Path

WORDS = ["total", "report", "value", "name", "date", "sum", "item", "city", "order", "user", "mean", "data", "price"]
facts = json.load(sys.stdin)
fill = facts["fill"]
chance = random.Random(facts["task"])  # noqa: S311 - repeatable on purpose


def words(count: int) -> str:
    """Words: random ones, always the same, or noise."""
    if fill == "constant":
        return " ".join(["data"] * count)
    if fill == "noise":
        return "".join(chance.choice("abcdefghijklmnopqrstuvwxyz0123456789 .@") for _ in range(6 * count))
    return " ".join(chance.choice(WORDS) for _ in range(count))


def octets(count: int) -> bytes:
    """Bytes of an image, a sound or a video."""
    return b"\x80" * count if fill == "constant" else chance.randbytes(count)


def number() -> float:
    """A value between 0 and 1."""
    return 0.5 if fill == "constant" else chance.random()


def text(path: Path) -> None:
    """Forty lines of words."""
    path.write_text("".join(words(8) + "\n" for _ in range(40)))


def table(path: Path) -> None:
    """A header and thirty rows."""
    mark = "\t" if path.suffix == ".tsv" else ","
    rows = [["id", "name", "value", "date"]]
    rows += [[str(i), words(1), f"{number():.3f}", f"2024-01-{i % 28 + 1:02d}"] for i in range(1, 31)]
    path.write_text("".join(mark.join(row) + "\n" for row in rows))


def records(path: Path) -> None:
    """Ten objects."""
    data = [{"id": i, "name": words(2), "value": number()} for i in range(10)]
    path.write_text("".join(json.dumps(row) + "\n" for row in data) if path.suffix == ".jsonl" else json.dumps(data))


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def image(path: Path) -> None:
    """Noise, 320 by 240, as PNG whatever the suffix says."""
    width, height = 320, 240
    rows = b"".join(b"\0" + octets(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def sound(path: Path) -> None:
    """Five seconds at 16 kHz, 16 bits."""
    body = octets(160_000) if fill != "constant" else bytes(160_000)
    form = struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16)
    head = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(body))
    path.write_bytes(b"RIFF" + struct.pack("<I", len(head) + len(body)) + head + body)


def riff(kind: bytes, data: bytes, form: bytes = b"") -> bytes:
    """One chunk of an AVI file; a list when it has a form."""
    data = form + data
    return (b"LIST" if form else kind) + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def video(path: Path) -> None:
    """Thirty frames of 160 by 120 without compression, as AVI whatever the suffix says."""
    width, height, count = 160, 120, 30
    size = width * height * 3
    main = struct.pack("<14I", 40_000, size * 25, 0, 0, count, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, count, size, 0, 0, 0, 0, width, height)
    picture = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    header = riff(b"avih", main) + riff(b"", riff(b"strh", stream) + riff(b"strf", picture), b"strl")
    frames = b"".join(riff(b"00db", octets(size)) for _ in range(count))
    body = b"AVI " + riff(b"", header, b"hdrl") + riff(b"", frames, b"movi")
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def array(path: Path) -> None:
    """A hundred frames of 17 joints as a NumPy file."""
    count = 100 * 17 * 3
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (100, 17, 3), }"
    head = (text + " " * (117 - len(text)) + "\n").encode()
    body = struct.pack(f"<{count}d", *(number() for _ in range(count)))
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body)


def markup(path: Path) -> None:
    """Ten elements of words."""
    rows = "".join(f"<item><name>{words(2)}</name><value>{number()}</value></item>" for _ in range(10))
    path.write_text(f'<?xml version="1.0"?><items>{rows}</items>')


def document(path: Path) -> None:
    """A PDF of one empty page."""
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    )


def workbook(path: Path) -> None:
    """One sheet with random numbers."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    cells = "".join(
        f'<row r="{r}">' + "".join(f'<c r="{c}{r}"><v>{chance.randrange(1000)}</v></c>' for c in "ABCD") + "</row>"
        for r in range(1, 21)
    )
    sheet_type = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{sheet_type}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{sheet_type}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}">'
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{body}')


def page(path: Path) -> None:
    """A web page of words."""
    body = "".join(f"<p>{words(12)}</p>" for _ in range(10))
    path.write_text(f"<!doctype html><html><head><title>{words(3)}</title></head><body>{body}</body></html>")


KINDS = {
    ".csv": table, ".tsv": table, ".json": records, ".jsonl": records, ".png": image, ".jpg": image, ".jpeg": image,
    ".webp": image, ".xlsx": workbook, ".html": page, ".htm": page, ".wav": sound, ".mp4": video, ".npy": array,
    ".xml": markup, ".pdf": document,
}  # fmt: skip

if facts["edit"]:
    Path(facts["repository"], "extra_notes.py").write_text(f'"""{words(10)}."""\n\nVALUE = {number()}\n')
for name in facts["outputs"]:
    target = Path("/workspace/output") / name
    target.parent.mkdir(parents=True, exist_ok=True)
    KINDS.get(target.suffix.lower(), text)(target)
