"""Commits of a history as the rules look at them, and those to try: spread over time, drawn with a seed."""

from __future__ import annotations

import ast
import contextlib
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from repoassay.construct.history import LONGEST_MESSAGE, History
from repoassay.construct.mining.rules import CommitFacts, MiningRules, RuleFinding, TouchedFile
from repoassay.errors import InfraFault
from repoassay.workspace import moment_of, run_git

__all__ = ["DrawnCommits", "closer_look", "draw", "read_commits"]

_NAMED_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
_PLAIN = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


def read_commits(history: History, since: str | None = None, until: str | None = None) -> list[CommitFacts]:
    """Every commit but merges that the default branch holds, oldest first.

    Args:
        history: The repository.
        since: The first day (`YYYY-MM-DD`, UTC) whose commits count.
        until: The last one.
    """
    span = [f"--since={since}T00:00:00Z"] if since else []
    span += [f"--until={until}T23:59:59Z"] if until else []
    walk = ("log", "--reverse", "--no-merges", *span)
    messages: dict[str, str] = {}
    for entry in run_git(history.place, *walk, "--format=%x00%H%n%B", "HEAD").decode(errors="replace").split("\0")[1:]:
        sha, _, message = entry.partition("\n")
        messages[sha] = message[:LONGEST_MESSAGE].strip()
    text = run_git(history.place, *walk, "--numstat", *_PLAIN, "--format=>%H %ct %P", "HEAD").decode(errors="replace")
    found: list[CommitFacts] = []
    for block in re.split(r"^>", text, flags=re.MULTILINE)[1:]:
        head, *rows = block.splitlines()
        sha, stamp, *parents = head.split()
        day = moment_of(stamp).date().isoformat()
        files = tuple(_file(row) for row in rows if row.count("\t") >= 2)
        found.append(CommitFacts(sha, tuple(parents), day, messages.get(sha, ""), files))
    return found


def _file(row: str) -> TouchedFile:
    added, removed, path = row.split("\t", 2)
    return TouchedFile(path, _number(added), _number(removed))


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def closer_look(history: History, facts: CommitFacts, rules: MiningRules) -> RuleFinding | None:
    """The first rule that a commit does not keep to and that only its content tells; None where it keeps to all."""
    tests = [each.path for each in rules.test_files(facts)]
    shown = _diff(history, facts.commit, tests)
    gained = (row[1:] for row in shown.splitlines() if row.startswith("+") and not row.startswith("+++"))
    if not any(re.search(rules.asserts, row) for row in gained):
        return RuleFinding("tests gain an assertion", "none")
    sources = [each.path for each in rules.source_files(facts)]
    for path in (*sources, *filter(_NAMED_TEST.search, tests)):
        if path.endswith(".py") and not _of_python_3(history, facts, path):
            return RuleFinding("Python 3 can read it", path)
    if all(path.endswith(".py") and _same_code(history, facts, path) for path in sources):
        return RuleFinding("code does something else", "only comments, docstrings or layout differ")
    return None


def _diff(history: History, commit: str, paths: Sequence[str]) -> str:
    options = ("--format=", "--unified=0", *_PLAIN)
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    return run_git(history.place, "show", *options, commit, "--", *paths, env=literal).decode(errors="replace")


def _of_python_3(history: History, facts: CommitFacts, path: str) -> bool:
    """Whether a Python file is one that some Python 3 reads; 3.6 took `async` for a name."""
    try:
        source = run_git(history.place, "cat-file", "blob", f"{facts.commit}:{path}")
    except InfraFault:
        return True  # removed
    for version in (sys.version_info[:2], (3, 6)):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source, feature_version=version)
            return True
    return False


def _same_code(history: History, facts: CommitFacts, path: str) -> bool:
    """Whether a Python file is the same program before and after, but for docstrings."""
    try:
        before, after = (
            _program(run_git(history.place, "cat-file", "blob", f"{commit}:{path}"))
            for commit in (facts.parents[0], facts.commit)
        )
    except (InfraFault, SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # added, removed, or of another Python
    return before == after


def _program(source: bytes) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


@dataclass(frozen=True, slots=True)
class DrawnCommits:
    """Commits to try, in an order whose every beginning is a sample; and those that a closer look refused."""

    commits: tuple[CommitFacts, ...]
    refused: tuple[tuple[CommitFacts, RuleFinding], ...]


def draw(
    pool: Sequence[CommitFacts], count: int | None, seed: str,
    look: Callable[[CommitFacts], RuleFinding | None],
) -> DrawnCommits:  # fmt: skip
    """Draw commits: the pool in strata of equal size by time, one commit of each that stands up to a closer look.

    What strata without such a commit lack is made up from all others.

    Args:
        pool: Commits that keep to the rules as far as the log tells, oldest first.
        count: How many; None for all.
        seed: What chance depends on.
        look: The closer look.
    """
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    refused: list[tuple[CommitFacts, RuleFinding]] = []
    found: list[CommitFacts] = []
    left: list[CommitFacts] = []
    for stratum in _strata(pool, count):
        chance.shuffle(stratum)
        looked = iter(stratum)
        found += _first(looked, look, refused)
        left += looked
    chance.shuffle(found)
    chance.shuffle(left)
    others = iter(left)
    while count is not None and len(found) < count and (more := _first(others, look, refused)):
        found += more
    return DrawnCommits(tuple(found), tuple(refused))


def _strata(pool: Sequence[CommitFacts], count: int | None) -> Iterator[list[CommitFacts]]:
    each = len(pool) if count is None else count
    for number in range(each):
        yield list(pool[len(pool) * number // each : len(pool) * (number + 1) // each])


def _first(
    stratum: Iterable[CommitFacts], look: Callable[[CommitFacts], RuleFinding | None],
    refused: list[tuple[CommitFacts, RuleFinding]],
) -> list[CommitFacts]:  # fmt: skip
    for facts in stratum:
        finding = look(facts)
        if finding is None:
            return [facts]
        refused.append((facts, finding))
    return []
