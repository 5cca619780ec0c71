"""Metrics against values worked out by hand or by another way, and the properties they must have."""

from __future__ import annotations

import difflib
import json
import math
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from repoassay.errors import BadInput, InfraFault, MissingExtra
from repoassay.grading.metrics.opening import extra_of, need
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import all_metrics, get

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=1, max_size=20)
ROWS = st.lists(st.tuples(st.integers(0, 9), st.text("xyz", min_size=1, max_size=3)), min_size=1, max_size=8)


def value(name: str, *arguments: Path, **options: object) -> float:
    return get(name).measure(*arguments, **options).value


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_metric_says_what_it_is() -> None:
    for item in all_metrics():
        assert item.unit and item.span and item.source and item.measure.__doc__, item.name
        assert item.better in ("higher", "lower", "neither")


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(BadInput, match="image_ssim"):
        get("image_ssmi")


def test_a_missing_package_is_a_sentence_with_the_command() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'repoassay\[metrics\]'"):
        need("no_such_package_anywhere")


@pytest.mark.parametrize(
    ("package", "extra"),
    [("PIL", "metrics"), ("numpy", "metrics"), ("cv2", "gittaskbench"), ("scipy", "gittaskbench"),
     ("fast_bss_eval", "gittaskbench"), ("pesq", "speech"), ("onnxruntime", "weights")],
)  # fmt: skip
def test_the_extra_of_a_package_is_the_smallest_that_metrics_can_be_had_with(package: str, extra: str) -> None:
    assert extra_of(package) == extra


@given(WORDS, WORDS)
@settings(max_examples=30, deadline=None)
def test_words_recall_and_precision_agree_with_counting(tmp_path_factory, ours, theirs) -> None:  # type: ignore[no-untyped-def]  # hypothesis
    folder = tmp_path_factory.mktemp("t")
    one, other = save(folder, "a", " ".join(ours)), save(folder, "b", "\n".join(theirs))
    shared = sum(min(ours.count(word), theirs.count(word)) for word in set(ours))
    assert value("token_recall", one, other) == pytest.approx(shared / len(theirs))
    assert value("token_precision", one, other) == pytest.approx(shared / len(ours))
    assert value("token_f1", one, other) == pytest.approx(2 * shared / (len(ours) + len(theirs)))
    assert value("text_similarity", one, one) == 1


def test_similarity_of_texts(tmp_path: Path) -> None:
    one, other = save(tmp_path, "a", "kitten\n"), save(tmp_path, "b", "  sitting ")
    assert value("text_similarity", one, other) == pytest.approx(1 - 3 / 7)  # the textbook's distance of 3
    upper = save(tmp_path, "c", "KITTEN")
    assert value("text_similarity", one, upper) == 0
    assert value("text_similarity", one, upper, casefold=True) == 1
    assert difflib.SequenceMatcher(None, "kitten", "sitting").ratio() < 1


def test_lines_and_phrases(tmp_path: Path) -> None:
    ours = save(tmp_path, "a", "First  line\nsecond\nTHIRD part of it\n")
    theirs = save(tmp_path, "b", "first line\n\nsecond\nmissing\nthird part\n")
    assert value("line_recall", ours, theirs) == pytest.approx(1 / 4)
    assert value("phrases_found", ours, theirs) == pytest.approx(3 / 4)
    assert value("phrases_absent", ours, theirs) == pytest.approx(1 / 4)


