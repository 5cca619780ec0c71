"""Completeness: a repository installed as of its day, imported, its README followed and its tests run, offline."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.agents import in_workspace
from repoassay.curate.candidates import project_of
from repoassay.curate.evidence import evidence_digest, read_toml, write_toml
from repoassay.curate.layout import InstalledRepository, import_names, install_pooled
from repoassay.curate.pool import COMPLETENESS, PooledRepository
from repoassay.curate.readme import ReadmeCommand, find_readme, readme_commands
from repoassay.diagnosis import printed_cause
from repoassay.errors import BadInput
from repoassay.sandbox import Cache, Completed, Sandbox, temporary_folder
from repoassay.text import printable
from repoassay.types import FileEdit, Limits
from repoassay.workspace import PreparedTask

__all__ = ["Completeness", "read_completeness", "verify_pooled"]

_INTRODUCTION = "Written by `repoassay curate verify`. Everything ran in the sandbox with the network off."
_LIMITS = Limits(seconds=600, memory=4 * 2**30, disk=2 * 2**30)
_SHORT = Limits(seconds=60, memory=2 * 2**30)
_PASSED = 0.95
"""The share of the package's own tests that must pass in every run."""
_EXAMPLES = """\
import doctest, sys, traceback
names = {"__name__": "__main__"}

def told(number, source):
    test = doctest.DocTestParser().get_doctest(source, names, f"example {number}", "README", 0)
    test.globs = names
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        test, clear_globs=False).failed

for number, (kind, source) in enumerate(%r):
    code = 0
    try:
        if kind == "doctest":
            code = told(number, source)
        else:
            exec(compile(source, f"README example {number}", "exec"), names)
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        code = 1
        traceback.print_exc()
    print(f"\\n[[example {number} {1 if code else 0}]]", flush=True)
"""
_COUNT = re.compile(r"(\d{1,7}) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
_FAILED = re.compile(r"(?m)^(?:FAILED|ERROR) (\S{1,300})")


@dataclass(frozen=True, slots=True)
class Completeness:
    """What verification came to: whether the repository is complete, the reason, and where the evidence is."""

    name: str
    complete: bool
    why: str
    seconds: float
    path: Path
    kept: bool = False
    pythons: Mapping[str, str] = field(default_factory=dict)
    """Release lines of Python it was tried on: why it is not complete there, empty where it is."""


@dataclass(slots=True)
class _Steps:
    """What was run so far, one entry a command."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, what: str, command: str, completed: Completed, cause: Mapping[str, str] | None, **more: Any) -> None:
        self.seconds += completed.exit.wall
        self.entries.append({
            "step": what, "command": printable(command, 400), "code": completed.exit.code,
            "ended": completed.exit.ended.value, "seconds": round(completed.exit.wall, 2),
            "bytes": len(completed.stdout) + len(completed.stderr), **more, **(cause or {}),
        })  # fmt: skip

    def beside(self, line: str, other: _Steps) -> None:
        """Add what was run on another Python."""
        self.seconds += other.seconds
        self.entries += [{**entry, "python": line} for entry in other.entries]


def read_completeness(pooled: PooledRepository) -> dict[str, Any]:
    """The evidence of verification.

    Raises:
        BadInput: When there is none, or it is not as it was written.
    """
    remedy = f"Run `repoassay curate verify` on {pooled.name} first."
    data = read_toml(pooled.path / COMPLETENESS, "The evidence of completeness", remedy)
    match {"environment": {}, "requirements": "", "tried_on": [], "seconds": 0, **data}:
        case {"environment": dict(), "requirements": str(), "tried_on": list(tried), "seconds": int() | float()}:
            whole = data.get("verdict") != "complete" or {"environment", "requirements"} <= data.keys()
            if whole and all(isinstance(each, dict) and {"python", "why"} <= each.keys() for each in tried):
                return data
    raise BadInput(f"{pooled.path / COMPLETENESS} is not as it was written.", "Remove it, and verify again.")


def verify_pooled(
    pooled: PooledRepository, cache: Cache, sandbox: Sandbox, *, times: int = 2, again: bool = False,
    minors: int = 1, step: Callable[[str], None] = lambda _: None,
) -> Completeness:  # fmt: skip
    """Run what a user of the repository would run, and write `completeness.toml`.

    Args:
        pooled: Which repository.
        cache: Where checkouts and environments are kept.
        sandbox: Where everything runs, with no network.
        times: Runs of README and tests.
        again: Run again though nothing has changed since the evidence was written.
        minors: On how many release lines of Python, the likeliest first; that one decides, the others are told.
        step: Told what is being done.
    """
    identity = evidence_digest(pooled.source.get("tree"), times, minors, "4")
    place = pooled.path / COMPLETENESS
    if place.is_file() and not again:
        data = read_completeness(pooled)
        if data.get("looked_at") == identity:
            complete, why = data.get("verdict") == "complete", str(data.get("why", ""))
            pythons = {str(each["python"]): str(each["why"]) for each in data.get("tried_on", [])}
            return Completeness(pooled.name, complete, why, float(data.get("seconds", 0)), place, True, pythons)
    with temporary_folder("verify") as scratch:
        installed, given_up = install_pooled(pooled, Path(scratch), cache, sandbox, step)
        found: dict[str, Any] = {}
        data = {"repository": pooled.name, "looked_at": identity, "times": times, "given_up": list(given_up)}
        if installed is None:
            why, steps = _not_installed(pooled, given_up), _Steps()
        else:
            data |= _environment(installed)
            why, steps, found = _runs(pooled, installed, sandbox, times, step)
        pythons = {installed.line: why} if installed else {}
        while installed is not None and len(pythons) < minors:
            other, _ = install_pooled(pooled, Path(scratch, "beside"), cache, sandbox, step, tuple(pythons))
            if other is None:
                found["tried_on_no_other"] = "no other Python of this machine has all its packages as of its day"
                break
            pythons[other.line], more, _ = _runs(pooled, other, sandbox, times, step)
            steps.beside(other.line, more)
    found["tried_on"] = [{"python": line, "why": reason} for line, reason in pythons.items()]
    data |= {"verdict": "incomplete" if why else "complete", "why": why, "seconds": round(steps.seconds, 2), **found}
    write_toml(place, {**data, "step": steps.entries}, _INTRODUCTION)
    return Completeness(pooled.name, not why, why, steps.seconds, place, pythons=pythons)


def _environment(installed: InstalledRepository) -> dict[str, Any]:
    wanted = installed.environment
    return {
        "said": list(installed.derivation), "requirements": installed.requirements,
        "environment": {
            "python": wanted.python, "exclude_newer": wanted.exclude_newer, "build": list(wanted.build),
            "variables": wanted.variables, "path": list(wanted.path),
        },
    }  # fmt: skip


def _not_installed(pooled: PooledRepository, given_up: Sequence[str]) -> str:
    text = "\n".join(given_up)
    cause = printed_cause(text, pooled.name, installing=True)
    kind = f"{cause.code} {cause.kind}: {cause.line}" if cause else (given_up[-1][-300:] if given_up else "no recipe")
    return f"it cannot be installed as of its day ({kind})"


def _runs(
    pooled: PooledRepository, installed: InstalledRepository, sandbox: Sandbox, times: int, step: Callable[[str], None]
) -> tuple[str, _Steps, dict[str, Any]]:
    """Why it is incomplete, empty where it is complete; each command; and counts."""
    project = project_of(pooled.tree)
    names = import_names(project)
    runner = _Runner(pooled.name, names, installed.layout, sandbox, _Steps())
    step("importing it")
    imported = [name for name in names if runner.imports(name)]
    if not imported:
        return f"none of its modules can be imported: {runner.last()}", runner.steps, {"modules": list(names)}
    readme = find_readme(project.files)
    commands = readme_commands(project.text(readme)) if readme else ()
    ran: list[tuple[bool, ...]] = []
    tested: list[_TestCounts] = []
    for number in range(1, times + 1):
        step(f"run {number} of {times}: README and tests")
        ran.append(runner.readme(commands, number))
        tested.append(runner.tests(number))
    found: dict[str, Any] = {
        "modules": imported, "readme_needs": runner.needs, "readme_commands": len(commands),
        "readme_worked": [sum(each) for each in ran],
        "tests_passed": [each.passed for each in tested], "tests_failed": [each.failed for each in tested],
        "tests_flaky": sorted(set().union(*(each.names for each in tested)) - _always(tested))[:50],
    }  # fmt: skip
    return _verdict(runner, commands, ran, tested), runner.steps, found


def _always(tested: Sequence[_TestCounts]) -> set[str]:
    return set.intersection(*(set(each.names) for each in tested)) if tested else set()


def _verdict(
    runner: _Runner, commands: Sequence[ReadmeCommand], ran: Sequence[tuple[bool, ...]], tested: Sequence[_TestCounts]
) -> str:
    if any(each.whole for each in tested):
        worst = min(each.share for each in tested)
        if worst < _PASSED:
            low = min(tested, key=lambda each: each.share)
            return f"of its {low.whole} tests {low.failed} fail here ({runner.last('tests')})"
        return ""  # what examples want besides, as an extra or the network, is told and not asked for
    if runner.needs:
        return f"no tests of its own speak for it, and its README {runner.needs[0]}"
    steady = [all(each) for each in zip(*ran, strict=True)] if commands else []
    if not any(steady):
        return "it has no tests that run here, and nothing its README tells to run works"
    return ""


@dataclass(frozen=True, slots=True)
class _TestCounts:
    """How many of the package's own tests passed and failed in one run, and the names of those that failed."""

    passed: int
    failed: int
    names: frozenset[str]

    @property
    def whole(self) -> int:
        return self.passed + self.failed

    @property
    def share(self) -> float:
        return self.passed / self.whole if self.whole else 0.0


@dataclass(slots=True)
class _Runner:
    """Runs commands in the repository and keeps what became of them."""

    name: str
    packages: tuple[str, ...]
    layout: PreparedTask
    sandbox: Sandbox
    steps: _Steps
    needs: list[str] = field(default_factory=list)

    def imports(self, module: str) -> bool:
        """Whether a module can be imported."""
        done = self._run(("/env/bin/python", "-c", f"import {module}"), _SHORT)
        self.steps.add("import", f"import {module}", done, self._cause(done))
        return done.exit.code == 0

    def readme(self, commands: Sequence[ReadmeCommand], number: int) -> tuple[bool, ...]:
        """Run what a README tells; Python examples share their names, as readers take them to."""
        examples = [(each.kind, each.text) for each in commands if each.kind != "shell"]
        ended = iter(self._examples(examples, number)) if examples else iter(())
        return tuple(next(ended) if each.kind != "shell" else self._shell(each, number) for each in commands)

    def _shell(self, command: ReadmeCommand, number: int) -> bool:
        done = self._run(("/bin/sh", "-c", command.text), _SHORT)
        cause = self._cause(done)
        self.steps.add("readme", command.text, done, cause, run=number, line=command.line)
        self._note_needs(cause)
        return done.exit.code == 0

    def _examples(self, sources: list[tuple[str, str]], number: int) -> list[bool]:
        program = FileEdit((_EXAMPLES % (sources,)).encode("utf-8", "backslashreplace"))
        done = self._run(("/env/bin/python", "/workspace/examples.py"), _SHORT, {"/workspace/examples.py": program})
        found = dict(re.findall(r"\[\[example (\d{1,3}) ([01])\]\]", done.stdout.decode(errors="replace")))
        worked = [found.get(str(place)) == "0" for place in range(len(sources))]
        cause = None if all(worked) else self._cause(done)
        self.steps.add("readme", f"{len(sources)} Python examples", done, cause, run=number, worked=sum(worked))
        self._note_needs(cause)
        return worked

    def tests(self, number: int) -> _TestCounts:
        """Run the package's own tests once."""
        argv = (
            "/env/bin/python", "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--tb=short",
            "--continue-on-collection-errors", "--no-header",
        )  # fmt: skip
        done = self._run(argv, _LIMITS)
        text = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
        last = next((line for line in reversed(text.splitlines()) if _COUNT.search(line)), "")
        counts = {kind.rstrip("s"): int(count) for count, kind in _COUNT.findall(last)}
        failed = counts.get("failed", 0) + counts.get("error", 0)
        names = frozenset(_FAILED.findall(text)[:1000])
        cause = self._cause(done) if failed or done.exit.code not in (0, 5) else None
        self.steps.add(
            "tests", " ".join(argv[1:]), done, cause, run=number, passed=counts.get("passed", 0), failed=failed
        )
        return _TestCounts(counts.get("passed", 0), failed, names)

    def last(self, what: str = "") -> str:
        """What the last failing command showed."""
        for entry in reversed(self.steps.entries):
            if entry["code"] and (not what or entry["step"] == what):
                return f"{entry.get('class', 'unclassified')} {entry.get('kind', '')}: {entry.get('shown', '')}".strip(
                    " :"
                )
        return "nothing is known of why"

    def _note_needs(self, cause: Mapping[str, str] | None) -> None:
        """Keep what an example wanted and the environment has not: a package, a library, the network."""
        if cause and cause.get("class") == "E1":
            need = f"needs what is not there ({cause['kind']}: {cause['shown']})"
            if need not in self.needs:
                self.needs.append(need)

    def _cause(self, done: Completed) -> dict[str, str] | None:
        if done.exit.code == 0 and b"Traceback" not in done.stderr and b"Traceback" not in done.stdout:
            return None
        text = (done.stdout[-100_000:] + b"\n" + done.stderr[-100_000:]).decode(errors="replace")
        cause = printed_cause(text, self.name, self.packages)
        if cause is None:
            tail = next((line for line in reversed(text.splitlines()) if line.strip()), "")
            return (
                {"class": "unclassified", "kind": "", "shown": printable(tail.strip(), 200)} if done.exit.code else None
            )
        return {"class": cause.code, "kind": cause.kind, "shown": cause.line}

    def _run(
        self, argv: tuple[str, ...], limits: Limits, edits: Mapping[str, FileEdit | None] | None = None
    ) -> Completed:
        command = in_workspace(self.layout, limits, argv, edits=edits)
        return self.sandbox.run(dataclasses.replace(command, cwd="/workspace/repo"))
