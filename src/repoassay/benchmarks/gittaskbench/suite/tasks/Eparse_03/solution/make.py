"""Write every cell of the workbook, by sheet and row."""

import json
import sys
from pathlib import Path

from openpyxl import load_workbook

told = json.load(sys.stdin)
path = Path(told["inputs"]) / "Eparse_03_input.xlsx"
sheets = {}
for sheet in load_workbook(path).worksheets:
    rows = []
    for number, row in enumerate(sheet.iter_rows()):
        cells = [
            {
                "column_index": cell.column - 1,
                "excel_RC": cell.coordinate,
                "c_header": str(sheet.cell(1, cell.column).value),
                "r_header": str(sheet.cell(cell.row, 1).value),
                "value": str(cell.value),
                "type": type(cell.value).__name__,
            }
            for cell in row
        ]
        rows.append({"row_index": number, "cells": cells})
    sheets[sheet.title] = {"rows": rows}
text = json.dumps({"file_name": path.name, "sheets": sheets}, ensure_ascii=False, indent=2)
(Path(told["output"]) / told["names"][0]).write_text(text + "\n", encoding="utf-8")
