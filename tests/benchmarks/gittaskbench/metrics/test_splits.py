"""Documents split into pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from repoassay.benchmarks.gittaskbench.metrics.splits import natural_order, pdf_pages_split
from repoassay.grading.protocol import UnreadableOutput

WORDS = ("alpha rivers flow", "beta mountains stand", "gamma oceans roar", "delta deserts burn")


def document(place: Path, *texts: str) -> None:
    """A PDF with a page for each text."""
    place.parent.mkdir(exist_ok=True, parents=True)
    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    for text in texts:
        page = writer.add_blank_page(300, 200)
        named = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): named})}
        )
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    writer.write(place)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    for number, text in enumerate(WORDS, 1):
        document(tmp_path / "truth" / f"page_{number}.pdf", text)
    return tmp_path / "truth"


@pytest.mark.parametrize("name", ["output_{0:02d}.pdf", "a2_of_4_page_{0}.pdf", "deep/p{0}.PDF"])
@pytest.mark.parametrize("first", [0, 1, 8])
def test_names_may_count_in_any_way(name: str, first: int, tmp_path: Path, truth: Path) -> None:
    for number, text in enumerate(WORDS, first):
        document(tmp_path / "out" / name.format(number), text)
    assert pdf_pages_split(tmp_path / "out", truth).value == 1


def test_swapped_missing_surplus_and_long_files_cost(tmp_path: Path, truth: Path) -> None:
    for number, text in enumerate([WORDS[1], WORDS[0], *WORDS[2:]], 1):
        document(tmp_path / "swapped" / f"{number}.pdf", text)
    assert pdf_pages_split(tmp_path / "swapped", truth).value == 0.5
    for number in range(3):
        document(tmp_path / "less" / f"{number}.pdf", WORDS[number])
    assert pdf_pages_split(tmp_path / "less", truth).value == 0.75
    for number in range(4):
        document(tmp_path / "long" / f"{number}.pdf", *WORDS[number:])
    assert pdf_pages_split(tmp_path / "long", truth).value == 0.25
    for number in range(5):
        document(tmp_path / "more" / f"{number}.pdf", WORDS[min(number, 3)])
    assert pdf_pages_split(tmp_path / "more", truth).value == 0.8


def test_pages_cut_off_or_turned_are_wrong(tmp_path: Path, truth: Path) -> None:
    for place in truth.iterdir():
        for name in ("cut", "turned", "whole"):
            (tmp_path / name).mkdir(exist_ok=True)
            writer = PdfWriter()
            page = writer.add_page(PdfReader(place).pages[0])
            if name == "cut":
                page.mediabox.upper_right = page.cropbox.upper_right = (300, 100)
            elif name == "turned":
                page.rotate(90)
            writer.write(tmp_path / name / place.name)
    found = {name: pdf_pages_split(tmp_path / name, truth).value for name in ("cut", "turned", "whole")}
    assert found == {"cut": 0, "turned": 0, "whole": 1}


def test_what_is_no_pdf_is_refused(tmp_path: Path, truth: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(UnreadableOutput, match=r"no \.pdf"):
        pdf_pages_split(folder, truth)
    (folder / "output_01.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(UnreadableOutput, match="output_01"):
        pdf_pages_split(folder, truth)


def test_links_are_not_followed(tmp_path: Path, truth: Path) -> None:
    (tmp_path / "out").mkdir()
    for path in truth.iterdir():
        (tmp_path / "out" / path.name).symlink_to(path)
    with pytest.raises(UnreadableOutput):
        pdf_pages_split(tmp_path / "out", truth)


def test_order_is_natural() -> None:
    assert sorted(["p10", "p9", "p1"], key=natural_order) == ["p1", "p9", "p10"]
    assert sorted(["9", "a", "10", "b1"], key=natural_order) == ["9", "10", "a", "b1"]
