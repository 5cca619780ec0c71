"""What GitTaskBench's own script decides for Scrapy_03, whose reading of XML repairs much and guesses the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric, need

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["gtb_scrapy_03"]

Pair = tuple[str, str]
_DECLARATION = re.compile(r"<\?xml[^>]+\?>")
_ITEMS = ("quote", "item", "entry", "record", "row", "data")
_TEXTS = ("text", "quote", "content")
_MOST = 2000
_LONGEST = 500_000


@metric(
    "gtb_scrapy_03",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Scrapy_03",
    packages=("defusedxml",),
)
def gtb_scrapy_03(of: Path, against: Path) -> Measurement:
    """The lower share of authors and texts found, among as many of the first reference records as the output has."""
    data = present(of)
    try:
        ours = _pairs(utf8(data)[:_LONGEST])[:_MOST]
    except UnreadableOutput as error:
        return Measurement(FAILED, str(error))
    theirs = _pairs(utf8(present(against)))
    count = min(len(ours), len(theirs))
    if not count:
        return Measurement(FAILED, "no records")
    right = [0, 0]
    for wanted in theirs[:count]:
        best = max(range(len(ours)), key=lambda place: sum(map(_alike, wanted, ours[place])))
        right = [
            had + (bool(want) and want.lower() in got.lower())
            for had, want, got in zip(right, wanted, ours.pop(best), strict=True)
        ]
    return Measurement(min(right) / count, f"{count} of {len(theirs)} reference records were looked for")


def _alike(one: str, other: str) -> int:
    one, other = one.lower(), other.lower()
    return 2 if one == other else int(one in other or other in one)


def _pairs(text: str) -> list[Pair]:
    """Pairs (author, text); where no element holds any, the contents of tags of these names, if as many of each."""
    root = _tree(text)
    if root is None:
        return []
    found = [pair for pair in map(_pair, _candidates(root)) if all(pair)]
    if found:
        return found
    tags = re.findall(r"<(author|text)>(.*?)</(author|text)>", text, re.IGNORECASE | re.DOTALL)
    sides = [
        [_plain(inner) for opened, inner, closed in tags if opened.lower() == closed.lower() == name]
        for name in ("author", "text")
    ]
    return list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else []


def _tree(text: str) -> Element | None:
    """The document, or the document inside a further element, or its innermost pieces; None when all of it fails."""
    from xml.etree.ElementTree import ParseError

    parser = need("defusedxml.ElementTree")
    whole = _trimmed(text)
    inner = _DECLARATION.sub("", whole)
    pieces = re.findall(r"<.*?>(.*?)</.*?>", f"<root>{inner}</root>", re.DOTALL)
    for attempt in (
        whole,
        f"<root>{inner}</root>",
        f"<root>{''.join(f'<item>{each}</item>' for each in pieces)}</root>",
    ):
        try:
            tree: Element = parser.fromstring(attempt)
        except (ParseError, parser.EntitiesForbidden, parser.ExternalReferenceForbidden):
            continue
        return tree
    return None


def _trimmed(text: str) -> str:
    """From the first < to the last >, without comments and control characters; in an element where there is none."""
    declaration = _DECLARATION.search(text)
    text = text[declaration.end() :] if declaration else text
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "", text)
    first, last = text.find("<"), text.rfind(">")
    text = text[first : last + 1] if 0 <= first < last else text
    opening = re.search(r"<\w+[^>]*>", text)
    if opening is None or not re.search(r"</\w+>", text[opening.end() :]):
        text = f"<root>{text}</root>"
    return (declaration[0] if declaration else '<?xml version="1.0" encoding="UTF-8"?>') + text


def _candidates(root: Element) -> list[Element]:
    """What may be records: children that are all of one shape, elements of a usual name, or with both fields."""
    children = list(root)
    shapes = [{child.tag for child in each} for each in children]
    if len(children) > 1 and all(shape == shapes[0] for shape in shapes):
        return children
    for name in _ITEMS:
        if named := root.findall(f".//{name}"):
            return named
    return [
        each
        for each in root.findall(".//*")
        if any("author" in child.tag.lower() for child in each) and any("text" in child.tag.lower() for child in each)
    ]


def _pair(item: Element) -> Pair:
    """Author and text by children (the last counts), then descendants, attributes, and `author: "text"` in the text."""
    author = text = ""
    for child in item:
        name = child.tag.lower()
        if "author" in name:
            author = _plain(child.text)
        elif "text" in name or name == "quote":
            text = _plain(child.text)
    if not author or not text:
        for child in item.findall(".//*"):
            name = child.tag.lower()
            if "author" in name and not author:
                author = _plain(child.text)
            elif any(part in name for part in _TEXTS) and not text:
                text = _plain(child.text)
    for key, value in item.attrib.items():
        if "author" in key.lower() and not author:
            author = _plain(value)
        elif any(part in key.lower() for part in _TEXTS) and not text:
            text = _plain(value)
    match = re.search(r"([^:]+):\s*['\"](.+?)['\"]", (item.text or "").strip()[:10_000])
    if match is not None:
        author, text = author or _plain(match[1]), text or _plain(match[2])
    return author, text


def _plain(text: str | None) -> str:
    return re.sub(r"\s+", " ", re.sub(r'^"|"$', "", (text or "").strip())).strip()
