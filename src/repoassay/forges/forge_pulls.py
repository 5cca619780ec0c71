"""Pull requests out of the API of a forge, as exports have them: each with its files, commits and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from repoassay.errors import InfraFault
from repoassay.forges.forge_client import ForgeClient, ForgeRefused

__all__ = ["PullQuery", "fetch_issue", "fetch_pulls"]

_Document = dict[str, Any]
_DIFF = "application/vnd.github.diff"


@dataclass(frozen=True, slots=True)
class PullQuery:
    """Which pull requests: in what state, opened on that day or later, and at most how many, the newest first."""

    state: Literal["open", "closed", "merged", "all"] = "merged"
    since: date | None = None
    most: int = 100


def fetch_pulls(client: ForgeClient, query: PullQuery) -> Iterator[_Document]:
    """Yield pull requests of the client's repository as one object each, the newest first.

    Raises:
        ForgeRefused: The repository is not there, or the token does not open it.
        InfraFault: The forge does not answer as its documentation says.
        Unavailable: Its limit is reached for long.
    """
    found = _github(client, query) if client.address.forge == "github" else _gitlab(client, query)
    for count, document in enumerate(found, 1):
        yield document
        if count >= query.most:
            return


def fetch_issue(client: ForgeClient, number: int) -> _Document | None:
    """Return an issue of the repository; None where there is none."""
    try:
        found = client.ask(f"{client.address.path}/issues/{number}")
    except ForgeRefused:
        return None  # what an issue says is context; a pull request stands without it
    return found if isinstance(found, dict) else None


def _github(client: ForgeClient, query: PullQuery) -> Iterator[_Document]:
    base = f"{client.address.path}/pulls"
    state = "closed" if query.state == "merged" else query.state
    for pull in client.pages(base, state=state, sort="created", direction="desc"):
        number = _checked(pull, "number")
        if query.since is not None and str(pull.get("created_at"))[:10] < query.since.isoformat():
            return
        if query.state == "merged" and not pull.get("merged_at"):
            continue
        place = f"{base}/{number}"
        document = pull | {
            "files": list(client.pages(f"{place}/files")),
            "commit_data": list(client.pages(f"{place}/commits")),
            "review_data": list(client.pages(f"{place}/reviews")),
            "comment_data": list(client.pages(f"{place}/comments")),
            "issue_comments": list(client.pages(f"{client.address.path}/issues/{number}/comments")),
        }
        # Counts and links of the list stand under names that exports have the lists themselves under.
        for name in ("comments", "commits", "review_comments", "changed_files"):
            document.pop(name, None)
        yield _with_large_files(client, place, document)


def _with_large_files(client: ForgeClient, place: str, document: _Document) -> _Document:
    """Take the whole diff where the list of files leaves out hunks, as it does of large files."""
    cut = any(isinstance(file, dict) and not file.get("patch") and file.get("changes") for file in document["files"])
    if not cut:
        return document
    try:
        return document | {"diff": client.text(place, _DIFF)}
    except ForgeRefused:
        return document  # too large even so: those files are shown without their lines


def _gitlab(client: ForgeClient, query: PullQuery) -> Iterator[_Document]:
    base = f"{client.address.path}/merge_requests"
    parameters: _Document = {
        "state": {"open": "opened"}.get(query.state, query.state),
        "order_by": "created_at",
        "sort": "desc",
    }
    if query.since is not None:
        parameters["created_after"] = f"{query.since.isoformat()}T00:00:00Z"
    for listed in client.pages(base, **parameters):
        place = f"{base}/{_checked(listed, 'iid')}"
        changes, whole = list(client.pages(f"{place}/diffs")), client.ask(place)
        if not isinstance(whole, dict):
            raise InfraFault("The forge answers for a merge request with what is none.")
        document = listed | {
            "diff_refs": whole.get("diff_refs"),
            "changes": changes,
            "commits": list(client.pages(f"{place}/commits")),
            "discussions": list(client.pages(f"{place}/discussions")),
        }
        if any(isinstance(file, dict) and (file.get("too_large") or file.get("collapsed")) for file in changes):
            document["diff"] = client.text(f"{place}/raw_diffs", "text/plain")
        yield document


def _checked(listed: object, key: str) -> int:
    number = listed.get(key) if isinstance(listed, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise InfraFault("The forge lists a pull request without its number.")
    return number
