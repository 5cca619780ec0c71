"""A review as GitHub takes it: the body of the request "create a review for a pull request" of its REST API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repoassay.forges.review_text import LineComment, ReviewText
from repoassay.types import Record

__all__ = ["GithubReview", "GithubReviewComment", "github_review"]


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


def github_review(text: ReviewText, commit: str = "") -> GithubReview:
    """Make the review of one pull request; its event follows the verdict, and is a comment without one.

    Args:
        text: What was said.
        commit: Id of the head that was reviewed.
    """
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] = "COMMENT"
    if text.verdict is not None:
        event = "APPROVE" if text.verdict else "REQUEST_CHANGES"
    comments = tuple(_comment(each) for each in text.comments)
    return GithubReview(event=event, body=text.body, commit_id=commit or None, comments=comments)


def _comment(comment: LineComment) -> GithubReviewComment:
    side: Literal["LEFT", "RIGHT"] = "LEFT" if comment.side == "old" else "RIGHT"
    first, last = ((line.old if comment.side == "old" else line.new) for line in (comment.first, comment.last))
    several = first != last
    return GithubReviewComment(
        path=comment.new_path, body=comment.text, line=last, side=side,
        start_line=first if several else None, start_side=side if several else None,
    )  # fmt: skip
