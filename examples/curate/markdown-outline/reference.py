"""The outline of a guide: its headings with the anchors that a page has, and what it links to."""

import csv
import os
import re
from pathlib import Path

import markdown

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

reader = markdown.Markdown(extensions=["meta", "toc", "tables", "footnotes"])
body = reader.convert((INPUTS / "guide.md").read_text("utf-8"))
rows = []


def visit(tokens):
    """Every heading below, in the order of the text."""
    for token in tokens:
        rows.append(["heading", token["level"], token["id"], token["name"]])
        visit(token["children"])


visit(reader.toc_tokens)
rows += [["link", "", target, text] for target, text in re.findall(r'<a href="(https?:[^"]+)">([^<]*)</a>', body)]
rows += [["meta", "", key, values[0]] for key, values in sorted(reader.Meta.items())]
rows += [["cell", "", str(number), text] for number, text in enumerate(re.findall(r"<td>(.*?)</td>", body), 1)]
with (OUTPUT / "outline.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([["kind", "level", "key", "text"], *rows])
