"""The submission environment on the whole demonstration set."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from demo_set import demo_tasks
from repoassay.attacks.patch_builder import diff
from repoassay.diffs import apply_patch, read_patch
from repoassay.engine.answer import word
from repoassay.engine.feedback import FeedbackLedger
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.records.verdicts import VerdictCache
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome

USELESS = "--- /dev/null\n+++ b/unrelated_note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
ENDLESS = """\
import os, signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
os.fork()
while True: time.sleep(0.01)
"""
LOUD = """\
import os, time
for number in (1, 2, 3, 15):
    try: os.kill(1, number)
    except PermissionError: pass
    time.sleep(0.02)
"""


def bench(timeout: float | None = None) -> GradingContext:
    cache = Cache()
    return GradingContext(None, cache, open_sandbox("namespaces", cache), timeout=timeout)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskFolder]:
    return demo_tasks(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def engine(tasks: dict[str, TaskFolder]) -> Iterator[SubmissionEngine]:
    with SubmissionEngine(tasks, bench(), workers=2, ledger=FeedbackLedger("full")) as found:
        yield found


def solution(folder: TaskFolder) -> str:
    return (folder.solution / "changes.diff").read_text()


def endless(engine: SubmissionEngine, folder: TaskFolder) -> bytes:
    """A patch that never ends, of a file that the solution changes."""
    base = engine._layout(folder.task.id, folder).base
    edits = apply_patch(read_patch(solution(folder).encode()), base).edits
    module = next(path for path in edits if path.endswith(".py"))
    old = (base / module).read_text()
    return diff(module, old, old + ENDLESS)


@pytest.mark.exhaustive
def test_solutions_pass_and_nothing_else_does_whatever_the_order(
    tasks: dict[str, TaskFolder], engine: SubmissionEngine
) -> None:
    """Every solution, empty patch and no-op of the set; then some of it with other workers, order and no parents."""
    given = [(name, patch) for name, folder in tasks.items() for patch in (solution(folder), "", USELESS)]
    expected = ["PASS", "PATCH FAILED", "FAIL"] * len(tasks)
    answers = list(engine.grade_many(given))
    assert [(answer.task, word(answer.verdict)) for answer in answers] == [
        (name, said) for (name, _), said in zip(given, expected, strict=True)
    ]

    def said(number: int) -> dict[str, str]:
        return {test.id: test.outcome for test in answers[number].verdict.tests}

    some = list(range(0, len(given), 7))
    random.Random(7).shuffle(some)
    with SubmissionEngine(tasks, bench(), workers=3, warm=False, ledger=FeedbackLedger("full")) as other:
        for number, answer in zip(some, other.grade_many(given[each] for each in some), strict=True):
            assert word(answer.verdict) == expected[number]
            assert {test.id: test.outcome for test in answer.verdict.tests} == said(number)


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("warm", [True, False])
def test_an_endless_loop_is_timed_out_within_its_limit_and_nothing_stays(
    tasks: dict[str, TaskFolder], warm: bool
) -> None:
    name = "parse-result-get"
    known = _descendants(os.getpid())
    with SubmissionEngine(tasks, bench(timeout=2.0), workers=1, warm=warm) as engine:
        patch = endless(engine, tasks[name])
        engine.grade(name, USELESS)  # so that what is made once has been made
        answer = engine.grade(name, patch)
        assert word(answer.verdict) == "TIMED OUT", answer.verdict
        assert word(engine.grade(name, solution(tasks[name])).verdict) == "PASS"
    assert not [child for child in _descendants(os.getpid()) if child not in known]


@pytest.mark.exhaustive
@pytest.mark.parametrize("warm", [True, False])
def test_process_1_is_deaf_to_a_submission(tasks: dict[str, TaskFolder], warm: bool) -> None:
    """Else what only failed would be a fault of ours, which is never counted against anybody."""
    name = "parse-result-get"
    with SubmissionEngine(tasks, bench(), workers=1, warm=warm) as engine:
        base = engine._layout(name, tasks[name]).base
        edits = apply_patch(read_patch(solution(tasks[name]).encode()), base).edits
        module = next(path for path in edits if path.endswith(".py"))
        old = (base / module).read_text()
        answer = engine.grade(name, diff(module, old, old + LOUD))
        assert word(answer.verdict) == "FAIL", answer.verdict


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        try:
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                children = {int(child) for child in (task / "children").read_text().split()}
                found |= children
                waiting += children
        except OSError:
            continue  # it ended while we looked
    return found


@pytest.mark.long
def test_what_is_known_is_not_graded_again_unless_it_was_chance(tmp_path: Path, tasks: dict[str, TaskFolder]) -> None:
    name = "toolz-keyrename"
    known = VerdictCache(tmp_path / "verdicts.sqlite")
    with SubmissionEngine(tasks, bench(), known=known) as engine:
        first = engine.grade(name, solution(tasks[name]))
        again = engine.grade(name, solution(tasks[name]))
        assert (first.cached, again.cached) == (False, True)
        assert again.verdict.graded_at == first.verdict.graded_at
        assert not engine.grade(name, solution(tasks[name]) + "\n").cached
    with SubmissionEngine(tasks, bench(), known=known, lenient=True) as engine:
        assert not engine.grade(name, solution(tasks[name])).cached
    with SubmissionEngine(tasks, bench(), known=known, repeat=3) as engine:
        repeated = engine.grade(name, solution(tasks[name]))
        assert len(repeated.verdicts) == 3 and repeated.stable
    with SubmissionEngine(tasks, bench(timeout=0.5), known=VerdictCache(tmp_path / "other.sqlite")) as engine:
        late = [engine.grade(name, endless(engine, tasks[name])) for _ in range(2)]
        assert [answer.verdict.outcome for answer in late] == [Outcome.TIMED_OUT] * 2
        assert not any(answer.cached for answer in late)


@pytest.mark.long
def test_an_environment_that_cannot_be_built_is_our_fault_and_not_kept(
    tmp_path: Path, tasks: dict[str, TaskFolder]
) -> None:
    name = "toolz-keyrename"
    broken = tasks[name].task.environment.model_copy(update={"resolve": "environment/none.in"})
    folder = tasks[name].path
    (folder / "environment/none.in").write_text("no-such-package-anywhere-at-all==1\n")
    odd = replace(tasks[name], task=tasks[name].task.model_copy(update={"environment": broken}))
    known = VerdictCache(tmp_path / "verdicts.sqlite")
    try:
        with SubmissionEngine({name: odd}, bench(), known=known) as engine:
            answers = [engine.grade(name, USELESS) for _ in range(2)]
    finally:
        (folder / "environment/none.in").unlink()
    assert [word(answer.verdict) for answer in answers] == ["ERROR", "ERROR"]
    assert not any(answer.cached for answer in answers)
    assert all(answer.verdict.result is None and answer.verdict.process is None for answer in answers)
