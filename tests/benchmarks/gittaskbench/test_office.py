"""Cases of the office tasks: text, tables, addresses, pages and metadata of PDF documents, and cells of workbooks."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
case = book.case


def windows(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()


def damaged(desk: Desk, text: str, share: float) -> str:
    """Text with a share of its letters replaced."""
    return "".join("#" if sign.isalnum() and desk.chance.random() < share else sign for sign in text)


@case("PDFPlumber_01", "reference", True, True, (True, True))
@case("PyPDF2_01", "reference", True, True, (True, True))
@case("PDFPlumber_03", "reference", True, True, (True, True))
@case("Eparse_01", "reference", True, True, (True, True))
@case("Eparse_02", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.txt", "output.txt")


@case("PDFPlumber_01", "empty-file", False, False, (False, False))
@case("PyPDF2_01", "empty-file", False, False, (False, False))
@case("PDFPlumber_03", "empty-file", False, False, (True, False))
@case("Eparse_01", "empty-file", False, False, (True, False))
@case("Eparse_02", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "")


@case("PDFPlumber_01", "constant", True, False, (True, False))
@case("PyPDF2_01", "constant", True, False, (True, False))
@case("PDFPlumber_03", "constant", True, False, (True, False))
@case("Eparse_01", "constant", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "text " * 800)


@case("PDFPlumber_01", "crlf-bom", True, True)
@case("PyPDF2_01", "crlf-bom", True, True, (True, True))
@case("PDFPlumber_03", "crlf-bom", True, True)
@case("Eparse_01", "crlf-bom", True, True)
@case("Eparse_02", "crlf-bom", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", windows(desk.text("gt.txt")))


def pages(desk: Desk, task: str, **options: Any) -> list[str]:
    return [page.extract_text(**options) for page in PdfReader(desk.inputs / f"{task}_input.pdf").pages]


@case("PDFPlumber_01", "other-extractor", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", pages(desk, "PDFPlumber_01")[0])


@case("PDFPlumber_01", "layout", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", pages(desk, "PDFPlumber_01", extraction_mode="layout")[0])


@case("PDFPlumber_01", "three-percent-wrong", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", damaged(desk, desk.text("gt.txt"), 0.04))


@case("PDFPlumber_01", "second-page", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", pages(desk, "PDFPlumber_01")[1])


@case("PDFPlumber_01", "lines-sorted", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "\n".join(sorted(desk.text("gt.txt").splitlines())))


@case("PyPDF2_01", "other-extractor", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", "\n".join(pages(desk, "PyPDF2_01", extraction_mode="layout")))


@case("PyPDF2_01", "first-page-only", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", pages(desk, "PyPDF2_01")[0])


@case("PyPDF2_01", "two-percent-wrong", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", damaged(desk, desk.text("gt.txt"), 0.02))


@case("PyPDF2_01", "a-tenth-wrong", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", damaged(desk, desk.text("gt.txt"), 0.1))


@case("PyPDF2_01", "pages-swapped", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "\n".join(pages(desk, "PyPDF2_01")[::-1]))


def table(desk: Desk) -> list[list[str]]:
    return list(csv.reader(io.StringIO(desk.text("gt.csv"))))


@case("PDFPlumber_02", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.csv", "output.csv")


@case("PDFPlumber_02", "no-blank-rows", True, True, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(row for row in table(desk) if any(row)))


@case("PDFPlumber_02", "clean-dates", True, True)
def _(desk: Desk) -> None:
    rows = [[cell.replace(" ", "") if "/ 2" in cell else cell for cell in row] for row in table(desk) if row]
    desk.write("output.csv", windows(desk.table(rows)))


@case("PDFPlumber_02", "index-and-header-twice", True, True)
def _(desk: Desk) -> None:
    head, *rows = [row for row in table(desk) if row]
    rows.insert(36, head)
    desk.write("output.csv", desk.table([["", *head], *([str(i), *row] for i, row in enumerate(rows))]))


@case("PDFPlumber_02", "one-row", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(table(desk)[:2]))


@case("PDFPlumber_02", "wrong-header", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([[f"column {i}" for i in range(7)], *table(desk)[1:]]))


@case("PDFPlumber_02", "rows-reversed", True, False, (True, False))
def _(desk: Desk) -> None:
    head, *rows = table(desk)
    desk.write("output.csv", desk.table([head, *rows[::-1]]))


@case("PDFPlumber_02", "three-columns", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(row[:3] for row in table(desk)))


@case("PDFPlumber_02", "buried", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*table(desk), *[list("abcdefg")] * 200]))


@case("PDFPlumber_02", "empty-file", False, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", "")


@case("PDFPlumber_03", "capitals", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", "YangSai@51CTO.com\nyangsai@51cto.com\n")


@case("PDFPlumber_03", "numbered", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", "Addresses found:\n1. <mailto:yangsai@51cto.com>;\n")


@case("PDFPlumber_03", "every-word", True, False, (True, True))
def _(desk: Desk) -> None:
    words = " ".join(pages(desk, "PDFPlumber_03")).replace("：", " ").split()
    desk.write("output.txt", "\n".join(words))


@case("PDFPlumber_03", "false-address", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", "yangsai@51cto.com\ninfo@51cto.com\n")


@case("PDFPlumber_03", "cut-off", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "yangsai@51cto\n")


@case("PDFPlumber_03", "truncated-name", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "sai@51cto.com\n")


def split(desk: Desk, names: list[str], spans: list[range] | None = None) -> None:
    source = PdfReader(desk.inputs / "PyPDF2_02_input.pdf").pages
    for name, span in zip(names, spans or [range(i, i + 1) for i in range(19)], strict=True):
        writer = PdfWriter()
        for number in span:
            writer.add_page(source[number])
        (desk.folder / name).parent.mkdir(exist_ok=True)
        writer.write(desk.folder / name)


@case("PyPDF2_02", "from-nought", True, True, (True, False))
def _(desk: Desk) -> None:
    split(desk, [f"output_{i:02d}.pdf" for i in range(19)])


@case("PyPDF2_02", "other-number-first", True, True, (True, False))
def _(desk: Desk) -> None:
    split(desk, [f"PyPDF2_02_input_page_{i}.pdf" for i in range(1, 20)])


@case("PyPDF2_02", "in-a-folder", True, True, (True, True))
def _(desk: Desk) -> None:
    split(desk, [f"output/page_{i}.pdf" for i in range(1, 20)])


@case("PyPDF2_02", "to-the-end", True, False, (True, True))
def _(desk: Desk) -> None:
    split(desk, [f"output_{i:02d}.pdf" for i in range(1, 20)], [range(i, 19) for i in range(19)])


@case("PyPDF2_02", "one-missing", True, False, (True, False))
def _(desk: Desk) -> None:
    split(desk, [f"output_{i:02d}.pdf" for i in range(1, 19)], [range(i, i + 1) for i in range(18)])


@case("PyPDF2_02", "one-too-many", True, False, (True, True))
def _(desk: Desk) -> None:
    pages = [range(i, i + 1) for i in range(19)]
    split(desk, [f"output_{i:02d}.pdf" for i in range(1, 21)], [*pages, range(3, 4)])


@case("PyPDF2_02", "garbage", False, False)
def _(desk: Desk) -> None:
    split(desk, [f"output_{i:02d}.pdf" for i in range(1, 20)])
    desk.write("output_07.pdf", desk.chance.bytes(4000))


@case("PyPDF2_02", "missing", False, False, (False, False))
def _(desk: Desk) -> None:
    """Leave nothing."""


FACTS = {
    "Author": "Marie Gee Wilson Andrea Polzer-Debruyne  Sophie Chen and Sonia Fernandes",
    "Title": "Shift work interventions for reduced work-family conflict",
    "CreationDate": "D:20061207105020Z00'00'",
}


@case("PyPDF2_03", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.json", "output.json")


@case("PyPDF2_03", "slashes-nested", True, True, (True, True))
def _(desk: Desk) -> None:
    facts = {f"/{key}": value for key, value in FACTS.items()}
    desk.write("output.json", json.dumps({"file": "a.pdf", "pages": 1, "metadata": {**facts, "/Producer": "pypdf"}}))


@case("PyPDF2_03", "iso-date", True, True, (True, True))
def _(desk: Desk) -> None:
    facts = {"author": FACTS["Author"], "title": FACTS["Title"], "creation_date": "2006-12-07T10:50:20+00:00"}
    desk.write("output.json", windows(json.dumps([facts], indent=1)))


@case("PyPDF2_03", "day-alone", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({**FACTS, "CreationDate": "2006-12-07"}))


@case("PyPDF2_03", "wrong-day", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({**FACTS, "CreationDate": "2006-07-12T10:50:20"}))


@case("PyPDF2_03", "no-title", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({**FACTS, "Title": None}))


@case("PyPDF2_03", "pangram", True, False, (True, True))
def _(desk: Desk) -> None:
    every = "the quick brown fox jumps over the lazy dog 0123456789:'-"
    desk.write("output.json", json.dumps(dict.fromkeys(FACTS, every)))


@case("PyPDF2_03", "cut-off", False, False)
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps(FACTS)[:-20])


@case("PyPDF2_03", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.json", "")


def frame(rows: list[list[object]], header: bool = True, index: bool = True, first: int = 0) -> str:
    """Rows as a data frame prints them: the first as header, or numbers."""
    table: list[list[object]] = rows if header else [list(range(len(rows[0]))), *rows]
    lines = [[str(cell) for cell in row] for row in table]
    if index:
        lines = [["", *lines[0]], *([str(i), *line] for i, line in enumerate(lines[1:], first))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


DATES: list[list[object]] = [["日期", "row1", "row2"], *([f"2025-04-{day:02d}", 1, 2] for day in range(7, 26))]
EPA: list[list[object]] = [[1, 2, 3]] * 13


def listing(dates: str, epa: str) -> str:
    return f"文件名: table_date.xlsx\nSheet: Sheet1\n{dates}\n\n文件名: table_epa.xlsx\nSheet: Sheet1\n{epa}\n"


@case("Eparse_01", "headers-taken-from-first-row", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing(frame(DATES), frame(EPA)))


@case("Eparse_01", "no-index-clock", True, True)
def _(desk: Desk) -> None:
    clocked: list[list[object]] = [DATES[0], *([f"{row[0]} 00:00:00", *row[1:]] for row in DATES[1:])]
    desk.write("output.txt", listing(frame(clocked, index=False), frame(EPA, header=False, index=False)))


@case("Eparse_01", "bordered", True, True)
def _(desk: Desk) -> None:
    def bordered(rows: list[list[object]]) -> str:
        body = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows[1:])
        return "| " + " | ".join(map(str, rows[0])) + " |\n|---|---|---|\n" + body

    desk.write("output.txt", listing(bordered(DATES), bordered(EPA)))


@case("Eparse_01", "one-row-each", True, False)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing(frame(DATES[:2]), frame(EPA[:1])))


@case("Eparse_01", "distinct-values", True, False)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing(frame(DATES), frame(EPA[:1], header=False)))


@case("Eparse_01", "every-row-twice", True, False)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing(frame(DATES * 2, header=False), frame(EPA * 2, header=False)))


@case("Eparse_01", "contents-exchanged", True, False)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing(frame(EPA), frame(DATES)))


@case("Eparse_01", "names-only", True, False)
def _(desk: Desk) -> None:
    desk.write("output.txt", listing("", ""))


@case("Eparse_01", "a-few-wrong", True, True)
def _(desk: Desk) -> None:
    rows = [[*row[:2], 7] if i in (3, 9) else row for i, row in enumerate(DATES)]
    desk.write("output.txt", listing(frame(rows), frame(EPA)))


def cells(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(line) for line in desk.text("gt.txt").splitlines()]


@case("Eparse_02", "reversed-counted-from-one", True, True, (True, False))
def _(desk: Desk) -> None:
    shifted = [{**each, "row": each["row"] + 1, "column": each["column"] + 1} for each in cells(desk)]
    desk.write("output.txt", desk.lines(shifted[::-1]))


@case("Eparse_02", "numbers-and-plain-types", True, True)
def _(desk: Desk) -> None:
    made = []
    for each in cells(desk):
        kind = {"<class 'int'>": "int", "<class 'str'>": "string"}.get(each["type"], "datetime")
        value = int(each["value"]) if kind == "int" else each["value"].replace(" ", "T")
        made.append({**each, "type": kind, "value": value, "sheet": "Sheet1"})
    desk.write("output.txt", desk.lines(made))


@case("Eparse_02", "file-name-alone", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", '{"f_name": "Eparse_02_input.xlsx"}\n')


@case("Eparse_02", "values-wrong", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", desk.lines({**each, "value": "x"} for each in cells(desk)))


@case("Eparse_02", "four-fields", True, False, (True, True))
def _(desk: Desk) -> None:
    kept = ("row", "column", "value", "excel_RC")
    desk.write("output.txt", desk.lines({key: each[key] for key in kept} for each in cells(desk)))


@case("Eparse_02", "twice", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", desk.text("gt.txt") + "\n" + desk.text("gt.txt"))


@case("Eparse_02", "three-wrong", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write(
        "output.txt", desk.lines({**each, "value": "?"} if i % 20 == 7 else each for i, each in enumerate(cells(desk)))
    )


@case("Eparse_02", "copy-input", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.copy(desk.inputs / "Eparse_02_input.xlsx", "output.txt")


@case("Eparse_03", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.json", "output.json")


def plain(first: int = 0) -> list[dict[str, Any]]:
    return [{"row": i + first, "column": j + first, "value": j + 1} for i in range(13) for j in range(3)]


@case("Eparse_03", "counted-from-one", True, True)
def _(desk: Desk) -> None:
    desk.write("output.json", windows(json.dumps(plain(1), indent=2)))


@case("Eparse_03", "coordinates", True, True)
def _(desk: Desk) -> None:
    desk.write(
        "output.json", json.dumps({"Sheet1": {f"{'ABC'[j]}{i + 1}": j + 1 for i in range(13) for j in range(3)}})
    )


@case("Eparse_03", "rows", True, True)
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({"Sheet1": [[1, 2, 3]] * 13}))


@case("Eparse_03", "objects-by-header", True, True)
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps([{"1": 1, "2": 2, "3": 3}] * 12))


@case("Eparse_03", "wrapped", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({"cells": plain()}))


@case("Eparse_03", "first-row-lost", True, False)
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps(plain()[:36]))


@case("Eparse_03", "half", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({"cells": plain()[:20]}))


@case("Eparse_03", "values-wrong", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({"cells": [{**each, "value": 9} for each in plain()]}))


@case("Eparse_03", "twice", True, False)
def _(desk: Desk) -> None:
    desk.write("output.json", json.dumps({"cells": plain() * 2}))


@case("Eparse_03", "cut-off", False, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.json", desk.text("gt.json")[:-100])


@case("Eparse_03", "empty-object", True, False)
def _(desk: Desk) -> None:
    desk.write("output.json", "{}")


@case("Eparse_03", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.json", "")


@pytest.mark.parametrize("task", book.tasks)
@pytest.mark.parametrize("reading", list(Reading), ids=str)
def test_verdicts(task: str, reading: Reading, tmp_path: Path) -> None:
    assert book.complaints(task, tmp_path, reading) == []
