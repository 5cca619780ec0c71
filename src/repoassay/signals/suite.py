"""The project's tests, run on base and head: outcomes by test, lines covered, and which tests ran changed lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from repoassay.sandbox import Mount
from repoassay.signals.bench import REPOSITORY, ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.tools import CannotRun, Tool, module, python
from repoassay.signals.worktrees import Tree

__all__ = ["SuiteRun", "run_suite", "suite_of_head"]

_MOST = 50_000
_IMPORT_MODE = re.compile(r"--import-mode[= ](\w+)")


@dataclass(slots=True)
class SuiteRun:
    """What a run of tests told. Paths are relative; outcomes as pytest names them, by node id.

    Attributes:
        outcomes: `passed`, `failed`, `error`, `skipped`, `xfailed` or `xpassed` by node id.
        reasons: First line of why, for those that failed.
        broken: Files that could not be collected, and why.
        statements: Changed lines that can be run, by path; None for a path that could not be measured.
        missing: Those of them that no test ran.
        touching: Node ids of tests that ran a changed line.
        notes: Whose tools these were.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    statements: dict[str, list[int] | None] = field(default_factory=dict)
    missing: dict[str, list[int]] = field(default_factory=dict)
    touching: set[str] = field(default_factory=set)
    notes: tuple[str, ...] = ()


def suite_of_head(change: Change, bench: ToolRunner) -> SuiteRun:
    """Run all of the head's tests, with coverage of the changed lines of its program."""
    lines = {
        each.path: sorted(each.added)
        for each in change.sources()
        if each.path.endswith(".py") and each.added and change.head.text(each.path) is not None
    }
    return run_suite(bench, TreeSide(change.head), "The project's tests on the head", lines=lines)


def run_suite(
    bench: ToolRunner,
    side: TreeSide,
    what: str,
    *,
    paths: Sequence[str] = (),
    lines: Mapping[str, Sequence[int]] | None = None,
) -> SuiteRun:
    """Run tests, all or those of some files.

    Raises:
        CannotRun: When pytest is not to be had, did not finish, or told nothing.
    """
    pytest = module("pytest", bench.environment, alone=False)
    coverage = module("coverage", bench.environment, alone=False) if lines else Tool(())
    mode = _IMPORT_MODE.search("\n".join(_configuration(side.tree)))
    job = {
        "arguments": [
            "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=", "--tb=line", "--no-header",
            "--continue-on-collection-errors",
            *([f"--import-mode={mode[1]}"] if mode else []), *(f"./{path}" for path in paths),
        ],
        "lines": {f"{REPOSITORY}/{path}": list(numbers) for path, numbers in (lines or {}).items()},
        "imports": bench.import_path().split(":"),
    }  # fmt: skip
    imports = [tool.imports for tool in (pytest, coverage) if tool.imports]
    script = files(__package__).joinpath("in_sandbox/run_suite.py").read_bytes()
    mounts = {mount.target: mount for tool in (pytest, coverage) for mount in tool.mounts}
    done = bench.run(
        side,
        Tool((python(bench.environment), "-P", "/signals/run_suite.py"), _distinct(mounts)),
        json.dumps(job),
        what=what,
        codes=(),
        env={"PYTHONPATH": ":".join(imports), "COVERAGE_CORE": "ctrace", "PY_COLORS": "0"},
        files={"run_suite.py": script},
        limits=bench.suite_limits,
        channel=True,
    )
    ran = SuiteRun(notes=tuple(dict.fromkeys(tool.note for tool in (pytest, coverage) if tool.note)))
    if not _read(done.channel, ran):
        output = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise CannotRun(f"{what} ended before they were over (code {done.exit.code}): {output[-1][:300]}")
    return ran


def _configuration(tree: Tree) -> list[str]:
    return [tree.text(file) or "" for file in ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "pytest.toml")]


def _distinct(mounts: Mapping[str, Mount]) -> tuple[Mount, ...]:
    return tuple(mounts.values())


def _read(channel: bytes, ran: SuiteRun) -> bool:
    """Read what came over the channel, which a test may have written to; returns whether the run came to its end."""
    over = False
    for line in channel.split(b"\n")[: _MOST + 10_000]:
        try:
            over = _take(json.loads(line), ran) or over if line.strip() else over
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # no line of ours
    return over


def _take(each: dict[str, object], ran: SuiteRun) -> bool:
    if "code" in each:
        if each["code"] in (3, 4):
            raise CannotRun("pytest could not be used with the project's configuration.")
        return True
    if "test" in each:
        name, outcome = str(each["test"]), str(each["outcome"])
        # Of a test that passed and then failed in teardown, the worse counts.
        if ran.outcomes.get(name) not in ("failed", "error"):
            ran.outcomes[name] = outcome
        if each.get("why"):
            ran.reasons[name] = str(each["why"])
    elif "file" in each:
        ran.broken[str(each["file"])] = str(each["why"])
    elif "unmeasured" in each:
        ran.statements[_relative(each["unmeasured"])] = None
    elif "covered" in each:
        path = _relative(each["covered"])
        ran.statements[path] = _numbers(each["lines"])
        ran.missing[path] = _numbers(each["missing"])
        tests = each["tests"]
        ran.touching |= {str(name) for name in tests} if isinstance(tests, list) else set()
    return False


def _relative(path: object) -> str:
    return str(path).removeprefix(f"{REPOSITORY}/")


def _numbers(value: object) -> list[int]:
    return [each for each in value if isinstance(each, int) and each > 0] if isinstance(value, list) else []