def table(rows: list[tuple[int, str]], header: str = "n,word") -> str:
    return header + "\n" + "".join(f"{n},{word}\n" for n, word in rows)


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_tables_are_alike_in_any_order_of_rows_and_columns(tmp_path_factory, rows, chance) -> None:  # type: ignore[no-untyped-def]  # hypothesis
    folder = tmp_path_factory.mktemp("t")
    shuffled = list(rows)
    chance.shuffle(shuffled)
    truth = save(folder, "truth.csv", table(rows))
    turned = "WORD,N\n" + "".join(f"{word},{n}.0\n" for n, word in shuffled)
    assert value("table_cells_f1", save(folder, "a.csv", table(shuffled)), truth) == 1
    assert value("table_cells_f1", save(folder, "b.csv", turned), truth, tolerance=0.001) == 1
    half = value("table_cells_f1", save(folder, "c.csv", table(rows[: len(rows) // 2])), truth)
    found = len(rows) // 2
    assert half == pytest.approx(2 * found / (found + len(rows)))


def test_a_row_is_matched_once(tmp_path: Path) -> None:
    truth = save(tmp_path, "t.csv", "n,word\n1,a\n2,b\n")
    doubled = save(tmp_path, "o.csv", "n,word\n1,a\n1,a\n")
    assert value("table_cells_f1", doubled, truth) == pytest.approx(2 * 2 / 8)


def test_rules_of_columns(tmp_path: Path) -> None:
    path = save(tmp_path, "o.csv", "mail,age\na@b.c,10\nA@B.C,20\nno,nan\n,30\n")
    assert value("column_matches", path, column="Mail", pattern=r"[^@]+@[^@]+") == pytest.approx(1 / 2)
    assert value("column_distinct", path, column="mail") == pytest.approx(3 / 4)
    assert value("column_in_range", path, column="age", low=10, high=20) == pytest.approx(1 / 2)
    assert value("table_rows", path) == 4
    assert value("table_columns_match", path, columns=["age", "MAIL"]) == 1
    assert value("table_columns_match", path, columns=["age"]) == 0
    with pytest.raises(UnreadableOutput, match="height"):
        value("column_distinct", path, column="height")


def test_records_in_any_order_and_leaf_by_leaf(tmp_path: Path) -> None:
    data = [{"id": 1, "tags": ["a", "b"], "x": 0.5}, {"id": 2, "tags": [], "x": None}]
    truth = save(tmp_path, "t.json", json.dumps(data))
    assert value("json_records_f1", save(tmp_path, "a.json", json.dumps(data[::-1])), truth) == 1
    assert value("json_records_f1", save(tmp_path, "b.json", json.dumps(data[:1])), truth) == pytest.approx(2 * 4 / 11)
    near = json.loads(json.dumps(data))
    near[0]["x"] = 0.5004
    path = save(tmp_path, "c.json", json.dumps(near))
    assert value("json_records_f1", path, truth) < 1
    assert value("json_leaves_match", path, truth) == pytest.approx(6 / 7)
    text = json.loads(json.dumps(data))
    text[0]["id"] = "1"  # a text is no number
    assert value("json_leaves_match", save(tmp_path, "d.json", json.dumps(text)), truth) == pytest.approx(6 / 7)


def test_a_number_within_tolerance(tmp_path: Path) -> None:
    truth = save(tmp_path, "t.json", '[{"x": 0.5}]')
    near = save(tmp_path, "o.json", '[{"x": 0.5004}]')
    assert value("json_records_f1", near, truth, tolerance=0.001) == 1
    assert value("json_records_f1", near, truth, tolerance=0.0001) == 0


def picture(path: Path, array: np.ndarray) -> Path:
    Image.fromarray(array.astype(np.uint8)).save(path)
    return path


def test_images_against_closed_forms(tmp_path: Path) -> None:
    flat = picture(tmp_path / "a.png", np.full((32, 40, 3), 100))
    up = picture(tmp_path / "b.png", np.full((32, 40, 3), 110))
    assert value("image_mean_difference", flat, up) == 10
    assert value("image_psnr", flat, up) == pytest.approx(10 * math.log10(255**2 / 100))
    assert value("image_psnr", flat, flat) == 100
    # With no variance SSIM is its luminance term alone.
    c1 = (0.01 * 255) ** 2
    assert value("image_ssim", flat, up) == pytest.approx((2 * 100 * 110 + c1) / (100**2 + 110**2 + c1))
    assert value("image_ssim", flat, flat) == pytest.approx(1)
    assert value("image_contrast", flat) == 0
    assert value("image_size_match", flat, up) == 1
    assert value("image_size_match", flat, width=40, height=33) == 0
    other = picture(tmp_path / "c.png", np.full((20, 20, 3), 100))
    assert value("image_ssim", flat, other) == 0
    assert value("image_ssim", other, flat, resize=True) == pytest.approx(1)
    assert value("image_mean_difference", flat, other) == 255


def test_the_worst_tile_of_a_picture_tells_what_its_mean_forgives(tmp_path: Path) -> None:
    right = np.full((32, 40, 3), 100)
    damaged = right.copy()
    damaged[:8, :10] += 32
    pair = picture(tmp_path / "a.png", damaged), picture(tmp_path / "b.png", right)
    assert value("image_mean_difference", *pair) == 2
    assert value("image_mean_difference", *pair, tiles=4) == 32
    assert value("image_mean_difference", *pair, tiles=1000) == 32


def test_rows_of_a_table_may_be_held_to_their_order(tmp_path: Path) -> None:
    truth = save(tmp_path, "truth.csv", "a,b\n1,2\n3,4\n")
    turned = save(tmp_path, "out.csv", "b,a\n4,3\n2,1\n")
    assert value("table_cells_f1", turned, truth) == 1
    assert value("table_cells_f1", turned, truth, ordered=True) == 0
    assert value("table_cells_f1", truth, truth, ordered=True) == 1


def png(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


def workbook(path: Path, sheet: str, extra: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        if extra:
            archive.writestr(extra, b"x")
    return path


LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "haha">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9))
    + "]><worksheet>&j;</worksheet>"
)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text", b"\xff\xfe\x00broken"),
        ("text", b"a\0b"),
        ("text", b" \n\t "),
        ("csv", b"a,b\n1\n"),
        ("csv", b"a,A\n1,2\n"),
        ("csv", b'a,b\n"' + b"x" * 2_000_000 + b'",2\n'),
        ("json", b"[" * 100_000),
        ("json", b"[NaN]"),
        ("json", b'{"a": 1,}'),
        ("jsonl", b'{"a": 1}\nno\n'),
        ("html", b"just words"),
        ("png", png(100_000, 100_000)),
        ("png", png(64, 64)),
        ("png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40),
        ("jpeg", b"\xff\xd8\xff\xe0" + b"\1" * 100),
        ("image", b"GIF89a"),
        ("pdf", b"%PDF-1.7\n1 0 obj\n<<>>"),
        ("pdf", b"%PDF-1.4\n" + b"[" * 50_000),
        ("xlsx", b"PK\3\4 not a zip"),
    ],
)
def test_hostile_files_do_not_open_and_say_why(tmp_path: Path, kind: str, content: bytes) -> None:
    path = save(tmp_path, f"output.{kind}", content)
    with pytest.raises(UnreadableOutput) as error:
        value("opens", path, format=kind)
    assert str(error.value)


@pytest.mark.long
def test_hostile_workbooks_do_not_open(tmp_path: Path) -> None:
    for number, path in enumerate(
        [
            workbook(tmp_path / "a.xlsx", "0" * 300_000_000),
            workbook(tmp_path / "b.xlsx", LAUGHS),
            workbook(tmp_path / "c.xlsx", "<worksheet/>", "xl/vbaProject.bin"),
        ]
    ):
        with pytest.raises(UnreadableOutput):
            value("opens", path, format="xlsx")
        assert number >= 0


def test_a_broken_reference_is_not_the_outputs_fault(tmp_path: Path) -> None:
    good, bad = save(tmp_path, "o.txt", "words"), save(tmp_path, "t.txt", b"\xff\xfe")
    with pytest.raises(InfraFault, match=r"t\.txt"):
        value("token_f1", good, bad)


def test_bytes_and_sizes(tmp_path: Path) -> None:
    one, other = save(tmp_path, "a", b"abc"), save(tmp_path, "b", b"abd")
    assert value("same_bytes", one, one) == 1
    assert value("same_bytes", one, other) == 0
    assert value("size_bytes", one) == 3
