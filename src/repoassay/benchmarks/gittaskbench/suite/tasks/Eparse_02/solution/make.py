"""Write every cell of the workbook as a JSON line."""

import json
import sys
from pathlib import Path

from openpyxl import load_workbook

told = json.load(sys.stdin)
path = Path(told["inputs"]) / "Eparse_02_input.xlsx"
lines = []
for sheet in load_workbook(path).worksheets:
    for row in sheet.iter_rows():
        for cell in row:
            record = {
                "row": cell.row - 1,
                "column": cell.column - 1,
                "value": str(cell.value),
                "type": str(type(cell.value)),
                "c_header": str(sheet.cell(1, cell.column).value),
                "r_header": str(sheet.cell(cell.row, 1).value),
                "excel_RC": cell.coordinate,
                "sheet": sheet.title,
                "f_name": path.name,
            }
            lines.append(json.dumps(record, ensure_ascii=False))
(Path(told["output"]) / told["names"][0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
