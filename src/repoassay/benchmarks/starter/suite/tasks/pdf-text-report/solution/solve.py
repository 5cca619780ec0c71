"""Body text of the report: lines by position, columns apart, words joined again."""

import os
import re
from pathlib import Path

from pypdf import PdfReader

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

MARGIN = 55  # points at the head and foot of a page that hold running lines


def pieces(page):
    """Every piece of text as (column, -y, x, size, text), the running lines left out."""
    found = []
    height, middle = float(page.mediabox.height), float(page.mediabox.width) / 2

    def visit(text, cm, tm, font, size):
        text = text.strip()
        if text and MARGIN < tm[5] < height - MARGIN:
            found.append((tm[4] > middle, -tm[5], tm[4], size, text))

    page.extract_text(visitor_text=visit)
    return sorted(found)


def paragraphs(page):
    """Headings and paragraphs of a page; a larger step down begins a new one."""
    blocks, last = [], None
    for column, y, _, size, text in pieces(page):
        new = last is None or column != last[0] or size != last[2] or y - last[1] > size * 1.5
        if new:
            blocks.append(text)
        elif blocks[-1].endswith("-"):
            blocks[-1] = blocks[-1][:-1] + text
        else:
            blocks[-1] += " " + text
        last = (column, y, size)
    return blocks


reader = PdfReader(INPUTS / "survey.pdf")
lines = [re.sub(r"\s+", " ", block) for page in reader.pages for block in paragraphs(page)]
(OUTPUT / "survey.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
