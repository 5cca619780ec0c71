"""Twelve pull requests as GitHub's REST API has them, and the same as merge requests of GitLab's; and real ones.

`made` was written for these tests, in the schema that GitHub documents, with what real exports have: an account and a
fork that were deleted, bots, files of every status, no newline at the end, names in other scripts. `of_click` makes the
same of twelve merges of a real history, where that lies beside the checkout.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared_data import SHARED

__all__ = ["CLICK", "as_gitlab", "made", "needs_click", "of_click"]

CLICK = SHARED.with_name("repositories") / "pallets--click.bundle"
needs_click = pytest.mark.skipif(not CLICK.is_file(), reason="the history of click is not beside the checkout")

_EDIT = "@@ -1,3 +1,4 @@\n import os\n-x = 1\n+x = 2\n+y = 3\n z = 4"
_FAR = "@@ -40,4 +41,3 @@ def total(prices):\n     found = 0\n-    for price in prices:\n-        found += price\n"
_FAR += "+    found = sum(prices)\n     return found"
_NEW = "@@ -0,0 +1,2 @@\n+first\n+second"
_GONE = "@@ -1,2 +0,0 @@\n-first\n-second"
_LAST = "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file"


def _file(filename: str, patch: str | None = _EDIT, status: str = "modified", before: str = "") -> dict[str, Any]:
    lines = (patch or "").split("\n")
    added, removed = (sum(line[:1] == sign for line in lines) for sign in "+-")
    entry: dict[str, Any] = {
        "sha": "bb" * 20, "filename": filename, "status": status, "additions": added, "deletions": removed,
        "changes": added + removed, "blob_url": f"https://github.com/acme/shop/blob/main/{filename}",
    }  # fmt: skip
    return entry | ({"patch": patch} if patch is not None else {}) | ({"previous_filename": before} if before else {})


_FILES: tuple[list[dict[str, Any]], ...] = (
    [_file("till.py")],
    [_file("src/total.py", f"{_EDIT}\n{_FAR}"), _file("tests/test_total.py")],
    [_file("docs/notes.md", _NEW, "added")],
    [_file("old/gone.py", _GONE, "removed"), _file("till.py")],
    [_file("src/new_name.py", _EDIT, "renamed", "src/old_name.py")],
    [_file("src/moved.py", None, "renamed", "src/there.py"), _file("till.py")],
    [_file("logo.png", None), _file("README.md")],
    [_file("VERSION", _LAST)],
    [_file("docs/überblick 概要.md"), _file("a name with spaces.txt")],
    [_file("CLAUDE.md", _NEW, "added"), _file("src/total.py", _FAR)],
    [_file(f"pkg/module_{number}.py") for number in range(12)],
    [_file("requirements.txt")],
)
_AUTHORS: tuple[dict[str, Any] | None, ...] = (
    {"login": "zoe-quark", "type": "User"}, {"login": "mira-l", "type": "User"}, None,
    {"login": "Copilot", "type": "Bot"}, {"login": "zoe-quark", "type": "User"}, {"login": "mira-l", "type": "User"},
    {"login": "zoe-quark", "type": "User"}, {"login": "claude[bot]", "type": "Bot"},
    {"login": "yuki.t", "type": "User"}, {"login": "zoe-quark", "type": "User"}, {"login": "mira-l", "type": "User"},
    {"login": "dependabot[bot]", "type": "Bot"},
)  # fmt: skip


def made() -> list[dict[str, Any]]:
    """Twelve pull requests of `acme/shop`, each with `files`, and `commit_data`, `review_data` as lists."""
    found = []
    for number, (files, author) in enumerate(zip(_FILES, _AUTHORS, strict=True), 101):
        login = (author or {}).get("login", "ghost")
        merged = None if number % 4 == 0 else f"2026-02-{number - 100:02}T18:30:00Z"
        commit = {
            "sha": f"{number:040x}", "author": author,
            "commit": {"message": f"Work {number}\n\nCo-authored-by: {login} <{login}@mail.example>",
                       "author": {"name": login.title(), "email": f"{login}@mail.example"}},
        }  # fmt: skip
        found.append({
            "url": f"https://api.github.com/repos/acme/shop/pulls/{number}", "id": 9000 + number, "number": number,
            "html_url": f"https://github.com/acme/shop/pull/{number}", "state": "closed", "locked": False,
            "title": f"Change {number - 100} of the shop", "user": author,
            "body": None if number == 105 else f"Makes {number} right.\r\n\r\nCloses #7",
            "created_at": f"2026-02-{number - 100:02}T06:30:00Z", "updated_at": "2026-03-01T00:00:00Z",
            "closed_at": merged, "merged_at": merged, "merge_commit_sha": f"{number:039x}f", "draft": False,
            "head": {"label": f"{login}:work-{number}", "ref": f"{login}/work-{number}", "sha": f"{number:040x}",
                     "user": author, "repo": None if author is None else {"full_name": f"{login}/shop"}},
            "base": {"label": "acme:main", "ref": "main", "sha": "ba" * 20, "repo": {"full_name": "acme/shop"}},
            "merged": merged is not None, "comments": 0, "review_comments": 0, "commits": 1,
            "additions": sum(each["additions"] for each in files), "changed_files": len(files),
            "files": files, "commit_data": [commit],
            "review_data": [{"user": {"login": "keeper", "type": "User"}, "body": f"Thanks @{login}!",
                             "state": "APPROVED", "submitted_at": f"2026-02-{number - 100:02}T12:00:00Z"}],
        })  # fmt: skip
    return found


def of_click(folder: Path) -> list[dict[str, Any]]:
    """Twelve merged pull requests of click, newest first, out of its history."""
    repository = str(folder / "click.git")
    subprocess.run(["git", "clone", "--quiet", "--bare", str(CLICK), repository], check=True)

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    found = []
    for line in git("log", "--merges", "--first-parent", "--format=%H %P %cI %aI %s").splitlines():
        merge, base, head, merged, opened, title = line.split(" ", 5)
        number = re.search(r"\(#(\d+)\)$|#(\d+)", title)
        files = _files_of(git("diff", "--no-ext-diff", "--find-renames", f"{base}...{head}"))
        if number is None or not any("patch" in file for file in files):
            continue
        name, mail, body = git("log", "-1", "--format=%an%n%ae%n%b", head).split("\n", 2)
        at = int(number[1] or number[2])
        found.append({
            "number": at, "html_url": f"https://github.com/pallets/click/pull/{at}", "state": "closed", "title": title,
            "body": body, "user": {"login": name.replace(" ", "").lower(), "type": "User"},
            "created_at": min(opened, merged), "merged_at": merged, "merge_commit_sha": merge, "merged": True,
            "head": {"ref": f"branch-{at}", "sha": head},
            "base": {"ref": "main", "sha": git("merge-base", base, head).strip()},
            "files": files,
            "commit_data": [{"sha": head, "commit": {"message": body, "author": {"name": name, "email": mail}}}],
        })  # fmt: skip
        if len(found) == 12:
            break
    return found


def _files_of(diff: str) -> list[dict[str, Any]]:
    """Files with their patches, as the API lists them, out of git's diff."""
    files = []
    for part in re.split(r"^(?=diff --git )", diff, flags=re.MULTILINE)[1:]:
        head, hunks, rest = part.partition("\n@@ ")
        named = re.match(r"diff --git a/(.*) b/(.*)", head)
        assert named is not None
        status = "added" if "\nnew file" in head else "removed" if "\ndeleted file" in head else "modified"
        status = "renamed" if "\nrename from" in head else status
        patch = ("@@ " + rest).rstrip("\n") if hunks else None
        files.append(_file(named[2], patch, status, named[1] if status == "renamed" else ""))
    return files


