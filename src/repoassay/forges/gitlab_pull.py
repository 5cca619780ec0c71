"""A merge request as GitLab's REST API has it (version 4), with what its sub-resources gave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repoassay.forges.github_pull import closing_issue, diff_given
from repoassay.forges.json_fields import MOST_TEXT, JsonFields
from repoassay.forges.pull import ForgeAccount, ForgeCommit, ForgePull, ForgeRemark, PullProblem

__all__ = ["gitlab_pull"]

_ADDRESS = re.compile(r"https?://[^/\s]+/(\S+?)/(?:-/)?merge_requests/\d+")


def gitlab_pull(fields: JsonFields, repository: str = "") -> ForgePull:
    """Read one merge request.

    Args:
        fields: The object.
        repository: `GROUP/NAME` where the object itself does not say.

    Raises:
        PullProblem: Naming the field that is wrong.
    """
    number = fields.number("iid", "number")
    if number is None:
        raise PullProblem("iid", "is missing.")
    body = fields.text("description", "body", most=MOST_TEXT).replace("\r\n", "\n")
    refs = fields.part("diff_refs")
    diff, files = diff_given(fields)
    merged = fields.moment("merged_at")
    return ForgePull(
        forge="gitlab",
        repository=_repository(fields) or repository,
        number=number,
        title=fields.text("title", most=2000),
        body=body,
        diff=diff,
        files=files,
        author=_user(fields.part("author")),
        branch=fields.text("source_branch"),
        target=fields.text("target_branch"),
        base=refs.sha("base_sha") if refs else "",
        start=refs.sha("start_sha") if refs else "",
        head=(refs.sha("head_sha") if refs else "") or fields.sha("sha"),
        merge=fields.sha("merge_commit_sha", "squash_commit_sha"),
        draft=bool(fields.flag("draft", "work_in_progress")),
        opened=fields.moment("created_at"),
        closed=fields.moment("closed_at"),
        merged=merged,
        was_merged=merged is not None or fields.text("state", most=40).lower() == "merged",
        updated=fields.moment("updated_at"),
        issue=closing_issue(fields, body),
        commits=tuple(_commits(fields)),
        remarks=tuple(_remarks(fields)),
    )


def _repository(fields: JsonFields) -> str:
    references = fields.part("references")
    if references is not None and "!" in (full := references.text("full")):
        return full.rpartition("!")[0]
    found = _ADDRESS.match(fields.text("web_url", most=2000))
    return found[1] if found else ""


def _user(part: JsonFields | None) -> ForgeAccount:
    if part is None:
        return ForgeAccount()
    return ForgeAccount(part.text("username"), part.text("name"), part.text("email", "public_email"), part.flag("bot"))


def _commits(fields: JsonFields) -> Iterator[ForgeCommit]:
    for entry in fields.parts("commits"):
        by = ForgeAccount("", entry.text("author_name"), entry.text("author_email"))
        yield ForgeCommit(entry.sha("id", "sha"), entry.text("message", "title", most=MOST_TEXT), by)


def _remarks(fields: JsonFields) -> Iterator[ForgeRemark]:
    for thread in fields.parts("discussions"):
        for note in thread.parts("notes"):
            yield from _note(note)
    for note in fields.parts("notes"):
        yield from _note(note)


def _note(note: JsonFields) -> Iterator[ForgeRemark]:
    if note.flag("system"):
        return
    at = note.part("position")
    path = at.text("new_path", "old_path", most=2000) if at else ""
    line = at.number("new_line", "old_line") if at else None
    yield ForgeRemark(_user(note.part("author")), note.text("body", most=MOST_TEXT), "", path, line)
