"""Extract the text of every page."""

import json
import sys
from pathlib import Path

from pypdf import PdfReader

told = json.load(sys.stdin)
reader = PdfReader(Path(told["inputs"]) / "PyPDF2_01_input.pdf")
text = "\n".join(page.extract_text() for page in reader.pages)
(Path(told["output"]) / told["names"][0]).write_text(text, encoding="utf-8")
