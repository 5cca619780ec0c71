"""Find the addresses in the document's text."""

import json
import re
import sys
from pathlib import Path

from pypdf import PdfReader

told = json.load(sys.stdin)
reader = PdfReader(Path(told["inputs"]) / "PDFPlumber_03_input.pdf")
text = "\n".join(page.extract_text() for page in reader.pages)
found = sorted(set(re.findall(r"[A-Za-z0-9.+_-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", text)))
(Path(told["output"]) / told["names"][0]).write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
