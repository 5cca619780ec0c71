"""Named values, such as title, author and date, from `key: value` lines or JSON, against those of a reference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.dates import moments, same_moment
from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text, read_documents
from repoassay.errors import InfraFault
from repoassay.grading import Measurement, metric, normal, reference

__all__ = ["fields_right"]

_NAMES = {
    "title": ("title", "pagetitle", "articletitle", "documenttitle", "标题", "题目", "文章标题", "网页标题"),
    "author": ("author", "authors", "byline", "creatorname", "documentauthor", "作者"),
    "date": ("date", "published", "publishdate", "publisheddate", "publicationdate", "datepublished", "pubdate",
             "publishtime", "time", "日期", "发布日期", "发布时间", "时间"),
    "url": ("url", "link", "source", "sourceurl", "canonicalurl", "pageurl", "网址", "链接"),
    "creationdate": ("creationdate", "created", "createdat", "createddate", "datecreated", "createdate",
                     "creationtime", "creation", "创建日期", "创建时间", "date"),
}  # fmt: skip
_MOST_LINES = 5000
_LONGEST = 2000
Value = tuple[str, str]


def _key(text: str) -> str:
    """A field name without what only decorates it: case, spaces, marks, a leading slash or name space."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.rpartition(":")[2] if ":" in text else text
    return re.sub(r"[\W_]", "", text)


def _lines(path: Path) -> list[Value]:
    """`key: value` lines, at most 2000 characters of each."""
    found = []
    for line in decode_text(path, chinese=True).splitlines()[:_MOST_LINES]:
        plain = normal(line[:_LONGEST])
        parted = re.match(r"[-*#>•{\"' ]*([\w \-/*\"']{1,40}?) ?[:=] ?(.*)", plain)
        if parted is not None:
            found.append((_key(parted[1]), parted[2].strip().rstrip(",").strip("\"'*` \t")))
    return found


def _leaves(path: Path) -> list[Value]:
    """Every text or number of a JSON document with the name it stands under."""
    found = []
    waiting: list[tuple[str, Any]] = [("", item) for item in read_documents(path)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, dict):
            waiting += [(str(key), inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            texts = [inner for inner in item if isinstance(inner, str)]
            if len(texts) > 1:
                found.append((_key(name), ", ".join(texts)))
            waiting += [(name, inner) for inner in reversed(item)] if len(texts) != len(item) or len(texts) == 1 else []
        elif item is not None and not isinstance(item, bool):
            found.append((_key(name), str(item)))
    return found


_READ: dict[str, Callable[[Path], list[Value]]] = {"lines": _lines, "json": _leaves}


@metric(
    "fields_right",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of named values equal to the reference's",
)
def fields_right(of: Path, against: Path, *, fields: list[str], format: str) -> Measurement:
    """Share of `fields` whose value in the output is the reference's.

    `format` is lines (`key: value`) or json (at any depth); names may be written in any usual way. Dates are equal as
    instants, or as days where one has no time; addresses without scheme and final slash; other texts after NFKC,
    case folding and without white space and punctuation, and a title may be followed by the name of the site. A field
    that occurs more than once under the same name must be right each time.
    """
    if format not in _READ:
        raise InfraFault(f"There is no format {format!r} of named values; known: {', '.join(_READ)}.")
    ours, theirs = _READ[format](of), reference(_READ[format], against)
    wrong = []
    for field in fields:
        names = _NAMES.get(field, (field,))
        wanted = next((value for key, value in theirs if key in names), None)
        if wanted is None:
            raise InfraFault(f"The reference {against.name} has no field {field!r}.")
        spelling = next((name for name in names if any(key == name and value for key, value in ours)), "")
        values = [value for key, value in ours if key == spelling and value]
        if not values or not all(_right(field, value, wanted) for value in values):
            wrong.append(f"{field} is {values[0][:60]!r}" if values else f"{field} is missing")
    return Measurement(1 - len(wrong) / len(fields), "; ".join(wrong))


def _right(field: str, value: str, wanted: str) -> bool:
    if moments(wanted):
        return same_moment(value, wanted)
    if "://" in wanted:
        return _address(value) == _address(wanted)
    ours, theirs = _bare(value), _bare(wanted)
    suffix = re.fullmatch(re.escape(normal(wanted, casefold=True)) + r"\s*[-\u2013—|_·]\s*\S[^\n]{0,30}",
                          normal(value, casefold=True)) if field == "title" else None  # fmt: skip
    return ours == theirs or suffix is not None


def _address(text: str) -> str:
    found = re.search(r"\(([^()\s]+)\)|<([^<>\s]+)>", text)
    plain = next((part for part in found.groups() if part), text) if found else text
    host, slash, rest = re.sub(r"^https?://", "", plain.strip(), flags=re.IGNORECASE).rstrip("/").partition("/")
    return host.casefold() + slash + rest


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", normal(text, casefold=True))
