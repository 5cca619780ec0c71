"""What the reference solution yields at every assertion, recorded once and kept: what submissions are compared with.

Three runs of the solution (other hash seeds, another temporary folder, another moment) and one of the base. A site that
does not hold outside on the solution is decided inside; a value that changes between runs, or that the base yields too,
counts nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from repoassay.errors import InfraFault
from repoassay.grading.hidden.results import Seen, Told
from repoassay.grading.hidden.run import run_hidden
from repoassay.grading.oracle.bits import bits_of
from repoassay.grading.oracle.judge import Judge
from repoassay.grading.oracle.nodes import alike
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.oracle.sites import Mode, Rewritten
from repoassay.grading.oracle.weigh import Question, decide
from repoassay.grading.patch import PatchError, apply_patch, read_patch
from repoassay.model import HiddenTests
from repoassay.model.base import Record
from repoassay.tasks import TaskFolder
from repoassay.tasks.contents import read_regular
from repoassay.workspace import Cache, FileEdit, Sandbox

__all__ = ["Occurrence", "Reference", "reference_of"]

_VERSION = "1"
_MAX_DIFF = 256 * 2**20
_MAX_KEPT = 64 * 2**20
_SEEDS = ("1", "2", "3")
_Run = Callable[[Mapping[str, FileEdit | None], Sequence[str], Mapping[str, str], str], Told]


class Occurrence(Record):
    """One observation of the reference: a site of the test's file, its operands, and what they are good for.

    `stable` when every run yields the same; `telling` when the base commit yields something else, or nothing.
    """

    site: int
    nodes: list[Any]
    stable: bool = True
    telling: bool = True


class Reference(Record):
    """Everything a submission is compared with.

    Attributes:
        files: Rewritten test files by name.
        inner: The id under which each test runs when its file is rewritten.
        expected: Observations of each test, in order.
        bits: What a forger would have to guess of each test.
        total: The same of the task: a value that several assertions expect is guessed once.
        open: Tests that hold nothing outside, and why.
    """

    version: str = _VERSION
    files: dict[str, Rewritten]
    inner: dict[str, str]
    expected: dict[str, tuple[Occurrence, ...]]
    bits: dict[str, float] = Field(default_factory=dict)
    total: float = 0.0
    open: dict[str, str] = Field(default_factory=dict)


def reference_of(
    folder: TaskFolder, base: Path, environment: Path, sandbox: Sandbox, cache: Cache, judge: Judge
) -> Reference:
    """The reference of a task in an environment, recorded when it is not in the cache.

    Raises:
        InfraFault: When the task has no solution, or its solution does not pass here: then nothing can be compared.
    """
    identity = "\0".join((_VERSION, folder.digest, environment.name, _programs()))
    key = hashlib.sha256(identity.encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        recording = _Recording(folder, base, environment, sandbox, judge)
        (part / "reference.json").write_text(recording.made().model_dump_json(), encoding="utf-8")

    entry = cache.entry("references", key, build)
    try:
        return Reference.model_validate_json(read_regular(entry / "reference.json", _MAX_KEPT))
    except (OSError, ValidationError) as error:
        raise InfraFault(
            f"The recorded reference of {folder.task.id} cannot be read.", f"Remove {entry} to record it again."
        ) from error


def _programs() -> str:
    """Changes whenever what makes a reference does."""
    here = Path(__file__).parent
    parts = [path.read_bytes() for path in sorted((*here.glob("*.py"), *here.parent.glob("hidden/runner.py")))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class _Recording:
    """The reference of one task, in the making."""

    def __init__(self, folder: TaskFolder, base: Path, environment: Path, sandbox: Sandbox, judge: Judge) -> None:
        self.base, self.environment, self.sandbox, self.judge = base, environment, sandbox, judge
        tests = folder.task.grading.tests
        assert tests is not None
        self.folder = _patient(folder, tests)
        self.ids = tests.all_ids
        self.names = list(dict.fromkeys(test.partition("::")[0] for test in self.ids))

    def made(self) -> Reference:
        """Record everything.

        Raises:
            InfraFault: See `reference_of`.
        """
        solution = self._solution()
        plain = self._run(solution, self._asked(), {}, _SEEDS[0])
        outcomes = {test.id: test.outcome for test in (*plain.tests, *plain.others)}
        missing = [test for test in self.ids if outcomes.get(test) != "passed"]
        if missing:
            raise InfraFault(
                f"The solution of {self.folder.task.id} does not pass {missing[0]} here, so nobody is judged by it."
            )
        modes: dict[str, dict[int, Mode]] = {name: {} for name in self.names}
        for _ in range(4):
            files = self._rewritten(modes)
            sources = {name: file.source for name, file in files.items()}
            runs = [self._run(solution, self._asked(), sources, seed) for seed in _SEEDS]
            inner = self._inner(plain, runs[0], files)
            if not self._demote(files, inner, runs, modes):
                break
        else:
            raise InfraFault(f"The tests of {self.folder.task.id} do not settle, so no reference can be recorded.")
        before = self._run({}, self._asked(), sources, _SEEDS[0])
        return self._reference(files, inner, runs, before)

    def _solution(self) -> Mapping[str, FileEdit | None]:
        try:
            diff = read_regular(self.folder.solution / "changes.diff", _MAX_DIFF)
            return apply_patch(read_patch(diff), self.base).edits
        except (OSError, PatchError) as error:
            raise InfraFault(f"The task {self.folder.task.id} has no solution that applies: {error}") from error

    def _asked(self) -> list[str]:
        """Whole files, so that tests come in the order of their file, and scripts."""
        scripts = {test.partition("::")[0] for test in self.ids if test.endswith("::__script__")}
        return [f"{name}::__script__" if name in scripts else name for name in self.names]

    def _run(
        self, edits: Mapping[str, FileEdit | None], ids: Sequence[str], changed: Mapping[str, str], seed: str
    ) -> Told:
        ran = run_hidden(
            self.folder, self.base, edits, self.sandbox, self.environment, ids=ids, changed=changed,
            env={"PYTHONHASHSEED": seed, "TMPDIR": f"/tmp{'/other' if seed == _SEEDS[-1] else ''}"},  # noqa: S108 - inside
        )  # fmt: skip
        return ran.told

    def _rewritten(self, modes: Mapping[str, Mapping[int, Mode]]) -> dict[str, Rewritten]:
        files = {}
        for name in self.names:
            try:
                files[name] = rewrite((self.folder.tests / name).read_text(encoding="utf-8"), modes[name])
            except (SyntaxError, ValueError, RecursionError):
                continue  # stays as it is, and is doubted
        return files

    def _inner(self, plain: Told, run: Told, files: Mapping[str, Rewritten]) -> dict[str, str]:
        """Ids of tests when their files are rewritten: the n-th of a file is the n-th."""
        inner: dict[str, str] = {}
        for name in self.names:
            before, after = (_of_file(told, name) for told in (plain, run))
            if name in files and len(before) == len(after):
                inner.update(zip(before, after, strict=True))
        return {test: inner[test] for test in self.ids if test in inner}

    def _demote(
        self, files: Mapping[str, Rewritten], inner: Mapping[str, str], runs: Sequence[Told],
        modes: dict[str, dict[int, Mode]],
    ) -> bool:  # fmt: skip
        """Decide inside what does not hold outside on the solution; whether anything had to change."""
        changed = False
        for name, file in files.items():
            sites = {site.number: site for site in file.sites}
            questions: dict[int, list[Question]] = {}
            broken: set[int] = set()
            for told in runs:
                results = {test.id: test.outcome for test in (*told.tests, *told.others)}
                for test in (test for test in self.ids if test.partition("::")[0] == name):
                    if results.get(inner.get(test, "")) != "passed":
                        broken |= {site.number for site in file.sites if site.test in (_function(test), "")}
                    for number, nodes in told.seen.get(inner.get(test, ""), ()):
                        if number in sites and sites[number].mode is Mode.WITHHELD:
                            questions.setdefault(number, []).append(Question(sites[number], nodes))
            asked = [question for each in questions.values() for question in each]
            answers = decide(asked, file.definitions, self.judge)
            broken |= {question.site.number for question, answer in zip(asked, answers, strict=True)
                       if answer != "holds"}  # fmt: skip
            for number in broken:
                lower = _lower(sites[number].mode)
                if lower is not None:
                    modes[name][number] = lower
                    changed = True
        return changed

    def _reference(
        self, files: Mapping[str, Rewritten], inner: Mapping[str, str], runs: Sequence[Told], before: Told
    ) -> Reference:
        expected: dict[str, tuple[Occurrence, ...]] = {}
        open_: dict[str, str] = {}
        for test in self.ids:
            if test not in inner:
                open_[test] = "its file could not be rewritten"
                continue
            seen = [told.seen.get(inner[test], []) for told in runs]
            expected[test] = tuple(_occurrences(seen, before.seen.get(inner[test], [])))
            kinds = {site.number: site.mode for site in files[test.partition("::")[0]].sites}
            if any([number for number, _ in each] != [number for number, _ in seen[0]] for each in seen[1:]):
                open_[test] = "its assertions do not come in the same order every time"
            elif not any(kinds.get(each.site) is Mode.WITHHELD or each.stable for each in expected[test]):
                open_[test] = "no assertion of it sends a value that is the same every time"
        closed = {test: each for test, each in expected.items() if test not in open_}
        bits, total = bits_of(files, closed, self.folder.instruction, self.base)
        return Reference(files=dict(files), inner=dict(inner), expected=expected, bits=bits, total=total, open=open_)


def _occurrences(seen: Sequence[Sequence[Seen]], before: Sequence[Seen]) -> list[Occurrence]:
    found = []
    for place, (number, nodes) in enumerate(seen[0]):
        others = [each[place][1] if place < len(each) else None for each in seen[1:]]
        stable = all(other is not None and alike(nodes, other) for other in others)
        telling = not any(number == at and alike(nodes, operands) for at, operands in before)
        found.append(Occurrence(site=number, nodes=nodes, stable=stable, telling=telling))
    return found


def _patient(folder: TaskFolder, tests: HiddenTests) -> TaskFolder:
    """The task with a time limit that does not decide anything while whole files run."""
    grading = folder.task.grading.model_copy(
        update={"tests": tests.model_copy(update={"seconds": max(300.0, 3 * tests.seconds)})}
    )
    return replace(folder, task=folder.task.model_copy(update={"grading": grading}))


def _of_file(told: Told, name: str) -> list[str]:
    results = (*told.tests, *told.others)
    return [test.id for test in results if test.id.partition("::")[0] == name and test.id != name]


def _function(test: str) -> str:
    """A test's function as sites name it."""
    return test.partition("::")[2].partition("[")[0]


def _lower(mode: Mode) -> Mode | None:
    return {Mode.WITHHELD: Mode.OBSERVED, Mode.OBSERVED: Mode.LEFT}.get(mode)
