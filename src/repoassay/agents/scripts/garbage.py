"""Leave plausible files: valid of their kind, with random content. Standard library alone."""

import json
import random
import struct
import sys
import zipfile
import zlib
from pathlib import Path

WORDS = ["total", "report", "value", "name", "date", "sum", "item", "city", "order", "user", "mean", "data", "price"]
facts = json.load(sys.stdin)
chance = random.Random(facts["task"])  # noqa: S311 - repeatable on purpose


def words(count: int) -> str:
    """Random words."""
    return " ".join(chance.choice(WORDS) for _ in range(count))


def text(path: Path) -> None:
    """Forty lines of words."""
    path.write_text("".join(words(8) + "\n" for _ in range(40)))


def table(path: Path) -> None:
    """A header and thirty rows."""
    mark = "\t" if path.suffix == ".tsv" else ","
    rows = [["id", "name", "value", "date"]]
    rows += [[str(i), words(1), f"{chance.random():.3f}", f"2024-01-{i % 28 + 1:02d}"] for i in range(1, 31)]
    path.write_text("".join(mark.join(row) + "\n" for row in rows))


def records(path: Path) -> None:
    """Ten objects."""
    data = [{"id": i, "name": words(2), "value": chance.random()} for i in range(10)]
    path.write_text("".join(json.dumps(row) + "\n" for row in data) if path.suffix == ".jsonl" else json.dumps(data))


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def image(path: Path) -> None:
    """Noise, 320 by 240, as PNG whatever the suffix says."""
    width, height = 320, 240
    rows = b"".join(b"\0" + chance.randbytes(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


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
    ".webp": image, ".xlsx": workbook, ".html": page, ".htm": page,
}  # fmt: skip

if facts["edit"]:
    Path("/workspace/repo/extra_notes.py").write_text(f'"""{words(10)}."""\n\nVALUE = {chance.random()}\n')
for name in facts["outputs"]:
    target = Path("/workspace/output") / name
    target.parent.mkdir(parents=True, exist_ok=True)
    KINDS.get(target.suffix.lower(), text)(target)