def as_gitlab(pull: dict[str, Any]) -> dict[str, Any]:
    """The same change as a merge request of GitLab's REST API, with `changes`, `commits` and `discussions`."""
    login = (pull["user"] or {}).get("login", "ghost")
    repository = pull["html_url"].split("/pull/")[0].removeprefix("https://github.com/")
    changes = [
        {
            "old_path": file.get("previous_filename", file["filename"]), "new_path": file["filename"],
            "new_file": file["status"] == "added", "deleted_file": file["status"] == "removed",
            "renamed_file": file["status"] == "renamed", "diff": file.get("patch", ""), "a_mode": "100644",
        }
        for file in pull["files"]
    ]  # fmt: skip
    return {
        "id": 5000 + pull["number"], "iid": pull["number"], "project_id": 5, "title": pull["title"],
        "description": pull["body"], "state": "merged" if pull["merged_at"] else "closed",
        "web_url": f"https://gitlab.com/{repository}/-/merge_requests/{pull['number']}",
        "created_at": pull["created_at"], "merged_at": pull["merged_at"], "source_branch": pull["head"]["ref"],
        "target_branch": "main", "author": {"username": login, "name": login.title(), "bot": "[bot]" in login},
        "sha": pull["head"]["sha"],
        "diff_refs": {"base_sha": pull["base"]["sha"], "head_sha": pull["head"]["sha"], "start_sha": "5" * 40},
        "changes": changes,
        "commits": [
            {"id": each["sha"], "message": each["commit"]["message"],
             "author_name": each["commit"]["author"]["name"], "author_email": each["commit"]["author"]["email"]}
            for each in pull["commit_data"]
        ],
    }  # fmt: skip
