"""Say what a change does to each file."""

import csv
import json
import os
from pathlib import Path

from unidiff import PatchSet

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

patch = PatchSet((INPUTS / "change.diff").read_text("utf-8"))
rows, lines = [], []
for file in patch:
    kind = "added" if file.is_added_file else "deleted" if file.is_removed_file else "changed"
    rows.append([file.path, kind, file.added, file.removed, len(file)])
    for hunk in file:
        for line in hunk:
            text = line.value.rstrip("\n")
            if line.is_added and line.value.strip():
                place = {"file": file.path, "line": line.target_line_no}
                lines += [{**place, "indent": len(text) - len(text.lstrip()), "text": text.strip()}]
rows.sort()
with (OUTPUT / "files.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([["file", "kind", "added", "removed", "hunks"], *rows])
(OUTPUT / "new_lines.json").write_text(json.dumps(lines, indent=1), "utf-8")
