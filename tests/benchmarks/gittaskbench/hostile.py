"""Output files made to crash, stall, fill, escape or deceive whatever opens them.

Each is written into a folder as one agent's output for one task; none deserves to pass.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["CORPUS", "Hostile"]


@dataclass(frozen=True)
class Hostile:
    """One hostile output: for which task (of which suite), its name, and how it is written."""

    suite: str
    task: str
    name: str
    write: Callable[[Path], None]


CORPUS: list[Hostile] = []


def hostile(*tasks: str, suite: str = "gittaskbench") -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Register a writer for some tasks."""

    def register(write: Callable[[Path], None]) -> Callable[[Path], None]:
        name = write.__name__.removeprefix("write_")
        CORPUS.extend(Hostile(suite, task, name, write) for task in tasks)
        return write

    return register


def raw(name: str, content: bytes, *tasks: str, file: str, suite: str = "gittaskbench") -> None:
    """Register plain content."""

    def write(place: Path) -> None:
        (place / file).write_bytes(content)

    write.__name__ = name
    hostile(*tasks, suite=suite)(write)


# ---------------------------------------------------------------- images


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, rows: bytes = b"", depth: int = 8, colour: int = 2, extra: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def zeros(megabytes: int) -> bytes:
    """A deflate stream of many zeros: one block over and over, closed by an empty one and the sum of so many."""
    packer = zlib.compressobj(9)
    first, again = (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    checksum = (megabytes * 2**20 % 65521) << 16 | 1
    return first + again * (megabytes - 1) + b"\x03\0" + checksum.to_bytes(4, "big")


IMAGE = ("SuperResolution_02", "TransparentBackground_01", "Stegano_01")
SMALL = png(40, 30, b"".join(b"\0" + bytes(range(120)) for _ in range(30)))
HUGE_BODY = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zeros(64))
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/tmp/owned) (w) file closefile\nshowpage\n%%EOF\n"
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0001108ffffffff03012200021101031101")

