"""Readings of every visible district sheet as records."""

import json
import os
from datetime import datetime
from pathlib import Path

from openpyxl import load_workbook

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

def day(value):
    if isinstance(value, datetime):
        return value.date().isoformat()
    form = "%d/%m/%Y" if "/" in value else "%Y-%m-%d"
    return datetime.strptime(value.strip(), form).date().isoformat()


def clock(value):
    return value.strip() if isinstance(value, str) else f"{value:%H:%M}"


def readings(sheet):
    """Records of one sheet; the header row may stand anywhere."""
    header = next(row for row in sheet.iter_rows() if any(cell.value == "Station" for cell in row))
    at = {str(cell.value): cell.column for cell in header if cell.value}
    level_name = next(name for name in at if name.startswith("Level"))
    divisor = 100 if "(cm)" in level_name else 1
    station = None
    for row in range(header[0].row + 1, sheet.max_row + 1):
        name, date, time, level, remark = (
            sheet.cell(row, at[key]).value for key in ("Station", "Date", "Time", level_name, "Remark")
        )
        station = name or station
        if date is None or str(remark or "").lower().startswith("void") or level in (None, "", "-", "n/a"):
            continue
        metres = float(str(level).replace(",", ".")) / divisor
        yield {
            "district": sheet.title,
            "station": station,
            "taken_at": f"{day(date)}T{clock(time)}",
            "level_m": round(metres, 2),
            "remark": remark or None,
        }


book = load_workbook(INPUTS / "readings.xlsx")
sheets = [sheet for sheet in book if sheet.sheet_state == "visible" and sheet.title != "Read me"]
records = [record for sheet in sheets for record in readings(sheet)]
(OUTPUT / "readings.json").write_text(json.dumps(records, indent=2, ensure_ascii=False), encoding="utf-8")
