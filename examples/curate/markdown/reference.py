"""A guide as a page with a table of contents."""

import os
from pathlib import Path

import markdown

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

reader = markdown.Markdown(extensions=["meta", "toc", "tables", "footnotes"])
body = reader.convert((INPUTS / "guide.md").read_text("utf-8"))
title, place = reader.Meta["title"][0], reader.Meta["place"][0]
page = (
    f"<!doctype html>\n<html><head><title>{title} - {place}</title></head>\n<body>{reader.toc}\n{body}</body></html>\n"
)
(OUTPUT / "guide.html").write_text(page, "utf-8")
