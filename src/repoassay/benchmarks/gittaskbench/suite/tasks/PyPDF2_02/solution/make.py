"""Write every page into a file of its own."""

import json
import sys
from pathlib import Path

from pypdf import PdfReader, PdfWriter

told = json.load(sys.stdin)
for number, page in enumerate(PdfReader(Path(told["inputs"]) / "PyPDF2_02_input.pdf").pages, 1):
    writer = PdfWriter()
    writer.add_page(page)
    writer.write(Path(told["output"]) / f"output_{number:02d}.pdf")
