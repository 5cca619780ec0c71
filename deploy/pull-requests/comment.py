"""Write a comment under a pull request of GitHub or a merge request of GitLab, or renew the one that is there.

    JUDGE_COMMENT      the file with the comment, which begins with a mark; made by judge.py in a job without secrets
    JUDGE_PULL         number of the request
    JUDGE_LOGIN        GitHub: who writes; only comments of this account are renewed
    GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN            or
    CI_API_V4_URL, CI_PROJECT_ID, JUDGE_COMMENT_TOKEN

Needs Python alone. The text is written by a job that judged a stranger's patch: it is cut, mentions
nobody, and gives no commands.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MOST_COMMENT = 60_000
COMMAND = re.compile(r"((?:^|[\r\n\v\f\x85\u2028\u2029])\s*)/")
"""GitLab does what a line says that begins with a slash, with the rights of the comment's author."""
MARK = "<!-- repoassay: verdict on a pull request -->"


class Forge:
    """The part of a forge's API that is needed: comments of one request."""

    def __init__(self, address: str, headers: dict[str, str], author: str) -> None:
        self.address, self.headers, self.author = address, headers, author

    def call(self, method: str, address: str, body: dict[str, str] | None = None) -> Any:
        """One request, answered in JSON; what a forge refuses ends the job with its words."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self.headers, "Content-Type": "application/json", "User-Agent": "repoassay"}
        request = urllib.request.Request(address, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {address}: {error.code} {error.read(2000).decode('utf-8', 'replace')}")
        except urllib.error.URLError as error:
            sys.exit(f"{method} {address}: {error.reason}")

    def earlier(self) -> int | None:
        """Our comment that is there already."""
        for page in range(1, 21):
            comments = self.call("GET", f"{self.address}?per_page=100&page={page}")
            for each in comments:
                who = each.get("user") or each.get("author") or {}
                if self.author in (who.get("login"), str(who.get("id"))) and str(each.get("body")).startswith(MARK):
                    return int(each["id"])
            if len(comments) < 100:
                break
        return None


def github(pull: int) -> tuple[Forge, str, str]:
    """GitHub's comments, and how one of them is renewed: by which method, below which address."""
    below = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    headers = {"Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
    author = os.environ.get("JUDGE_LOGIN") or "github-actions[bot]"
    return Forge(f"{below}/{pull}/comments", headers, author), "PATCH", f"{below}/comments"


def gitlab(pull: int) -> tuple[Forge, str, str]:
    """GitLab's notes, and how one of them is renewed."""
    api = os.environ["CI_API_V4_URL"]
    notes = f"{api}/projects/{int(os.environ['CI_PROJECT_ID'])}/merge_requests/{pull}/notes"
    forge = Forge(notes, {"PRIVATE-TOKEN": os.environ["JUDGE_COMMENT_TOKEN"]}, "")
    forge.author = str(forge.call("GET", f"{api}/user")["id"])
    return forge, "PUT", notes


def main() -> None:
    """Write the comment, or renew ours."""
    pull = int(os.environ["JUDGE_PULL"])
    with Path(os.environ["JUDGE_COMMENT"]).open(encoding="utf-8", errors="replace") as stream:
        text = stream.read(MOST_COMMENT)
    if not text.startswith(MARK):
        sys.exit("The comment does not begin with our mark. Let judge.py write it.")
    body = {"body": COMMAND.sub(r"\1\\/", text.replace("@", "@<!-- -->"))}
    forge, method, place = github(pull) if "GITHUB_API_URL" in os.environ else gitlab(pull)
    number = forge.earlier()
    if number is None:
        forge.call("POST", forge.address, body)
    else:
        forge.call(method, f"{place}/{number}", body)
    print("Commented." if number is None else "Renewed our comment.")


if __name__ == "__main__":
    main()
