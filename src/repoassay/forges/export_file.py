"""Pull requests out of a file or folder on this disk: what an API, `gh`, or an archive of either wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.forges.diff_parts import MOST_DIFF, diff_of_text
from repoassay.forges.github_pull import github_pull
from repoassay.forges.gitlab_pull import gitlab_pull
from repoassay.forges.json_fields import MOST_TEXT, JsonFields, snake_case
from repoassay.forges.pull import ForgePull, PullProblem
from repoassay.formats import Problems, read_json_records
from repoassay.records import read_regular
from repoassay.text import printable, quote

__all__ = ["ExportRead", "read_export", "read_objects"]

_WRAPPERS = ("pulls", "merge_requests", "items", "data", "nodes", "edges", "results", "repository")
_INSIDE = ("pull_request", "merge_request", "node", "row", "payload", "object_attributes")
_MOST_FILES = 100_000
_MOST_PULLS = 100_000
_MOST_DEPTH = 8
_PULL = frozenset({"number", "iid", "pull_number", "pr_number"})
_JSON = {".json", ".jsonl", ".ndjson"}


@dataclass(slots=True)
class ExportRead:
    """What was read: pull requests in order of their number, issues by number, and one sentence for each refused."""

    pulls: list[ForgePull] = field(default_factory=list)
    issues: dict[int, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_export(source: Path, repository: str = "") -> ExportRead:
    """Read an export.

    Args:
        source: A JSON or JSON Lines file: a list of pull requests, one of them, or an object that holds such a list
            (`pulls`, `merge_requests`, a GraphQL answer, events of an archive) and perhaps `issues`. Or a folder of
            such files, where `12.diff` beside them is the diff of number 12, and `issues/` holds issues.
        repository: `OWNER/NAME` of those that do not say it.

    Raises:
        BadInput: When it cannot be read, or holds no pull request at all.
    """
    found = ExportRead()
    try:
        folder = source.is_dir()
    except (OSError, ValueError) as error:
        raise BadInput(f"{quote(source)} cannot be read: {printable(str(error))}.", "Correct the path.") from error
    if folder:
        _read_folder(source, repository, found)
    else:
        _take(_objects(source, found), repository, found)
    if not found.pulls and not found.problems:
        raise BadInput(
            f"There is no pull request in {quote(source)}.",
            "Give the JSON of the forge's API or of `gh pr view --json`, as docs/review.md says.",
        )
    return _ordered(found)


def read_objects(values: Iterable[object], issues: Sequence[object] = (), repository: str = "") -> ExportRead:
    """Read pull requests that are at hand as JSON values; problems name the place in the order given, from 1."""
    found = ExportRead()
    _take_issues(list(issues), found)
    _take(((f"entry {at}", value) for at, value in enumerate(values, 1)), repository, found)
    return _ordered(found)


def _read_folder(source: Path, repository: str, found: ExportRead) -> None:
    inner = next((source / name for name in ("pulls", "merge_requests") if (source / name).is_dir()), source)
    diffs, files = dict[int, str](), list[Path]()
    for count, path in enumerate(sorted(inner.iterdir())):
        if count > _MOST_FILES:
            raise BadInput(f"The folder {quote(inner)} has more than {_MOST_FILES:,} files.", "Split it.")
        number = re.fullmatch(r"#?(\d{1,9})\.(?:diff|patch)", path.name)
        if number is not None:
            try:
                diffs[int(number[1])] = read_regular(path, MOST_DIFF).decode("utf-8", "replace")
            except OSError as error:
                found.problems.append(f"{printable(str(path), 300)}: it cannot be read: {error.strerror}.")
        elif path.suffix.lower() in _JSON:
            files.append(path)
    for path in files:
        try:
            _take(_objects(path, found), repository, found, diffs)
        except BadInput as error:
            found.problems.append(error.message)
    for path in sorted((source / "issues").glob("*.json"))[:_MOST_FILES] if inner != source else ():
        _take_issues([value for _, value in _records(path)], found)


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    problems = Problems(path, "export")
    for record in read_json_records(path, problems, _PULL | {*_WRAPPERS, *_INSIDE, "issues"}):
        yield f"{path.name}, {record.place}", record.value
    problems.check()


def _objects(path: Path, found: ExportRead) -> Iterator[tuple[str, Any]]:
    for place, value in _records(path):
        yield from _unwrapped(value, place, found, _MOST_DEPTH)


def _unwrapped(value: Any, place: str, found: ExportRead, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the pull requests in a value: of wrappers what they hold, of everything else itself."""
    if isinstance(value, list):
        for at, each in enumerate(value, 1):
            yield from _unwrapped(each, f"{place}, entry {at}", found, depth - 1)
        return
    if not isinstance(value, dict) or depth <= 0:
        yield place, value
        return
    known = {snake_case(key): each for key, each in value.items() if isinstance(key, str)}
    _take_issues(known.get("issues"), found)
    # An event of an archive holds a number beside the pull request.
    inner = next((known[name] for name in _INSIDE if isinstance(known.get(name), dict)), None)
    if inner is not None and not ("title" in known and _PULL & known.keys()):
        repo = known.get("repo")
        if isinstance(repo, dict) and isinstance(inner, dict):
            inner = {"repo": repo.get("name"), **inner}
        yield from _unwrapped(inner, place, found, depth - 1)
        return
    wrapped = [
        name for name, each in known.items()
        if (name in _WRAPPERS or name.endswith("_requests")) and isinstance(each, list | dict)
    ]  # fmt: skip
    if wrapped and not _PULL & known.keys():
        for name in wrapped:
            yield from _unwrapped(known[name], f"{place}, {name}", found, depth - 1)
        return
    if "issues" not in known or _PULL & known.keys():
        yield place, value


