"""Records with named fields, such as quotes with author and text, from JSON, CSV or XML in any sensible shape."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text, read_documents, similarity
from repoassay.benchmarks.gittaskbench.metrics.markup import local_name, read_xml, spoken
from repoassay.errors import InfraFault
from repoassay.grading import Measurement, UnreadableOutput, metric, normal, reference

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["listing_f1", "listing_precision", "listing_recall", "read_listing"]

Pair = tuple[str, str]

_DOUBLE = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f'
_SINGLE = "'`\u00b4\u2018\u2019\u201a\u201b\u2039\u203a"
_QUOTE_SIGNS = _DOUBLE + _SINGLE
_PLAIN_SIGNS = str.maketrans({**dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_SINGLE, "'"), "\u2013": "-", "—": "-"})
_FIELDS = {
    "author": ("author", "author_name", "authorname", "name", "by", "person", "speaker", "writer", "作者", "名人"),
    "text": ("text", "quote", "quote_text", "quotetext", "content", "quotation", "body", "sentence", "saying",
             "名言", "内容"),
}  # fmt: skip
_MOST = 5000
_SAME = 0.97
"""Likeness below which a field is not the same with a slip in it, but wrong: as where its letters were read in another
encoding, which a mean over records hides."""
_LONGEST = 5000


def read_listing(path: Path, format: str) -> list[Pair]:
    """Pairs (author, text) of a file in `format`: json, csv or xml.

    JSON may be a list, an object a line or records inside other objects; columns of a CSV may stand in any order
    among others; XML may hold fields as elements or attributes. Field names may be any of the usual ones, in any case.
    Raises `UnreadableOutput` when the file is not of that format.
    """
    if format == "json":
        return [pair for item in read_documents(path) for pair in _in_json(item)]
    if format == "csv":
        return list(_in_csv(decode_text(path)))
    if format == "xml":
        return _in_xml(read_xml(path))
    raise InfraFault(f"There is no listing format {format!r}; known: json, csv, xml.")


def _field(names: dict[str, str], field: str) -> str | None:
    folded = {name.strip().casefold().replace(" ", "_").replace("-", "_"): name for name in names}
    return next((names[folded[name]] for name in _FIELDS[field] if name in folded), None)


def _pair(values: dict[str, str]) -> Pair | None:
    author, text = _field(values, "author"), _field(values, "text")
    return (author, text) if author is not None and text is not None else None


def _in_json(document: Any) -> Iterator[Pair]:
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            values = {str(key): _plain(value) for key, value in item.items()}
            pair = _pair({key: value for key, value in values.items() if value is not None})
            if pair is not None:
                yield pair
            else:
                waiting += reversed(list(item.values()))
        elif isinstance(item, list):
            waiting += reversed(item)


def _plain(value: Any) -> str | None:
    if isinstance(value, dict):
        named = {str(key).casefold(): inner for key, inner in value.items()}
        value = named.get("name", named.get("text"))
    return value if isinstance(value, str) else None


def _in_csv(text: str) -> Iterator[Pair]:
    csv.field_size_limit(2**20)
    first = text.lstrip().partition("\n")[0]
    delimiter = next((sign for sign in ",;\t|" if sign in first), ",")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not CSV: {error}") from error
    header = rows[0] if rows else []
    for row in rows[1:]:
        pair = _pair(dict(zip(header, [*row, *[""] * len(header)], strict=False)))
        if pair is not None:
            yield pair


def _in_xml(root: Element) -> list[Pair]:
    """The innermost elements that have both fields, in the order of the file."""
    order = list(root.iter())
    parents = {child: element for element in order for child in element}
    holds: set[Element] = set()
    found: dict[Element, Pair] = {}
    for element in reversed(order):
        if element not in holds:
            pair = _pair(_fields_of(element))
            if pair is None:
                continue
            found[element] = pair
        if element in parents:
            holds.add(parents[element])
    return [found[element] for element in order if element in found]


def _fields_of(element: Element) -> dict[str, str]:
    # What names a field, as in <field name="author">, is no author.
    values = {local_name(name): value for name, value in element.attrib.items() if not _known(value)}
    for child in element:
        if callable(child.tag):  # a comment or an instruction
            continue
        name = local_name(child.tag)
        named = child.get("name", child.get("key", child.get("class", ""))) if not _known(name) else ""
        value = spoken(child)
        # An element without text may say it in an attribute.
        values.setdefault(named or name, value if value.strip() else child.get("name", child.get("value", "")))
    own = (element.text or "") + "".join(child.tail or "" for child in element)
    if own.strip() and _field(values, "text") is None:
        values["text"] = own
    return values


def _known(name: str) -> bool:
    return any(name.casefold() in names for names in _FIELDS.values())


def _normal(text: str, casefold: bool) -> str:
    """White space, kinds of quotation marks and the marks around the whole left out of account."""
    plain = normal(text[:_LONGEST], casefold).translate(_PLAIN_SIGNS)
    return plain.strip(_QUOTE_SIGNS + " ")


def _matched(ours: list[Pair], theirs: list[Pair], soft: bool) -> float:
    """The sum of likenesses under a one-to-one matching, best first."""
    scores = []
    for i, mine in enumerate(ours[:_MOST]):
        for j, other in enumerate(theirs):
            score = _likeness(mine, other) if soft else float(mine == other)
            if score:
                scores.append((-score, i, j))
    used: tuple[set[int], set[int]] = (set(), set())
    total = 0.0
    for score, i, j in sorted(scores):
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            total -= score
    return total


def _likeness(one: Pair, other: Pair) -> float:
    alike = [1.0 if mine == theirs else similarity(mine, theirs) for mine, theirs in zip(one, other, strict=True)]
    return sum(alike) / len(alike) if min(alike) >= _SAME else 0.0


def _compare(
    of: Path, against: Path, format: str, soft: bool, casefold: bool, also: list[str]
) -> tuple[float, float, str]:
    """Precision, recall and a note. `also` are records that are there together or not at all: author, tab, text."""
    ours, theirs = read_listing(of, format), reference(lambda path: read_listing(path, format), against)
    extra = [(author, text) for author, _, text in (line.partition("\t") for line in also)]
    mine, wanted, allowed = (
        [(_normal(author, casefold), _normal(text, casefold)) for author, text in pairs]
        for pairs in (ours, theirs, extra)
    )
    # A listing of several pages is right as one page and as all of them, not as one and a bit.
    wanted = [pair for pair in wanted if pair not in allowed] + (allowed if set(allowed) & set(mine) else [])
    alike = _matched(mine, wanted, soft)
    note = f"{alike:.4g} of {len(mine)} records are right, of {len(wanted)} expected"
    return alike / len(mine) if mine else 0.0, alike / len(wanted) if wanted else 1.0, note


@metric(
    "listing_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall over records under a one-to-one matching",
    packages=("rapidfuzz", "defusedxml"),
)
def listing_recall(
    of: Path, against: Path, *, format: str, soft: bool = False, casefold: bool = False, also: list[str] | None = None
) -> Measurement:
    """Share of the reference's records (author and text) that the output has, in any order.

    Records are equal when both fields are after NFKC, white space collapsed, kinds of quotation marks made one and
    those around the whole dropped; with `soft` a pair counts with the mean Indel similarity of its fields. `also`
    lists records, `AUTHOR<tab>TEXT`, that are right together or left out together, whether the reference
    holds them or not: those of a listing's further pages.
    """
    _, recall, note = _compare(of, against, format, soft, casefold, also or [])
    return Measurement(recall, note)


@metric(
    "listing_precision",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="precision over records under a one-to-one matching",
    packages=("rapidfuzz", "defusedxml"),
)
def listing_precision(
    of: Path, against: Path, *, format: str, soft: bool = False, casefold: bool = False, also: list[str] | None = None
) -> Measurement:
    """Share of the output's records that the reference has, matched as for `listing_recall`; 0 when there are none."""
    precision, _, note = _compare(of, against, format, soft, casefold, also or [])
    return Measurement(precision, note)


@metric(
    "listing_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="harmonic mean of listing_precision and listing_recall",
    packages=("rapidfuzz", "defusedxml"),
)
def listing_f1(
    of: Path, against: Path, *, format: str, soft: bool = False, casefold: bool = False, also: list[str] | None = None
) -> Measurement:
    """Harmonic mean of precision and recall of records, matched as for `listing_recall`."""
    precision, recall, note = _compare(of, against, format, soft, casefold, also or [])
    return Measurement(2 * precision * recall / (precision + recall) if precision + recall else 0.0, note)
