"""Text of the article, from its headline to its last paragraph."""

import os
from pathlib import Path

import justext

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

html = (INPUTS / "page.html").read_bytes()
found = justext.justext(
    html,
    justext.get_stoplist("English"),
    length_low=30,
    length_high=120,
    stopwords_low=0.2,
    stopwords_high=0.25,
    max_link_density=0.3,
)
lines = []
for paragraph in found:
    inside = "article" in paragraph.dom_path.split(".")
    wanted = paragraph.is_heading and paragraph.dom_path.endswith((".h1", ".h2"))
    if inside and (wanted or (paragraph.dom_path.endswith("article.p") and not paragraph.is_boilerplate)):
        lines.append(" ".join(paragraph.text.split()))
(OUTPUT / "article.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
