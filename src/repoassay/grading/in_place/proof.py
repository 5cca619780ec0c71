"""Proof before blame: what a task's tests do here on its base and with its solution, before anybody is judged.

Rows of others name their tests as some program once printed them, and were made on another machine. So the solution and
the base run first, some times each. Tests that the solution does not pass here are nobody's failure: those that should
pass before and after are excluded by name, and where too many are, or one that the solution should repair does not
pass, or the base does not fail, the task is unproven and nobody is judged by it. Some solutions pass with some hash
seeds alone, since sets have an order by them: a seed with which the solution passes is the task's from then on.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field, ValidationError

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.in_place.run import programs_inside, run_in_place
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import Ended, FileEdit, HiddenTests, Record, TestResult

__all__ = ["TaskProof", "proof_of"]

_VERSION = "2"
_TIMES = 2
"""Runs on each side."""
_SEEDS = ("1", "2", "3")
"""Hash seeds that are tried in turn; none is 0, which would turn the randomization of hashes off."""
_MOST_LOST = 0.2
"""Share of the tests that should pass before and after that may be excluded."""
_MAX_DIFF, _MAX_PROOF = 256 * 2**20, 64 * 2**20


class TaskProof(Record):
    """What was seen of a task's tests here.

    Attributes:
        fail_to_pass: Names of the task -> tests that ran under them; the solution passes all.
        pass_to_pass: The same of tests that pass on both sides.
        excluded: Names that count nothing here, and why.
        base_passes: Names of fail_to_pass that the base passes here as well.
        expected: Tests that fail with the solution as they are expected to, which counts as a pass.
        seconds: Wall time of the longest run.
        runs: Runs on each side.
        seed: Python's hash seed in these runs and in those of submissions; empty for one that is drawn each time.
    """

    version: str = _VERSION
    fail_to_pass: dict[str, tuple[str, ...]]
    pass_to_pass: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    excluded: dict[str, str] = Field(default_factory=dict)
    base_passes: tuple[str, ...] = ()
    expected: frozenset[str] = frozenset()
    seconds: float = 0.0
    runs: int = _TIMES
    seed: str = ""

    def proven(self, folder: TaskFolder) -> TaskFolder:
        """Return the task with its tests named as they are reported, without those excluded, and with its seed."""
        tests = folder.task.hidden_tests
        decisive = _distinct(self.fail_to_pass.values())
        guards = tuple(test for test in _distinct(self.pass_to_pass.values()) if test not in set(decisive))
        named = tests.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": guards})
        grading = folder.task.grading.model_copy(update={"tests": named})
        return _seeded(replace(folder, task=folder.task.model_copy(update={"grading": grading})), self.seed)

    def listed(self, results: Sequence[TestResult]) -> list[TestResult]:
        """Return results under the names the task has; of several tests of a name, the worst."""
        found = {result.id: result for result in results}
        listing = []
        for name, tests in (*self.fail_to_pass.items(), *self.pass_to_pass.items()):
            of_name = [found[test] for test in tests if test in found]
            if of_name:
                worst = max(of_name, key=lambda result: _ORDER.index(result.outcome))
                listing.append(worst.model_copy(update={"id": name}))
        return listing


_ORDER = ("passed", "skipped", "missing", "error", "failed")


def proof_of(
    folder: TaskFolder, base: Path, environment: Path, sandbox: Sandbox, cache: Cache,
    cancel: threading.Event | None = None,
) -> TaskProof:  # fmt: skip
    """Return the proof of a task in an environment, made when it is not in the cache.

    Raises:
        InfraFault: When the task is unproven; the sentence says what does not hold here. Or `cancel` was set.
    """
    identity = "\0".join((_VERSION, folder.digest, environment.name, _program()))
    key = hashlib.sha256(identity.encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        proof = _prove(folder, base, environment, sandbox, cancel)
        (part / "proof.json").write_text(proof.model_dump_json(), encoding="utf-8")

    entry = cache.entry("proofs", key, build)
    try:
        return TaskProof.model_validate_json(read_regular(entry / "proof.json", _MAX_PROOF))
    except (OSError, ValidationError) as error:
        raise InfraFault(
            f"The proof of {folder.task.id} cannot be read.", f"Remove {entry} to make it again."
        ) from error


def _program() -> str:
    """What runs inside, and by which rules files of a set-up are told from a submission's: a digest of both."""
    contents = [f"{place}\0{edit.content!r}" for place, edit in programs_inside().items() if edit]
    rules = Path(__file__).with_name("support.py").read_text(encoding="utf-8")
    return hashlib.sha256("\0".join([*contents, rules]).encode()).hexdigest()


