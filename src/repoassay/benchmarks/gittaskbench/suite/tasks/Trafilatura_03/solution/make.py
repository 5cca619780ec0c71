"""Write the four values of the reference, a line each."""

import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
lines = (Path(told["truth"]) / "gt.txt").read_text(encoding="utf-8").splitlines()
found = dict(line.split(":", 1) for line in lines if ":" in line)
text = "".join(f"{name}:{found[name].strip()}\n" for name in ("title", "author", "date", "url"))
(Path(told["output"]) / told["names"][0]).write_text(text, encoding="utf-8")
