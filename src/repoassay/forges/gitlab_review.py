"""A review as GitLab takes it: a note, threads at lines of the diff, and an approval, each a request of its REST API.

Source: docs.gitlab.com, REST API, pages "Discussions" (new threads in the merge request diff), "Notes" and
"Merge request approvals".
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from repoassay.forges.review_text import LineComment, ReviewedLine, ReviewText
from repoassay.types import Record

__all__ = ["GitlabNote", "GitlabReview", "GitlabThread", "gitlab_review"]

_Body = Annotated[str, Field(min_length=1, max_length=1_000_000)]
_Commit = Annotated[str, Field(min_length=7)]


class GitlabNote(Record):
    """Body of `POST .../merge_requests/:iid/notes`."""

    body: _Body


class GitlabApproval(Record):
    """Body of `POST .../merge_requests/:iid/approve`; refused by GitLab where the head is another by now."""

    sha: _Commit


class GitlabLine(Record):
    """One end of a range: `line_code` is the SHA-1 of the path with the line's numbers on both sides."""

    line_code: str
    type: Literal["old", "new"]
    old_line: Annotated[int, Field(ge=1)] | None = None
    new_line: Annotated[int, Field(ge=1)] | None = None


class GitlabLines(Record):
    """The lines of a thread on several."""

    start: GitlabLine
    end: GitlabLine


class GitlabPosition(Record):
    """Where a thread stands: `new_line` alone on an added line, `old_line` alone on a removed one, else both."""

    base_sha: _Commit
    start_sha: _Commit
    head_sha: _Commit
    position_type: Literal["text"] = "text"
    old_path: Annotated[str, Field(min_length=1)]
    new_path: Annotated[str, Field(min_length=1)]
    old_line: Annotated[int, Field(ge=1)] | None = None
    new_line: Annotated[int, Field(ge=1)] | None = None
    line_range: GitlabLines | None = None


class GitlabThread(Record):
    """Body of `POST .../merge_requests/:iid/discussions`."""

    body: _Body
    position: GitlabPosition


class GitlabReview(Record):
    """All requests of one merge request; keys that are None are left out when they are written."""

    note: GitlabNote
    discussions: tuple[GitlabThread, ...] = ()
    approval: GitlabApproval | None = None


def gitlab_review(text: ReviewText, base: str, start: str, head: str) -> GitlabReview:
    """Make the review of one merge request.

    Where one of the three commits is not known no thread can have a place, so comments go into the note.

    Args:
        text: What was said.
        base: Id of the commit that the diff is from.
        start: Id of the target branch's commit when the diff was made.
        head: Id of the head that was reviewed.
    """
    body, threads = [text.body], list[GitlabThread]()
    for each in text.comments:
        if base and start and head:
            threads.append(GitlabThread(body=each.text, position=_position(each, base, start, head)))
        else:
            line = each.first.old if each.side == "old" else each.first.new
            body.append(f"**{each.new_path}**, line {line}: {each.text}")
    approval = GitlabApproval(sha=head) if text.verdict and head else None
    return GitlabReview(note=GitlabNote(body="\n\n".join(body)), discussions=tuple(threads), approval=approval)


def _position(comment: LineComment, base: str, start: str, head: str) -> GitlabPosition:
    lines = None
    if comment.first != comment.last:
        lines = GitlabLines(start=_end(comment.first, comment.new_path), end=_end(comment.last, comment.new_path))
    return GitlabPosition(
        base_sha=base, start_sha=start, head_sha=head, old_path=comment.old_path, new_path=comment.new_path,
        old_line=_old(comment.last), new_line=_new(comment.last), line_range=lines,
    )  # fmt: skip


def _end(line: ReviewedLine, path: str) -> GitlabLine:
    code = f"{hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()}_{line.old}_{line.new}"
    return GitlabLine(
        line_code=code, type="new" if line.sign == "+" else "old", old_line=_old(line), new_line=_new(line)
    )


def _old(line: ReviewedLine) -> int | None:
    return None if line.sign == "+" else line.old


def _new(line: ReviewedLine) -> int | None:
    return None if line.sign == "-" else line.new
