"""Extract the text of the document's first page with its layout."""

import json
import sys
from pathlib import Path

from pypdf import PdfReader

told = json.load(sys.stdin)
page = PdfReader(Path(told["inputs"]) / "PDFPlumber_01_input.pdf").pages[0]
lines = (" ".join(line.split()) for line in page.extract_text(extraction_mode="layout").splitlines())
text = "".join(f"{line}\n" for line in lines if line)
(Path(told["output"]) / told["names"][0]).write_text(text, encoding="utf-8")
