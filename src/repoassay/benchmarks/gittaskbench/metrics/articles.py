"""An article's text against a reference that may hold more of its page than the article: order and extent count."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text, similarity
from repoassay.grading import Measurement, metric, need, normal, reference

__all__ = [
    "article_recall",
    "article_similarity",
    "block_tags",
    "numbers_kept",
    "plain_prose",
    "text_indel",
    "text_worst_part",
]

_COMPLETE = 0.98
_MOST = 60_000


def plain_prose(text: str) -> str:
    """Text without tags and Markdown marks, NFKC, white space collapsed, case folded."""
    text = re.sub(r"<[a-zA-Z/!][^<>]{0,2000}>", " ", text)
    text = re.sub(r"!?\[([^\[\]]{0,2000})\]\([^()\s]{0,2000}\)", r"\1", text)
    text = re.sub(r"^[ \t]*(?:#{1,6}|>|[-*+])\s+", "", text, flags=re.MULTILINE)
    return normal(re.sub(r"\*\*|__|`", "", text), casefold=True)


def _read(path: Path) -> str:
    return decode_text(path, chinese=True)[: 4 * _MOST]


@metric(
    "article_similarity",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="normalised Indel similarity (rapidfuzz)",
    packages=("rapidfuzz",),
)
def article_similarity(
    of: Path, against: Path, *, parts: list[str] | None = None, substitutions: bool = False
) -> Measurement:
    """Indel similarity of prose to the reference's, tags, Markdown marks, case and white space aside.

    With `substitutions`, 1 minus the normalised Levenshtein distance instead.

    `parts` are line ranges of the reference, such as `12-44`, that are the article without the page around it: an
    output that is one of them to 0.98 is complete and counts 1.
    """
    ours, theirs = plain_prose(_read(of))[:_MOST], reference(_read, against)
    alike = need("rapidfuzz.distance.Levenshtein").normalized_similarity if substitutions else similarity
    whole = float(alike(ours, plain_prose(theirs)))
    lines = theirs.splitlines()
    for part in parts or []:
        first, _, last = part.partition("-")
        alone = similarity(ours, plain_prose("\n".join(lines[int(first) - 1 : int(last)])))
        if alone >= _COMPLETE:
            return Measurement(1.0, f"likeness {alone:.3f} to lines {part} of the reference, {whole:.3f} to all")
    return Measurement(whole, f"{len(ours)} characters against {len(plain_prose(theirs))}")


@metric(
    "article_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="longest common subsequence / reference length (rapidfuzz)",
    packages=("rapidfuzz",),
)
def article_recall(of: Path, against: Path) -> Measurement:
    """Share of the reference's characters that the output has in their order, white space and marks aside."""
    ours, theirs = (plain_prose(text).replace(" ", "")[:_MOST] for text in (_read(of), reference(_read, against)))
    shared = need("rapidfuzz.distance.LCSseq").similarity(ours, theirs)
    return Measurement(shared / len(theirs) if theirs else 1.0, f"{shared} of {len(theirs)} characters")


_TAGS = (
    "!doctype", "html", "head", "body", "div", "p", "span", "script", "style", "article", "section", "main", "nav",
    "header", "footer", "aside", "figure", "ul", "ol", "li", "table", "tr", "td", "th", "blockquote", "h[1-6]", "meta",
    "link", "title",
)  # fmt: skip


@metric("block_tags", unit="tags", span="[0, inf)", better="lower", source="count of HTML block tags")
def block_tags(of: Path, *, names: Sequence[str] = _TAGS) -> Measurement:
    """HTML tags of blocks and pages in a text, or their entities: what a conversion to text leaves none of.

    Tags within a line, such as `<b>`, `<br>` and `<sub>`, are left to Markdown and not counted; `names` are those that
    are, where a format such as XML uses tags of its own.
    """
    pattern = rf"<(?:{'|'.join(names)})\b[^<>]{{0,2000}}>"
    tags = re.findall(pattern, html.unescape(_read(of)), re.IGNORECASE)
    return Measurement(float(len(tags)), f"as {tags[0][:80]}" if tags else "")


@metric(
    "text_indel",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="normalised Indel similarity (rapidfuzz)",
    packages=("rapidfuzz",),
)
def text_indel(of: Path, against: Path, *, spaces: bool = True) -> Measurement:
    """Indel similarity of both texts after NFKC, white space collapsed or, without `spaces`, removed; case counts."""
    ours, theirs = (normal(text)[:_MOST] for text in (_read(of), reference(_read, against)))
    if not spaces:
        ours, theirs = ours.replace(" ", ""), theirs.replace(" ", "")
    return Measurement(similarity(ours, theirs), f"{len(ours)} characters against {len(theirs)}")


_PARTS, _RUN = 20, 6
_NUMBER = re.compile(r"\d+")


@metric(
    "text_worst_part",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of runs of six characters found anywhere, in each twentieth of the reference; the lowest",
)
def text_worst_part(of: Path, against: Path) -> Measurement:
    """Share of what is read in the twentieth of the reference of which least is there, white space and case aside.

    A part is there wherever it stands, because extractors order columns, labels and footers in different ways; a mean
    over the text hides a paragraph that is missing.
    """
    ours, theirs = (
        normal(text, casefold=True)[:_MOST].replace(" ", "") for text in (_read(of), reference(_read, against))
    )
    there = {ours[place : place + _RUN] for place in range(len(ours) - _RUN + 1)}
    size = max(_RUN, -(-len(theirs) // _PARTS))
    shares = []
    for start in range(0, max(1, len(theirs) - _RUN), size):
        runs = [theirs[place : place + _RUN] for place in range(start, min(start + size, len(theirs) - _RUN + 1))]
        shares.append(sum(run in there for run in runs) / len(runs) if runs else 1.0)
    worst = min(shares, default=1.0)
    return Measurement(worst, f"in part {shares.index(worst) + 1} of {len(shares)}" if shares else "")


@metric(
    "numbers_kept",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall over the multiset of runs of digits",
)
def numbers_kept(of: Path, against: Path) -> Measurement:
    """Share of the reference's numbers (runs of digits, as often as they occur) that the output has, in any order."""
    ours, theirs = (Counter(_NUMBER.findall(normal(text))) for text in (_read(of), reference(_read, against)))
    shared, wanted = (ours & theirs).total(), theirs.total()
    return Measurement(shared / wanted if wanted else 1.0, f"{shared} of {wanted} numbers")
