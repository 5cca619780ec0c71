"""New findings of mypy, also in files that the change does not touch."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.configuration import configured_checks, head_side, settings
from repoassay.signals.findings import ToolFinding, compared
from repoassay.signals.signal import Signal
from repoassay.signals.tools import CannotRun, module
from repoassay.signals.worktrees import Tree
from repoassay.survey import is_test_support

__all__ = ["mypy"]

_ERROR = re.compile(r"(.{1,1024}?):(\d{1,8}): error: (.*?)(?:  \[([\w-]+)\])?")
_OPTIONS = (
    "--no-error-summary", "--no-pretty", "--no-color-output", "--show-error-codes", "--hide-error-context",
    "--cache-dir=/signals/mypy",
)  # fmt: skip


def mypy(change: Change, bench: ToolRunner) -> list[Signal]:
    """Run mypy over the whole project on base and head where the project configures it."""

    def run() -> tuple[list[ToolFinding], list[ToolFinding], str]:
        place = configured_checks(change.base, "mypy")
        if not place:
            raise CannotRun("The project does not configure mypy.")
        targets = _targets(change.base, place, bench.roots)
        base = bench.remember(change.base, "mypy", lambda: _check(bench, TreeSide(change.base), targets, "the base"))
        head = _check(bench, head_side(change), targets, "the head")
        return base, head, module("mypy", bench.environment).note

    return compared("mypy", change, run)


def _check(bench: ToolRunner, side: TreeSide, targets: tuple[str, ...], which: str) -> list[ToolFinding]:
    tool = module("mypy", bench.environment)
    own = tool.argv[0] != "/env/bin/python"
    packages = ("--python-executable", "/env/bin/python") if bench.environment else ("--no-site-packages",)
    done = bench.run(
        side, tool, *_OPTIONS, *(packages if own else ()), *targets,
        what=f"mypy on {which}", codes=(0, 1), env={"MYPYPATH": bench.import_path()} if bench.roots != (".",) else None,
    )  # fmt: skip
    found = [_ERROR.fullmatch(line) for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [
        ToolFinding(each[4] or "", str(PurePosixPath(each[1])), max(1, int(each[2])), each[3]) for each in found if each
    ]


def _targets(base: Tree, place: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """What to check: what the configuration names, else the repository's packages and modules, else everything."""
    file, _, section = place.partition(":")
    stated = settings(base, file).get(section or "mypy", {})
    if isinstance(stated, dict) and any(key in stated for key in ("files", "packages", "modules")):
        return ()
    found: dict[str, None] = {}
    for root in dict.fromkeys((*roots, "src")):
        start = "" if root == "." else f"{root.strip('/')}/"
        for path in base.files:
            first, _, rest = path.removeprefix(start).partition("/")
            if not path.startswith(start) or is_test_support(path):
                continue
            if rest == "__init__.py" or (
                not rest and first.endswith(".py") and first not in ("setup.py", "noxfile.py")
            ):
                found[f"{start}{first}"] = None
    return tuple(found) or (".",)
