"""Read author, title and creation date from the document."""

import json
import sys
from pathlib import Path

from pypdf import PdfReader

told = json.load(sys.stdin)
facts = PdfReader(Path(told["inputs"]) / "PyPDF2_03_input.pdf").metadata
created = facts.creation_date.isoformat()
text = json.dumps({"Author": facts.author, "Title": facts.title, "CreationDate": created}, ensure_ascii=False, indent=2)
(Path(told["output"]) / told["names"][0]).write_text(text + "\n", encoding="utf-8")
