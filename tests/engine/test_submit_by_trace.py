"""Verdicts with and without traces of the base, on the whole demonstration set and the bundled edit tasks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from demo_set import demo_tasks
from repoassay.attacks.patch_builder import diff
from repoassay.engine.feedback import FeedbackLedger
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder, find_suite
from repoassay.types import Outcome, TaskKind, Verdict

MOST = 20_000


def patches(base: Path, chance: random.Random, files: int) -> Iterator[bytes]:
    """Useless changes of a repository: new files, changed text, comments in modules, a file less, another mode."""
    for name in (
        "unrelated_note.txt",
        "scratch/try_it.py",
        "conftest.py",
        "setup.cfg",
        "sitecustomize.py",
        "a/b/c.txt",
    ):
        yield f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+# nothing of use\n".encode()
    every = sorted(path for path in base.rglob("*") if path.is_file() and not path.is_symlink())
    small = [path for path in every if ".git" not in path.parts and 0 < path.stat().st_size < MOST]
    for path in chance.sample(small, min(files, len(small))):
        name = path.relative_to(base).as_posix()
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if text.endswith("\n") and "\r" not in text and text.isascii():
            yield diff(name, text, f"{text}# nothing of use\n")
        mode = "100755" if path.stat().st_mode & 0o100 else "100644"
        other = "100644" if mode == "100755" else "100755"
        yield f"diff --git a/{name} b/{name}\nold mode {mode}\nnew mode {other}\n".encode()


def said(verdict: Verdict) -> tuple[Outcome, bool | None, list[tuple[str, str]]]:
    return verdict.outcome, verdict.result, [(test.id, test.outcome) for test in verdict.tests]


def compare(tasks: Mapping[str, TaskFolder], bench: GradingContext, files: int = 10) -> tuple[int, int]:
    """How many verdicts there were, and how many of them were by a trace; each is that of a run."""
    counts = {"run": 0, "base_trace": 0}
    ledger = FeedbackLedger("full")
    with (
        SubmissionEngine(tasks, bench, 2, ledger=ledger) as engine,
        SubmissionEngine(tasks, bench, 2, ledger=ledger, run_always=True) as always,
    ):
        for name in tasks:
            given = [(name, patch) for patch in patches(engine.checkout(name), random.Random(name), files)]
            pairs = zip(engine.grade_many(given), always.grade_many(given), given, strict=True)
            for answer, run, (_, patch) in pairs:
                assert run.verdict.basis == "run"
                assert said(answer.verdict) == said(run.verdict), (name, patch)
                counts[answer.verdict.basis] += 1
    return sum(counts.values()), counts["base_trace"]


@pytest.mark.long
def test_a_sample_is_judged_as_by_runs(tmp_path: Path) -> None:
    tasks, cache = demo_tasks(tmp_path), Cache()
    some = {name: tasks[name] for name in ("boltons-table-csv", "tomlkit-lookup")}
    bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
    total, traced = compare(some, bench, files=4)
    assert traced > total / 2


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_everything_is_judged_as_by_runs(tmp_path: Path) -> None:
    cache = Cache()
    total, traced = compare(demo_tasks(tmp_path), GradingContext(None, cache, open_sandbox("namespaces", cache)))
    assert traced > total / 2
    starter = find_suite("starter")
    edits = {task.task.id: task for task in starter.tasks if task.task.kind is TaskKind.EDIT}
    bench = GradingContext(starter.repositories, cache, open_sandbox("namespaces", cache))
    total, traced = compare(edits, bench)
    assert traced