raw("image_bomb", b"\x89PNG\r\n\x1a\n" + HUGE_BODY + chunk(b"IEND", b""), *IMAGE, file="output.png")
raw("image_100000_wide", png(100_000, 3, (b"\0" + bytes(300_000)) * 3), *IMAGE, file="output.png")
raw("image_truncated", SMALL[: len(SMALL) // 2], *IMAGE, file="output.png")
raw("image_no_pixels", png(0, 0), "Stegano_01", "DeScratch_02", file="output.png")
raw("image_one_pixel", png(1, 1, b"\0\1\2\3"), *IMAGE, "DeScratch_03", "DeOldify_02", file="output.png")
raw("image_wrong_crc", SMALL.replace(b"IEND", b"JEND"), "StyleTransfer_02", file="output.png")
raw("image_text_bomb", png(8, 8, bytes(200), extra=chunk(b"zTXt", b"k\0\0" + zeros(256))), *IMAGE, file="output.png")
raw(
    "image_profile_bomb",
    png(8, 8, bytes(200), extra=chunk(b"iCCP", b"k\0\0" + zeros(256))),
    "DeScratch_01",
    file="output.png",
)
raw(
    "image_bad_palette",
    png(8, 8, bytes(72), colour=3, extra=chunk(b"PLTE", b"\0" * 7)),
    "DeScratch_01",
    file="output.png",
)
raw("image_64_bits", png(8, 8, bytes(999), depth=64), "DeScratch_03", file="output.png")
raw("jpeg_65535_square", JPEG + bytes(200), "DeOldify_01", "StyleTransfer_01", file="output.jpg")
raw("postscript_as_png", EPS, "DeScratch_01", "AnimeGANv3_01", "TransparentBackground_02", file="output.png")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'
raw("vector_as_png", SVG, "AnimeGANv3_02", file="output.png")
raw("bitmap_huge", b"BM" + struct.pack("<IIIIiiHHIIIIII", 0, 0, 54, 40, 2**31 - 1, 2**31 - 1, 1, 24, 0, 0, 0, 0, 0, 0),
    "TransparentBackground_03", file="output.png")  # fmt: skip


@hostile("StyleTransfer_03", "SuperResolution_01")
def write_gif_of_many_frames(place: Path) -> None:
    from PIL import Image

    frames = [Image.new("L", (500, 500), value % 256) for value in range(300)]
    frames[0].save(place / "output.gif", save_all=True, append_images=frames[1:])
    (place / "output.gif").rename(place / "output.png")


@hostile("SuperResolution_03")
def write_image_of_not_a_number(place: Path) -> None:
    from PIL import Image

    Image.fromarray(np.full((240, 250), np.nan, np.float32)).save(place / "output.tiff")
    (place / "output.tiff").rename(place / "output.png")


# ---------------------------------------------------------------- video

VIDEO = ("DeOldify_03", "AnimeGANv3_03")
MOOV = struct.pack(">I4s", 24, b"ftyp") + b"isom" + bytes(12) + struct.pack(">I4s", 2**31 - 1, b"moov") + bytes(64)
raw("video_of_bytes", bytes(range(256)) * 40, *VIDEO, file="output.mp4")
raw("video_malformed_boxes", MOOV, *VIDEO, file="output.mp4")
raw(
    "video_list_of_files",
    b"ffconcat version 1.0\nfile /etc/passwd\nfile ../../truth/gt.mp4\n",
    *VIDEO,
    file="output.mp4",
)
raw("video_playlist_on_the_net", b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nhttp://127.0.0.1:9/a.ts\n", *VIDEO,
    file="output.mp4")  # fmt: skip
SESSION = b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n"
raw("video_session", SESSION, "DeOldify_03", file="output.mp4")


def avi(width: int, height: int, count: int, frames: bytes) -> bytes:
    def riff(kind: bytes, data: bytes, form: bytes = b"") -> bytes:
        data = form + data
        return (b"LIST" if form else kind) + struct.pack("<I", len(data) % 2**32) + data

    size = width * height * 3 % 2**32
    main = struct.pack("<14I", 40_000, size, 0, 0, count, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, count, size, 0, 0, 0, 0, 99, 99)
    picture = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    header = riff(b"avih", main) + riff(b"", riff(b"strh", stream) + riff(b"strf", picture), b"strl")
    body = b"AVI " + riff(b"", header, b"hdrl") + riff(b"", frames, b"movi")
    return b"RIFF" + struct.pack("<I", len(body)) + body


raw("video_huge_frames", avi(30_000, 30_000, 2**31, b"00db" + struct.pack("<I", 2**31)), *VIDEO, file="output.mp4")
raw("video_without_frames", avi(500, 380, 21, b""), "DeOldify_03", file="output.mp4")


# ---------------------------------------------------------------- sound


def wav(rate: int, channels: int, samples: bytes, kind: int = 1, bits: int = 16, claimed: int | None = None) -> bytes:
    block = max(1, channels * bits // 8) % 65536
    form = struct.pack("<HHIIHH", kind, channels % 65536, rate, rate * block % 2**32, block, bits)
    size = len(samples) if claimed is None else claimed
    return (
        b"RIFF"
        + struct.pack("<I", 36)
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + b"data"
        + struct.pack("<I", size)
        + samples
    )


FLOATS = {"not_a_number": np.nan, "infinite": np.inf, "enormous": 3e38}
SOUNDS = {
    **{f"sound_{name}": wav(8000, 1, np.full(9000, value, "f4").tobytes(), 3, 32) for name, value in FLOATS.items()},
    "sound_4_gigabytes_claimed": wav(8000, 1, bytes(1000), claimed=2**32 - 1),
    "sound_no_channels": wav(8000, 0, bytes(1000)),
    "sound_60000_channels": wav(8000, 60_000, bytes(240_000)),
    "sound_rate_zero": wav(0, 1, bytes(1000)),
    "sound_rate_4_gigahertz": wav(2**32 - 1, 1, bytes(20_000)),
    "sound_one_sample": wav(8000, 1, b"\1\0"),
    "sound_of_bytes": bytes(range(256)) * 100,
}  # fmt: skip


def two(content: bytes, name: str) -> None:
    def write(place: Path) -> None:
        for number in (1, 2):
            (place / f"output_{number:02d}.wav").write_bytes(content)

    write.__name__ = name
    hostile("SpeechBrain_02")(write)


for each, content in SOUNDS.items():
    two(content, each)


@hostile("SpeechBrain_02")
def write_sound_of_ten_hours(place: Path) -> None:
    import soundfile

    for number in (1, 2):
        with soundfile.SoundFile(place / f"output_{number:02d}.wav", "w", 8000, 1, format="FLAC") as stream:
            for _ in range(600):
                stream.write(np.zeros(8000 * 60))


# ---------------------------------------------------------------- JSON, XML, CSV, text

JSON = ("Scrapy_01", "Eparse_03", "PyPDF2_03", "SpeechBrain_05")
raw("json_deep", b"[" * 200_000 + b"]" * 200_000, *JSON, file="output.json")
raw("json_deep_objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, *JSON, file="output.json")
raw("json_long_number", b'{"prediction": ' + b"9" * 2_000_000 + b"}", *JSON, file="output.json")
raw("json_not_a_number", b'{"prediction": NaN, "Title": Infinity, "text": -Infinity}', *JSON, file="output.json")
raw("json_lone_surrogate", b'[{"text": "\\ud800", "author": "\\udfff"}]', *JSON, file="output.json")
raw("json_nul", b'[{"text": "\\u0000"}]\0\0', *JSON, file="output.json")
raw("json_many", b"[" + b",".join([b'{"row":1,"column":1,"value":"x","text":"x","author":"y"}'] * 400_000) + b"]",
    "Scrapy_01", "Eparse_03", file="output.json")  # fmt: skip

LOL = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
XML = {
    "xml_billion_laughs": b'<!DOCTYPE q [<!ENTITY l0 "lol">' + LOL + b"]><q>&l9;</q>",
    "xml_quadratic": b'<!DOCTYPE q [<!ENTITY a "' + b"a" * 100_000 + b'">]><q>' + b"&a;" * 20_000 + b"</q>",
    "xml_outside_file": b'<!DOCTYPE q [<!ENTITY x SYSTEM "file:///etc/passwd">]><quotes><quote><text>&x;</text></quote></quotes>',
    "xml_outside_net": b'<!DOCTYPE q SYSTEM "http://127.0.0.1:9/x.dtd"><quotes/>',
    "xml_parameter_entity": b'<!DOCTYPE q [<!ENTITY % x SYSTEM "file:///dev/zero"> %x;]><q/>',
    "xml_include": b'<q xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="file:///etc/passwd"/></q>',
    "xml_deep": b"<q>" * 200_000 + b"</q>" * 200_000,
    "xml_many_attributes": b"<q " + b" ".join(b'a%d="1"' % n for n in range(100_000)) + b"/>",
    "xml_truncated": b"<quotes><quote><text>one</text>",
    "xml_other_encoding": b'<?xml version="1.0" encoding="utf-7"?><q>+ADw-</q>',
}  # fmt: skip
for each, content in XML.items():
    raw(each, content, "Scrapy_03", file="output.xml")

CSV = ("Scrapy_02", "Faker_01", "NeuroKit_01", "PDFPlumber_02")
raw("table_million_columns", b"a," * 1_000_000 + b"\n1\n", *CSV, file="output.csv")
raw("table_long_field", b'author,text\n"' + b"x" * 30_000_000 + b'"\n', *CSV, file="output.csv")
raw("table_open_quote", b'author,text\n"never closed\n' + b"x,y\n" * 1000, *CSV, file="output.csv")
raw("table_nul", b"author,text\n\0,\0\n", *CSV, file="output.csv")
raw("table_million_rows", b"Username,Email\n" + b"a,b@c.de\n" * 1_000_000, *CSV, file="output.csv")
raw(
    "list_deep",
    b'SCR_Onsets,SCR_Peaks,SCR_Height\n"' + b"[" * 100_000 + b'",[1],[2]\n',
    "NeuroKit_01",
    file="output.csv",
)
raw("list_of_nothing", b'ECG_R_Peaks,ECG_P_Peaks\n"[nan, inf, 1e999]","[' + b"9" * 50_000 + b']"\n', "NeuroKit_02",
    file="output.csv")  # fmt: skip
raw("list_that_computes", b'ECG_R_Peaks,ECG_P_Peaks\n"[9**9**9**9]","[__import__(\'os\').getpid()]"\n', "NeuroKit_02",
    file="output.csv")  # fmt: skip

TEXT = ("PDFPlumber_01", "FunASR_02", "FunASR_03", "Trafilatura_01", "Trafilatura_03", "Eparse_01", "Faker_03")
raw("text_40_megabytes", b"lorem ipsum dolor sit amet " * 1_500_000, *TEXT, file="output.txt")
raw("text_one_letter", b"a" * 5_000_000, "PyPDF2_01", "FunASR_01", "Eparse_02", file="output.txt")
raw("text_half_utf8", "好".encode()[:2] * 5000, *TEXT, file="output.txt")
raw("text_combining", ("a" + "\u0301" * 200_000).encode(), "PDFPlumber_03", "FunASR_01", file="output.txt")
raw("text_backtracking", b"a@" * 200_000 + b"!", "PDFPlumber_03", file="output.txt")
raw("text_million_lines", b"Sheet\n" * 1_000_000, "Eparse_01", "Trafilatura_03", file="output.txt")


# ---------------------------------------------------------------- PDF


def pdf(*objects: bytes) -> bytes:
    body, places = b"%PDF-1.5\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, table, len(objects) + 1, len(body))  # fmt: skip


def pages(content: bytes) -> Callable[[Path], None]:
    def write(place: Path) -> None:
        for number in range(1, 20):
            (place / f"output_{number:02d}.pdf").write_bytes(content)

    return write


STREAM = zeros(200)
PDFS = {
    "pdf_loop": pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 1>>"),
    "pdf_many_pages_claimed": pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 999999999>>"),
    "pdf_stream_bomb": pdf(
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(STREAM), STREAM),
    ),
    "pdf_truncated": pdf(b"<</Type/Catalog/Pages 2 0 R>>")[:30],
    "pdf_script": pdf(b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>",
                      b"<</Type/Pages/Kids[]/Count 0>>"),
    "pdf_deep_arrays": pdf(b"<</Type/Catalog/Pages 2 0 R/X " + b"[" * 50_000 + b"]" * 50_000 + b">>",
                           b"<</Type/Pages/Kids[]/Count 0>>"),
}  # fmt: skip
for each, content in PDFS.items():
    writer = pages(content)
    writer.__name__ = each
    hostile("PyPDF2_02")(writer)


@hostile("PyPDF2_02")
def write_pdf_locked(place: Path) -> None:
    from pypdf import PdfWriter

    for number in range(1, 20):
        made = PdfWriter()
        made.add_blank_page(100, 100)
        made.encrypt("secret", algorithm="RC4-128")
        made.write(place / f"output_{number:02d}.pdf")


@hostile("PyPDF2_02")
def write_pdf_by_the_thousand(place: Path) -> None:
    for number in range(3000):
        (place / f"output_{number:04d}.pdf").write_bytes(b"%PDF-1.4\n%%EOF")


# ---------------------------------------------------------------- arrays


class _Owned:
    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return os.system, ("touch /tmp/repoassay-owned",)  # type: ignore[return-value]


def npy(head: str, body: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body


SHAPE = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n"
ARRAYS = {
    "array_pickle": npy(SHAPE.format("|O", "(1,)"), pickle.dumps(_Owned())),
    "array_is_a_pickle": pickle.dumps(_Owned()),
    "array_huge_claimed": npy(SHAPE.format("<f8", "(1000000, 1000000, 3)")),
    "array_negative": npy(SHAPE.format("<f8", "(-1, 17, 3)"), bytes(1000)),
    "array_computed_shape": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9**9**9, 3), }\n"),
    "array_of_records": npy(SHAPE.format("<f8", "(100, 17, 3)").replace("'<f8'", "[('x', '<f8')]"), bytes(40_800)),
    "array_of_text": npy(SHAPE.format("<U9", "(100, 17, 3)"), bytes(183_600)),
    "array_not_a_number": npy(SHAPE.format("<f8", "(100, 17, 3)"), np.full(5100, np.nan).tobytes()),
    "array_enormous_values": npy(SHAPE.format("<f8", "(100, 17, 3)"), np.full(5100, 1e308).tobytes()),
}
for each, content in ARRAYS.items():
    raw(each, content, "VideoPose3D_01", file="output.npy")


@hostile("VideoPose3D_01")
def write_array_bomb(place: Path) -> None:
    with (
        zipfile.ZipFile(place / "output.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as part,
    ):
        part.write(npy(SHAPE.format("<f8", "(25000000, 17, 3)")))
        for _ in range(600):
            part.write(bytes(2**20))


# ---------------------------------------------------------------- workbooks (tasks of the starter suite)


@hostile("workbook-budget-build", suite="starter")
def write_workbook_with_macros(place: Path) -> None:
    from openpyxl import Workbook

    stream = io.BytesIO()
    Workbook().save(stream)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"macro")
    (place / "report.xlsx").write_bytes(stream.getvalue())


@hostile("workbook-budget-build", suite="starter")
def write_workbook_bomb(place: Path) -> None:
    with zipfile.ZipFile(place / "report.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", bytes(300 * 2**20))


@hostile("workbook-budget-build", suite="starter")
def write_workbook_is_another_archive(place: Path) -> None:
    (place / "report.xlsx").write_bytes(gzip.compress(bytes(10**7)))


# ---------------------------------------------------------------- names and places


@hostile("Stegano_02", "FunASR_02", "PDFPlumber_03", "Scrapy_02")
def write_link_to_the_truth(place: Path) -> None:
    (place / "output.txt").symlink_to("/jobs/0/truth/gt.txt")
    (place / "output.csv").symlink_to("/jobs/0/truth/gt.csv")


@hostile("Stegano_02")
def write_folder_linked_to_the_truth(place: Path) -> None:
    (place / "output").symlink_to("/jobs/0/truth")
    (place / "outputs").symlink_to("../../../../../../../../jobs/0/truth")


@hostile("Stegano_02", "PyPDF2_02")
def write_pipe(place: Path) -> None:
    os.mkfifo(place / "output.txt")
    os.mkfifo(place / "output_01.pdf")


@hostile("Stegano_02", "SuperResolution_02")
def write_folder_in_place_of_a_file(place: Path) -> None:
    for name in ("output.txt", "output.png"):
        (place / name / "deep").mkdir(parents=True)


@hostile("Stegano_02")
def write_odd_names(place: Path) -> None:
    for name in ("output.\n.txt", "output..txt\u202e", "output.{a,b}", "output.*", "-rf", "output." + "x" * 200):
        (place / name).write_text("nothing")


@hostile("FunASR_02")
def write_sparse_terabyte(place: Path) -> None:
    with (place / "output.txt").open("wb") as stream:
        stream.truncate(2**40)


@hostile("Scrapy_01")
def write_deep_folders(place: Path) -> None:
    folder = place
    for _ in range(300):
        folder = folder / "output"
        folder.mkdir()
    (folder / "output.json").write_text(json.dumps([{"text": "x", "author": "y"}]))