def _take(
    objects: Iterable[tuple[str, Any]], repository: str, found: ExportRead, diffs: Mapping[int, str] | None = None
) -> None:
    for place, value in objects:
        where = place
        try:
            fields = JsonFields(value)
            number = fields.raw("number", "iid", "pull_number", "pr_number")
            where = f"{place}, pull request {printable(str(number), 40)}" if number is not None else place
            gitlab = "iid" in fields or "source_branch" in fields
            pull = gitlab_pull(fields, repository) if gitlab else github_pull(fields, repository)
            found.pulls.append(_checked_times(_with_diff(pull, (diffs or {}).get(pull.number, ""))))
        except PullProblem as error:
            found.problems.append(f"{printable(where, 300)}: {error}")
        except RecursionError:
            found.problems.append(f"{printable(where, 300)}: it is nested too deeply.")
        if len(found.pulls) > _MOST_PULLS:
            raise BadInput(f"There are more than {_MOST_PULLS:,} pull requests.", "Split the export.")


def _with_diff(pull: ForgePull, text: str) -> ForgePull:
    if not text:
        return pull
    diff, files = diff_of_text(text, f"{pull.number}.diff")
    return replace(pull, diff=diff, files=files)


def _checked_times(pull: ForgePull) -> ForgePull:
    if pull.opened and pull.merged and pull.merged < pull.opened:
        raise PullProblem("merged_at", "is before `created_at`.")
    return pull


def _take_issues(values: object, found: ExportRead) -> None:
    for value in values if isinstance(values, list) else ():
        try:
            fields = JsonFields(value)
            number = fields.number("number", "iid")
            title, body = fields.text("title"), fields.text("body", "description", most=MOST_TEXT)
        except PullProblem:
            continue  # what an issue says is context; a pull request stands without it
        if number is not None and "pull_request" not in fields:
            found.issues[number] = f"{title}\n\n{body}".strip()


def _ordered(found: ExportRead) -> ExportRead:
    """Leave the newest version of each pull request, and say how many older ones there were."""
    newest: dict[tuple[str, str, int], ForgePull] = {}
    twice = set()
    for pull in found.pulls:
        key = (pull.forge, pull.repository, pull.number)
        before = newest.get(key)
        if before is not None and before != pull:
            twice.add(pull.name)
        if before is None or (pull.updated and before.updated and pull.updated >= before.updated):
            newest[key] = pull
    pulls = sorted(newest.values(), key=lambda pull: (pull.forge, pull.repository, pull.number))
    found.pulls = [
        replace(pull, issue_text=found.issues.get(pull.issue, "")) if pull.issue is not None else pull for pull in pulls
    ]
    found.problems += [
        f"{printable(name, 200)}: it stands there twice and differently; the newest is taken." for name in sorted(twice)
    ]
    return found
