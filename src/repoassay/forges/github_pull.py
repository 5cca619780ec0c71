"""A pull request as GitHub's REST or GraphQL API, `gh pr view --json`, or an archive of these has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repoassay.forges.diff_parts import MOST_DIFF, diff_of_entries, diff_of_text
from repoassay.forges.json_fields import MOST_TEXT, JsonFields
from repoassay.forges.pull import ForgeAccount, ForgeCommit, ForgePull, ForgeRemark

__all__ = ["closing_issue", "diff_given", "github_pull"]

_ADDRESS = re.compile(
    r"https?://[^/\s]+/(?:api/v\d/)?(?:repos/)?([^/\s]+/[^/\s]+?)(?:\.git)?/(?:pull|pulls|issues)/\d+"
)
_REPOSITORY = re.compile(r"(?:https?://[^/\s]+/(?:repos/)?)?([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_CLOSES = re.compile(
    r"\b(?:close|closes|closed|fix|fixes|fixed|resolve|resolves|resolved)\b:?\s+(?:[\w.-]+/[\w.-]+)?(?:#|https?://\S+/issues/)"
    r"(\d{1,9})\b",
    re.IGNORECASE,
)
_NAMED_REPOSITORY = ("repository", "repo", "repo_name", "repo_url", "repository_url")


def github_pull(fields: JsonFields, repository: str = "") -> ForgePull:
    """Read one pull request.

    Args:
        fields: The object.
        repository: `OWNER/NAME` where the object itself does not say.

    Raises:
        PullProblem: Naming the field that is wrong.
    """
    from repoassay.forges.pull import PullProblem

    number = fields.number("number", "pull_number", "pr_number")
    if number is None:
        raise PullProblem("number", "is missing.")
    head, base = fields.part("head"), fields.part("base")
    body = fields.text("body", "description", "body_text", most=MOST_TEXT).replace("\r\n", "\n")
    diff, files = diff_given(fields)
    merged = fields.moment("merged_at")
    state = fields.text("state", "status", most=40).lower()
    return ForgePull(
        forge="github",
        repository=repository_of_pull(fields, base) or repository,
        number=number,
        title=fields.text("title", most=2000),
        body=body,
        diff=diff,
        files=files,
        author=_account(fields, "user", "author"),
        branch=fields.text("head_ref_name", "head_ref", "head_branch") or (head.text("ref") if head else ""),
        target=fields.text("base_ref_name", "base_ref", "base_branch") or (base.text("ref") if base else ""),
        base=fields.sha("base_ref_oid", "base_sha", "base_commit") or (base.sha("sha") if base else ""),
        head=fields.sha("head_ref_oid", "head_sha") or (head.sha("sha") if head else ""),
        merge=fields.sha("merge_commit_sha") or _oid(fields),
        draft=bool(fields.flag("draft", "is_draft")),
        opened=fields.moment("created_at"),
        closed=fields.moment("closed_at"),
        merged=merged,
        was_merged=merged is not None or state == "merged" or fields.raw("merged") is True,
        updated=fields.moment("updated_at"),
        issue=closing_issue(fields, body),
        commits=tuple(_commits(fields)),
        remarks=tuple(_remarks(fields)),
    )


def diff_given(fields: JsonFields) -> tuple[str, tuple[str, ...]]:
    """The diff that an object holds, as one text or file by file; empty where it holds none."""
    for name in ("diff", "patch"):
        if isinstance(fields.raw(name), str):
            return diff_of_text(fields.text(name, most=MOST_DIFF), fields.place(name))
    entries = list(fields.parts("files", "changes", "diffs", "file_data", most=50_000))
    # `gh pr view --json files` names files and counts lines, but has no hunks.
    if not any("patch" in entry or "diff" in entry for entry in entries):
        return "", tuple(entry.text("filename", "path", "new_path", most=2000) for entry in entries)
    return diff_of_entries(entries)


def repository_of_pull(fields: JsonFields, base: JsonFields | None) -> str:
    """`OWNER/NAME` where the object says it, else empty."""
    repo = base.part("repo") if base else None
    if repo is not None and (name := repo.text("full_name")):
        return name
    for field in ("html_url", "url", "issue_url"):
        if found := _ADDRESS.match(fields.text(field, most=2000)):
            return found[1]
    for field in _NAMED_REPOSITORY:
        value = fields.raw(field)
        if isinstance(value, dict):
            part = JsonFields(value, fields.place(field))
            value = part.text("full_name", "name_with_owner", "name")
        if isinstance(value, str) and (found := _REPOSITORY.fullmatch(value)):
            return found[1]
    return ""


def closing_issue(fields: JsonFields, body: str) -> int | None:
    """The one issue that a pull request says it closes; None where it names none or several."""
    numbers = {each.number("number") for each in fields.parts("closing_issues_references")}
    numbers |= {int(number) for number in _CLOSES.findall(body)}
    numbers.discard(None)
    return numbers.pop() if len(numbers) == 1 else None


def _oid(fields: JsonFields) -> str:
    part = fields.part("merge_commit")
    return part.sha("oid", "sha") if part else ""


def _account(fields: JsonFields, *names: str) -> ForgeAccount:
    """An account: an object of REST (`type`), of GraphQL (`__typename`), of `gh` (`is_bot`), or a bare login."""
    value = fields.raw(*names)
    if value is None:
        return ForgeAccount()
    if isinstance(value, str):
        return ForgeAccount(login=value[:200])
    part = JsonFields(value, fields.place(names[0]))
    kind = part.text("type", "__typename", most=60).lower()
    app = part.flag("is_bot", "bot")
    if app is None and kind:
        app = kind == "bot"
    user = part.part("user")  # of a commit in GraphQL
    login = part.text("login", "username") or (user.text("login") if user else "")
    return ForgeAccount(login, part.text("name"), part.text("email"), app)


def _commits(fields: JsonFields) -> Iterator[ForgeCommit]:
    for entry in fields.parts("commits", "commit_data"):
        inner = entry.part("commit")
        inner = entry if inner is None else inner
        message = inner.text("message", most=MOST_TEXT)
        if not message:
            headline, rest = (inner.text(name, most=MOST_TEXT) for name in ("message_headline", "message_body"))
            message = f"{headline}\n\n{rest}".strip()
        account = _account(entry, "author")
        by = _account(inner, "author")
        for author in inner.parts("authors"):
            by = by if by.mail else _account_of(author)
        yield ForgeCommit(
            entry.sha("sha", "oid") or inner.sha("sha", "oid"), message,
            ForgeAccount(account.login or by.login, by.name or account.name, by.mail or account.mail, account.app),
        )  # fmt: skip


def _account_of(part: JsonFields) -> ForgeAccount:
    return ForgeAccount(part.text("login"), part.text("name"), part.text("email"))


def _remarks(fields: JsonFields) -> Iterator[ForgeRemark]:
    for entry in fields.parts("reviews", "review_data"):
        yield ForgeRemark(_account(entry, "user", "author"), _body_text(entry), entry.text("state", most=60).lower())
    for entry in fields.parts("review_comments", "comment_data"):
        line = entry.number("line", "original_line")
        yield ForgeRemark(_account(entry, "user", "author"), _body_text(entry), "", entry.text("path", most=2000), line)
    for entry in fields.parts("comments", "comment_regular_data", "issue_comments"):
        yield ForgeRemark(_account(entry, "user", "author"), _body_text(entry))


def _body_text(entry: JsonFields) -> str:
    return entry.text("body", most=MOST_TEXT)
