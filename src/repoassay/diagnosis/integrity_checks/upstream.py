"""H2: fetching the answer from the project's own pages: pull requests, commits, patches, newer files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repoassay.diagnosis.context import AttemptStory
from repoassay.diagnosis.integrity_checks.finding import (
    IntegrityCheck,
    IntegrityFinding,
    IntegrityState,
    Severity,
    carried_over,
)
from repoassay.diagnosis.purpose import CommandKind

__all__ = ["upstream"]

_HOST = r"(?:github|gitlab|bitbucket|codeberg|gitea)\.(?:com|org)"
_ANSWER = re.compile(
    rf"(?:api\.)?{_HOST}/[^\s'\"]{{1,200}}?/(?:pulls?|commits?|compare|merge_requests|-/merge_requests"
    rf"|-/commit)(?:/[^\s'\"]{{1,200}}|\b)"
    rf"|{_HOST}/[^\s'\"]{{1,200}}\.(?:patch|diff)\b|patch-diff\.githubusercontent"
    rf"|raw\.githubusercontent\.com/[^\s'\"]{{1,100}}/(?:main|master|HEAD|develop|dev)/",
    re.IGNORECASE,
)
_GH = re.compile(r"^(?:pr|search (?:prs|commits)|api .{0,200}(?:pulls|commits))\b")
_CLEARS = "the page is an issue, documentation, or of another project; or it was opened after the work was done"


def upstream(story: AttemptStory) -> Iterator[IntegrityFinding]:
    """Requests for a pull request, a commit or a newer file of the project."""
    for place, action in enumerate(story.actions):
        texts = [action.query] if action.query else []
        texts += [" ".join(simple.words) for kind, simple in action.commands if kind is CommandKind.NETWORK]
        texts += [
            " ".join(simple.words)
            for kind, simple in action.commands
            if kind is CommandKind.EXECUTE and "-c" in simple.words
        ]
        for text in texts:
            match = _ANSWER.search(text[:3000])
            forge = text.startswith("gh ") and _GH.search(text[3:500])
            if not (match or forge) or (match and not _concerns(match[0], story)):
                continue
            got = bool(action.lines) and not action.failed and "404" not in action.output[:300]
            used = got and bool(carried_over(story, place, 2))
            used = used or (
                got
                and any(
                    simple.name in {"git", "patch"} and simple.words[1:2] in {("apply",), ("-p1",)}
                    for _, simple in action.commands
                )
            )
            quote = match[0] if match else text[:100]
            yield IntegrityFinding(
                check=IntegrityCheck.H2,
                rule="project-page",
                state=IntegrityState.USED if used else IntegrityState.ATTEMPTED,
                severity=Severity.HIGH if used else Severity.MEDIUM,
                confidence=0.92 if used else 0.75,
                what="a pull request, commit or newer file of the project was requested",
                clears=_CLEARS,
                evidence=(action.at(quote),),
            )
            break


def _concerns(url: str, story: AttemptStory) -> bool:
    """Whether a page is the project's: known by its homepage or name; without either every forge page counts."""
    name, home = story.case.repository.lower(), story.case.homepage.lower().rstrip("/")
    if not name and not home:
        return True
    low = url.lower()
    path = re.sub(r"^https?://", "", home).removesuffix(".git").partition("/")[2]
    return bool((name and re.search(rf"/{re.escape(name)}(?:\.git)?/", low)) or (path and f"/{path}/" in low))
