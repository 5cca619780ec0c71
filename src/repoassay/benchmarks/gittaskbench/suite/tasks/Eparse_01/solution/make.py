"""Print every sheet of every workbook as a data frame prints: row numbers, columns aligned to the right."""

import json
import sys
from pathlib import Path

from openpyxl import load_workbook

told = json.load(sys.stdin)
parts = []
for path in sorted((Path(told["inputs"]) / "Eparse_01_input").glob("*.xlsx")):
    parts.append(f"文件名: {path.name}")
    for sheet in load_workbook(path).worksheets:
        rows = [[str(value) for value in row] for row in sheet.iter_rows(values_only=True)]
        rows = [[str(number), *row] for number, row in enumerate(rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        heads = ["", *(str(number) for number in range(len(widths) - 1))]
        parts.append(f"Sheet: {sheet.title}")
        parts += ["  ".join(map(str.rjust, row, widths)) for row in [heads, *rows]]
    parts.append("")
(Path(told["output"]) / told["names"][0]).write_text("\n".join(parts) + "\n", encoding="utf-8")
