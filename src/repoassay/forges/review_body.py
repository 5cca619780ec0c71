"""A forge review: what raters said of an item as the body of GitHub's "create a review for a pull request"."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Annotated, Literal

from pydantic import Field

from repoassay.diffs import read
from repoassay.review import Comment, ItemPayload, Rubric
from repoassay.text import block, clip, one_line
from repoassay.types import Rating, Record

__all__ = ["GithubReview", "GithubReviewComment", "github_review"]

_MOST_BODY = 60_000


class GithubReviewComment(Record):
    """One comment on lines of the diff: `RIGHT` is the changed side, `start_line` the first of several lines."""

    path: Annotated[str, Field(min_length=1)]
    body: Annotated[str, Field(min_length=1, max_length=65_536)]
    line: Annotated[int, Field(ge=1)]
    side: Literal["LEFT", "RIGHT"]
    start_line: Annotated[int, Field(ge=1)] | None = None
    start_side: Literal["LEFT", "RIGHT"] | None = None


class GithubReview(Record):
    """The request's body; keys that are None are left out when it is written."""

    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
    body: Annotated[str, Field(min_length=1, max_length=65_536)]
    commit_id: str | None = None
    comments: tuple[GithubReviewComment, ...] = ()


def github_review(
    payload: ItemPayload, rubric: Rubric, ratings: Sequence[Rating], comments: Sequence[Comment], commit: str = ""
) -> GithubReview:
    """Make the review of one item.

    The event follows a strict majority of `would_merge`, and is a comment without one. A comment whose lines are not
    all in one hunk of the diff that raters saw goes into the body, for GitHub refuses it elsewhere.

    Args:
        payload: What raters saw.
        rubric: Theirs.
        ratings: One a rater, of people only.
        comments: Theirs on this item.
        commit: Id of the head that was reviewed.
    """
    places: dict[tuple[str, str, int], int] = {}
    for file in read(payload.diff):
        for row in file.rows:
            if row.old is not None and row.sign != "@":
                places[file.path, "old", row.old] = row.hunk
            if row.new is not None and row.sign != "@":
                places[file.path, "new", row.new] = row.hunk
    inside, outside = list[GithubReviewComment](), list[str]()
    for each in comments:
        at, text = each.anchor, clip(block(each.text), 10_000)
        hunks = {places.get((at.path, at.side, line)) for line in {at.line, at.end_line}}
        side: Literal["LEFT", "RIGHT"] = "LEFT" if at.side == "old" else "RIGHT"
        if len(hunks) == 1 and None not in hunks:
            several = at.line != at.end_line
            inside.append(GithubReviewComment(
                path=at.path, body=text, line=at.end_line, side=side, start_line=at.line if several else None,
                start_side=side if several else None,
            ))  # fmt: skip
        else:
            outside.append(f"**{one_line(at.path)}**, line {at.line}: {text}")
    yes = sum(each.would_merge is True for each in ratings)
    no = sum(each.would_merge is False for each in ratings)
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] = (
        "APPROVE" if yes > no else "REQUEST_CHANGES" if no > yes else "COMMENT"
    )
    lines = [f"{yes} of {len(ratings)} reviewers would merge this as it is; {no} would not."]
    minutes = [each.minutes for each in ratings if each.minutes is not None]
    if minutes:
        lines.append(f"Minutes to make it mergeable (median of {len(minutes)}): {median(minutes):g}.")
    for axis in rubric.axes:
        states = ", ".join(each.axes[axis.key].state.replace("_", " ") for each in ratings if axis.key in each.axes)
        lines.append(f"- {axis.title}: {states}")
    lines += [f"> {one_line(each.notes, 2000)}" for each in ratings if each.notes.strip()]
    body = clip("\n\n".join([*lines, *outside]), _MOST_BODY)
    return GithubReview(event=event, body=body, commit_id=commit or None, comments=tuple(inside))