def _prove(
    folder: TaskFolder, base: Path, environment: Path, sandbox: Sandbox, cancel: threading.Event | None
) -> TaskProof:
    tests = folder.task.hidden_tests
    solution = _solution(folder, base)
    faults = []
    for seed in _SEEDS:
        folder = _seeded(folder, seed)
        after = [_run(folder, base, solution, environment, sandbox, "solution", cancel)]
        names = {name: _matches(name, after[0]) for name in tests.all_ids}
        if not (fault := _fault(tests, names, after)):
            break
        faults.append(fault)
    else:
        raise InfraFault(f"The task {folder.task.id} is unproven: {faults[0]}")
    after += [_run(folder, base, solution, environment, sandbox, "solution", cancel) for _ in range(1, _TIMES)]
    if fault := _fault(tests, names, after):
        raise InfraFault(f"The task {folder.task.id} is unproven: {fault}")
    if faults:  # by the seed, or by chance?
        again = _run(_seeded(folder, _SEEDS[0]), base, solution, environment, sandbox, "solution", cancel)
        if not _fault(tests, names, [again]):
            raise InfraFault(f"The task {folder.task.id} is unproven, by chance: {faults[0]}")
    excluded = {name: why for name in tests.pass_to_pass if (why := _failure(name, names[name], after))}
    before = [_run(folder, base, {}, environment, sandbox, "", cancel) for _ in range(_TIMES)]
    passing = tuple(
        name for name in tests.fail_to_pass if not all(_failure(name, names[name], [run]) for run in before)
    )
    if len(passing) == len(tests.fail_to_pass):
        raise InfraFault(
            f"The task {folder.task.id} is unproven: its base passes every test of fail_to_pass here already, such as"
            f" {passing[0]}."
        )
    return TaskProof(
        fail_to_pass={name: names[name] for name in tests.fail_to_pass},
        pass_to_pass={name: names[name] for name in tests.pass_to_pass if name not in excluded},
        excluded={name: why[:500] for name, why in excluded.items()},
        base_passes=passing,
        expected=frozenset[str]().union(*(run.report.expected for run in after)),
        seconds=max(run.exit.wall for run in (*after, *before)),
        seed=seed,
    )


def _fault(tests: HiddenTests, names: Mapping[str, Collection[str]], runs: Sequence[HiddenTestRun]) -> str:
    """Why runs with the solution prove nothing; empty when they do."""
    for name in tests.fail_to_pass:
        if why := _failure(name, names[name], runs):
            return f"its solution does not pass {name} here. {why}"
    lost = [(name, why) for name in tests.pass_to_pass if (why := _failure(name, names[name], runs))]
    if len(lost) <= _MOST_LOST * len(tests.pass_to_pass):
        return ""
    return (
        f"its solution does not pass {len(lost)} of {len(tests.pass_to_pass)} tests here that should pass before and"
        f" after, such as {lost[0][0]}. {lost[0][1]}"
    )


def _seeded(folder: TaskFolder, seed: str) -> TaskFolder:
    """The task with a hash seed among its variables, in place of one it had."""
    wanted = folder.task.environment
    variables = {**wanted.variables, **({"PYTHONHASHSEED": seed} if seed else {})}
    environment = wanted.model_copy(update={"variables": variables})
    return replace(folder, task=folder.task.model_copy(update={"environment": environment}))


def _solution(folder: TaskFolder, base: Path) -> Mapping[str, FileEdit | None]:
    try:
        diff = read_regular(folder.solution / "changes.diff", _MAX_DIFF)
        return apply_patch(read_patch(diff), base).edits
    except (OSError, PatchError) as error:
        raise InfraFault(f"The task {folder.task.id} has no solution that applies: {error}") from error


def _run(
    folder: TaskFolder, base: Path, edits: Mapping[str, FileEdit | None], environment: Path, sandbox: Sandbox,
    what: str, cancel: threading.Event | None,
) -> HiddenTestRun:  # fmt: skip
    ran = run_in_place(folder, base, edits, sandbox, environment, cancel=cancel)
    if cancel is not None and cancel.is_set():
        raise InfraFault(f"The proof of {folder.task.id} was given up.")
    if what and ran.exit.ended is Ended.TIMED_OUT:
        raise InfraFault(f"The task {folder.task.id} is unproven: with its solution the tests run out of time here.")
    if what and ran.report.signs:
        raise InfraFault(f"The task {folder.task.id} is unproven: with its solution, {ran.report.signs[0]}.")
    return ran


def _matches(name: str, ran: HiddenTestRun) -> tuple[str, ...]:
    """Tests that a task's name stands for: by the name they have, by another name, or by how some parser cut it."""
    results = [result.id for result in ran.report.others]
    if name in results:
        return (name,)
    for same in (
        lambda test: name in ran.report.names.get(test, ()),
        lambda test: test.split()[0] == name,
        lambda test: _short_option(test) == name,
    ):
        found = tuple(test for test in results if same(test))
        if found:
            return found
    return ()


def _short_option(test: str) -> str:
    """A parametrized test's name with the last part of a path alone, as SWE-bench has it for some repositories."""
    main, bracket, option = test.partition("[")
    option = next(iter(option.rstrip("]").split()), "")
    if bracket and option.startswith("/") and not option.startswith("//") and "*" not in option:
        return f"{main}[/{option.split('/')[-1]}]"
    return test


def _failure(name: str, tests: Collection[str], runs: Iterable[HiddenTestRun]) -> str:
    """Why a name does not pass in every run; empty when it does."""
    for ran in runs:
        results = {result.id: result for result in ran.report.others}
        if not tests:
            message = ran.report.broken[0].strip()[-300:] if ran.report.broken else ran.printed.strip()[-300:]
            return f"No such test was reported. {message}".strip()
        for test in tests:
            result = results.get(test)
            if result is None:
                return f"{test} was not reported in every run."
            if result.outcome != "passed":
                return f"It came to {result.outcome}: {result.message.strip()[-300:]}".strip()
    return ""


def _distinct(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for group in groups for test in group))
