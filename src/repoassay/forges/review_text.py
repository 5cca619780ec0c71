"""What raters said of one pull request, in words and places that any forge takes: verdict, text, comments on lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from repoassay.diffs import DiffRow, FileDiff, read
from repoassay.review import Comment, ItemPayload, Rubric
from repoassay.text import block, clip, one_line
from repoassay.types import Rating

__all__ = ["LineComment", "ReviewText", "ReviewedLine", "review_text"]

_MOST_BODY = 60_000
_CODE = re.compile(
    r"(?P<ticks>`+)[^`](?:.*?[^`])?(?P=ticks)(?!`)|^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MENTION = re.compile(r"(?<![\w`/.+-])@[A-Za-z0-9][\w-]*(?:/[\w-]+)*")
_QUICK_ACTION = re.compile(r"^([ \t]*)/(?=[A-Za-z])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReviewedLine:
    """One line of a diff. `old` and `new` are what both sides have counted up to there, also where it is on one."""

    sign: Literal[" ", "+", "-"]
    old: int
    new: int
    hunk: int


@dataclass(frozen=True, slots=True)
class LineComment:
    """A comment on lines of one hunk; `old_path` and `new_path` are equal unless the file was renamed."""

    old_path: str
    new_path: str
    side: Literal["old", "new"]
    first: ReviewedLine
    last: ReviewedLine
    text: str


@dataclass(frozen=True, slots=True)
class ReviewText:
    """`verdict` is that of a strict majority of `would_merge`, None without one; `body` holds all that has no line."""

    verdict: bool | None
    body: str
    comments: tuple[LineComment, ...]


def review_text(
    payload: ItemPayload, rubric: Rubric, ratings: Sequence[Rating], comments: Sequence[Comment],
    forge: Mapping[str, Any],
) -> ReviewText:  # fmt: skip
    """Put together what was said of one item.

    A comment whose lines are not all in one hunk of the diff that raters saw goes into the body, for forges refuse it
    elsewhere. What a forge would act upon is disarmed: names it would notify stand as code, and lines that GitLab would
    run as quick actions (`/merge`) begin with a backslash, which is not shown.

    Args:
        payload: What raters saw.
        rubric: Theirs.
        ratings: One a rater, of people only.
        comments: Theirs on this item.
        forge: What was kept of the pull request; `paths` holds its own names of files where raters saw others.
    """
    files = read(payload.diff)
    paths = _own_paths(files, forge.get("paths"))
    lines = {key: line for file in files for key, line in _lines(file)}
    placed, outside = list[LineComment](), list[str]()
    for each in comments:
        at, text = each.anchor, disarm_markdown(clip(block(each.text), 10_000))
        first, last = (lines.get((at.path, at.side, line)) for line in (at.line, at.end_line))
        old, new = paths.get(at.path, (at.path, at.path))
        if first is not None and last is not None and first.hunk == last.hunk:
            placed.append(LineComment(old, new, at.side, first, last, text))
        else:
            outside.append(f"**{one_line(new)}**, line {at.line}: {text}")
    yes = sum(each.would_merge is True for each in ratings)
    no = sum(each.would_merge is False for each in ratings)
    parts = [f"{yes} of {len(ratings)} reviewers would merge this as it is; {no} would not."]
    minutes = [each.minutes for each in ratings if each.minutes is not None]
    if minutes:
        parts.append(f"Minutes to make it mergeable (median of {len(minutes)}): {median(minutes):g}.")
    for axis in rubric.axes:
        states = ", ".join(each.axes[axis.key].state.replace("_", " ") for each in ratings if axis.key in each.axes)
        parts.append(f"- {axis.title}: {states}")
    parts += [f"> {disarm_markdown(one_line(each.notes, 2000))}" for each in ratings if each.notes.strip()]
    body = clip("\n\n".join([*parts, *outside]), _MOST_BODY)
    return ReviewText(yes > no if yes != no else None, body, tuple(placed))


def disarm_markdown(text: str) -> str:
    """Return Markdown in which no forge finds somebody to notify or a command to run."""
    parts, end = list[str](), 0
    for code in _CODE.finditer(text):
        parts += [_MENTION.sub(r"`\g<0>`", text[end : code.start()]), code[0]]
        end = code.end()
    return _QUICK_ACTION.sub(r"\1\\/", "".join([*parts, _MENTION.sub(r"`\g<0>`", text[end:])]))


def _own_paths(files: Sequence[FileDiff], kept: object) -> dict[str, tuple[str, str]]:
    """The pull request's own paths by those that raters saw; blinding keeps the order of files."""
    own: list[Any] = kept if isinstance(kept, list) and len(kept) == len(files) else [[f.old, f.new] for f in files]
    return {file.path: (old or new, new or old) for file, (old, new) in zip(files, own, strict=True)}


def _lines(file: FileDiff) -> Iterator[tuple[tuple[str, str, int], ReviewedLine]]:
    old = new = 0
    for row in file.rows:
        if row.sign == "@":
            old, new = row.old or 0, row.new or 0
        if row.sign not in {" ", "+", "-"}:
            continue
        line = ReviewedLine(_sign(row), old, new, row.hunk)
        if row.sign != "+":
            yield (file.path, "old", old), line
            old += 1
        if row.sign != "-":
            yield (file.path, "new", new), line
            new += 1


def _sign(row: DiffRow) -> Literal[" ", "+", "-"]:
    return "+" if row.sign == "+" else "-" if row.sign == "-" else " "
