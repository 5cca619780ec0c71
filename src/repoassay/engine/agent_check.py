"""Trying an agent out: two small tasks, a scripted model, and the agent's own account held against the model proxy's.

The tasks are those for which a bundled suite has a dialogue that solves them: `dialogues/TASK.toml` for agents that
call tools, `dialogues/TASK.plain.toml` for agents whose edits and commands stand in their text.

Needs no money and, once the agent is installed and the tasks' environments are built, no network.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from repoassay.agents import AccessPoint, ModelledAgent, PlacedAgent
from repoassay.engine.change import crossing
from repoassay.engine.submitted_files import describe
from repoassay.errors import Unavailable
from repoassay.grading import judge
from repoassay.grading.pull_request import DIFF
from repoassay.model_proxy import VENDORS, Budget, ScriptedUpstream, open_gateway
from repoassay.sandbox import Cache, Completed, Sandbox, SandboxNetwork, open_door
from repoassay.tasks import TaskFolder, bundled_suite, bundled_suites, find_suite
from repoassay.types import Exit, Limits, Spending, Submission, TaskKind, Trajectory, Usage, Verdict
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["Checked", "check_agent"]

_PORT = 8080


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one task of the check.

    Attributes:
        left: Names of the files it left, or of the files its diff changes.
        totals: What the model proxy counted. `sent`: the sum of what the scripted model reported.
        seconds: From the start of the sandbox to its end.
        folder: Prompt, transcript, trajectory, submission and the model proxy's journal.
    """

    task: str
    verdict: Verdict
    left: tuple[str, ...]
    exit: Exit
    trajectory: Trajectory
    totals: Spending
    sent: Usage
    seconds: float
    folder: Path

    @property
    def figures(self) -> str:
        """How the agent's own tokens compare with the model proxy's."""
        own, counted = self.trajectory.own, self.totals.usage
        because = f" ({own.note})" if own.note else ""
        if own.usage is None:
            return f"it tells no tokens{because}"
        names = ("input", "output", "cached", "reasoning", "cache_write")
        wrong = [
            f"{name} {getattr(own.usage, name):,} instead of {getattr(counted, name):,}"
            for name in names
            if getattr(own.usage, name) != getattr(counted, name)
        ]
        return "equal" if not wrong else f"differ: {', '.join(wrong)}{because}"

    @property
    def sound(self) -> bool:
        """Whether it passed, was metered exactly, and its records could be read."""
        return self.verdict.outcome.value == "passed" and self.totals.usage == self.sent and not self.totals.unknown


def check_agent(
    agent: ModelledAgent, cache: Cache, sandbox: Sandbox, into: Path, *, seconds: float = 300, only: str = "",
    dialect: str = "",
) -> Iterator[Checked]:  # fmt: skip
    """Run an agent that is prepared on every check task, its network cut but for the port forward to the model proxy.

    Args:
        agent: The agent.
        cache: Where checkouts and environments are.
        sandbox: What it runs in.
        into: Folder for what it leaves.
        seconds: The most a task may take.
        only: `deliverable` or `edit` for tasks of that kind alone.
        dialect: The one dialect that the scripted model speaks; by default all of them.

    Raises:
        Unavailable: When no bundled suite has a dialogue.
    """
    for folder, repositories, dialogue in _check_tasks(tools=agent.spec.tools):
        if only in ("", folder.task.kind.value):
            layout = lay_out(folder, repositories, cache, sandbox)
            place = into / folder.task.kind.value
            place.mkdir(parents=True, exist_ok=True)
            upstream = ScriptedUpstream(dialogue, dialects=(dialect,) if dialect else tuple(VENDORS))
            yield _check(agent, upstream, layout, sandbox, place, seconds)


def _check_tasks(*, tools: bool) -> list[tuple[TaskFolder, Path | None, Path]]:
    """Tasks by kind, each with its suite's repositories and the dialogue that solves it."""
    plain = ".plain.toml"
    found: list[tuple[TaskFolder, Path | None, Path]] = []
    for place in filter(None, map(bundled_suite, bundled_suites())):
        files = [file for file in place.glob("dialogues/*.toml") if file.name.endswith(plain) is not tools]
        dialogues = {file.name.removesuffix(".toml").removesuffix(".plain"): file for file in files}
        if dialogues:
            suite = find_suite(place, only=sorted(dialogues))
            found += [(folder, suite.repositories, dialogues[folder.task.id]) for folder in suite.tasks]
    if not found:
        raise Unavailable("No bundled suite has a dialogue to try agents with.", "Install repoassay whole.")
    return sorted(found, key=lambda each: (each[0].task.kind, each[0].task.id))


def _check(
    agent: ModelledAgent, scripted: ScriptedUpstream, layout: PreparedTask, sandbox: Sandbox, into: Path, seconds: float
) -> Checked:
    folder = layout.folder
    over = threading.Event()
    with ExitStack() as stack:
        gateway = stack.enter_context(open_gateway([scripted], listen=False))
        entry = gateway.admit(
            "check", model="scripted/check", journal=into / "usage.jsonl", budget=Budget(calls=50),
            on_exhausted=lambda why: over.set(),
        )  # fmt: skip
        door = open_door(sandbox, SandboxNetwork.NONE, _PORT, partial(gateway.serve, entry=entry))
        access = AccessPoint(
            model="scripted-model",
            key=entry.key,
            urls=entry.urls(f"http://127.0.0.1:{door.port}"),
            doors=(door,),
            calls=50,
        )
        placed = agent.at(access, into)
        limits = folder.task.limits.model_copy(update={"seconds": seconds})
        started = time.monotonic()
        done, left = _work(placed, layout, limits, sandbox, into, over)
        took = time.monotonic() - started
        totals = entry.close()
    trajectory = placed.read(done)
    submission = Submission(files=describe(into / "submission"), rejected=done.rejected, exit=done.exit)
    verdict = judge(folder, layout, into / "submission", submission, sandbox)
    sent = sum(scripted.sent("check"), Usage())
    return Checked(folder.task.id, verdict, left, done.exit, trajectory, totals, sent, took, into)


def _work(
    placed: PlacedAgent, layout: PreparedTask, limits: Limits, sandbox: Sandbox, into: Path, over: threading.Event
) -> tuple[Completed, tuple[str, ...]]:
    """Let it work; what it left goes to `into/submission`. Returns how it ended and the names of what it left."""
    command = replace(placed.command(layout, limits), log=into / "log.txt")
    with crossing(layout, into / "submission") as crossed:
        done = sandbox.run(replace(command, collect=(*crossed.collect, *command.collect)), over)
        crossed.submit(sandbox)
    if layout.folder.task.kind is TaskKind.DELIVERABLE:
        return done, tuple(file.path for file in describe(crossed.files))
    diff = (crossed.files / DIFF).read_text(encoding="utf-8", errors="replace")
    return done, tuple(re.findall(r"^diff --git a/.* b/(.*)$", diff, re.MULTILINE))
