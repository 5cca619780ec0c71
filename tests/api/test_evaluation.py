"""Evaluating from Python: functions as agents, settings that are refused, events, and stopping."""

from __future__ import annotations

import _thread
import asyncio
import inspect
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import repoassay as ra
from repoassay.api.events import (
    AgentStarted,
    AttemptDropped,
    AttemptFinished,
    AttemptStarted,
    RunOpened,
    RunPlanned,
    RunResumed,
)
from ten_lines import STARTER, TASKS, Shell, careful

DAILY = "sensor-log-daily"


def test_a_function_of_ten_lines_passes_two_starter_tasks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert len(inspect.getsource(careful).splitlines()) <= 10
    run = ra.evaluate("starter", agent=careful, tasks=TASKS, out=tmp_path)
    assert {(one.task, one.agent, one.outcome) for one in run.attempts} == {
        (task, "careful", ra.Outcome.PASSED) for task in TASKS
    }
    assert run.rates() == {"careful": ra.Rate(2, 2)}
    assert run.complete
    (settings,) = run.plan.agents.values()
    assert settings.kind == "ten_lines:careful"
    assert len(settings.options["sha256"]) == 64
    first = next(one for one in run.attempts if one.task == DAILY)
    assert "/env/bin/python -" in (first.folder / "log.txt").read_text()
    assert (first.spending, first.trajectory(), first.model, first.passed) == (None, None, "", True)
    assert capfd.readouterr() == ("", "")


def test_what_a_function_runs_is_in_the_sandbox(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("of this machine")
    seen: dict[str, Any] = {}

    def curious(workspace: ra.WorkspaceSession, instruction: str) -> None:
        seen["read"] = workspace.run(["cat", str(secret)])
        seen["hosts"] = workspace.run("cat /proc/net/dev").stdout
        with pytest.raises(FileNotFoundError):
            workspace.read(str(secret))
        workspace.write(str(secret), "changed")

    ra.evaluate("starter", agent=curious, tasks=DAILY, out=tmp_path / "runs")
    assert seen["read"].code != 0
    assert seen["read"].stdout == ""
    assert [line.split(":")[0].strip() for line in seen["hosts"].splitlines()[2:]] == ["lo"]
    assert secret.read_text() == "of this machine"


def test_an_object_with_one_method_is_an_agent_and_so_is_its_class(tmp_path: Path) -> None:
    for agent in (Shell(), Shell):
        run = ra.evaluate("starter", agent=agent, tasks=DAILY, out=tmp_path)
        (attempt,) = run.attempts
        assert (attempt.agent, attempt.outcome) == ("Shell", ra.Outcome.FAILED)
        assert run.plan.agents["Shell"].kind == "ten_lines:Shell"


def test_a_function_that_raises_is_its_agents_failure(tmp_path: Path) -> None:
    def clumsy(workspace: ra.WorkspaceSession, instruction: str) -> None:
        workspace.write("output/daily.csv", "half a ta")
        raise KeyError("mislaid")

    (attempt,) = ra.evaluate("starter", agent=clumsy, tasks=DAILY, out=tmp_path).attempts
    assert attempt.outcome is ra.Outcome.FAILED
    assert attempt.record.submission.exit is not None
    assert attempt.record.submission.exit.code == 1
    assert "KeyError: 'mislaid'" in (attempt.folder / "log.txt").read_text()


@pytest.mark.long
def test_a_function_that_does_not_end_is_left_behind_when_its_time_is_up(tmp_path: Path) -> None:
    ended = threading.Event()
    raised: list[BaseException] = []

    def slow(workspace: ra.WorkspaceSession, instruction: str) -> None:
        try:
            workspace.run("sleep 1000")
        except ra.Interrupted as error:
            raised.append(error)
        ended.set()

    began = time.monotonic()
    run = ra.evaluate("starter", agent=slow, tasks=DAILY, limits=ra.Limits(seconds=2), out=tmp_path)
    assert run.attempts[0].record.submission.exit is not None
    assert run.attempts[0].record.submission.exit.ended == "timed_out"
    assert time.monotonic() - began < 100
    assert ended.wait(20)
    assert "ended" in str(raised[0])


def test_a_function_asks_its_model_through_the_gateway(tmp_path: Path) -> None:
    lines = [{"kind": "settings"}, {"kind": "turn", "text": "42 pelicans", "usage": {"input": 100, "output": 50}}]
    (tmp_path / "dialogue.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    replies: list[str] = []

    def asking(workspace: ra.WorkspaceSession, instruction: str) -> None:
        replies.append(workspace.ask("How many?"))

    def silent(workspace: ra.WorkspaceSession, instruction: str) -> None:
        with pytest.raises(OSError, match="no model"):
            workspace.ask("How many?")
        replies.append("none")

    run = ra.evaluate(
        "starter", agent=asking, model="scripted/one", dialogue=tmp_path / "dialogue.jsonl", tasks=DAILY, out=tmp_path
    )
    ra.evaluate("starter", agent=silent, tasks=DAILY, out=tmp_path)
    assert replies == ["42 pelicans", "none"]
    (attempt,) = run.attempts
    assert attempt.agent == "asking @ scripted/one"
    assert attempt.spending is not None
    assert (attempt.spending.calls, attempt.spending.usage.input) == (1, 100)
    assert list(run.rates("model")) == ["scripted/one"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tasks": ["edt-*"]}, "Did you mean edit-*?"),
        ({"tasks": "sensor-log-dayly"}, "Did you mean sensor-log-daily?"),
        ({"agent": "codx"}, "Did you mean codex?"),
        ({"agent": 3}, "int is no agent"),
        ({"agent": []}, "No agent"),
        ({"agent": lambda workspace, instruction: None}, "lambda"),
        ({"agent": lambda: None}, "(workspace, instruction)"),
        ({"agent": "no.such.module:thing"}, "cannot be imported"),
        ({"agent": "ten_lines:carefull"}, "cannot be imported"),
        ({"model": "scripted"}, "provider/name"),
        ({"agent": careful, "model": "scripted/x"}, "nothing to say"),
        ({"network": "opn"}, "Did you mean open?"),
        ({"isolation": "nmespaces"}, "Did you mean namespaces?"),
        ({"criteria": "fare"}, "Did you mean fair?"),
        ({"attempts": 0}, "attempts is 0"),
        ({"attempts": True}, "attempts is True"),
        ({"workers": -1}, "workers is -1"),
        ({"retries": 11}, "retries is 11"),
        ({"budget_usd": float("nan")}, "no value for budget_usd"),
        ({"budget_usd": -1}, "no value for budget_usd"),
        ({"limits": float("inf")}, "no value for timeout"),
        ({"limits": ra.Limits(memory=2**30)}, "limits.memory"),
        ({"max_calls": 1.5, "model": "scripted/x"}, "no value for max_iterations"),
        ({"max_calls": 5}, "none is named"),
        ({"sweep": {"timeut": [1]}}, "Did you mean timeout?"),
        ({"sweep": {"timeout": []}}, "no values"),
        ({"concurrency": {"openai": 0}}, "concurrency of openai is 0"),
        ({"prices": "no-such-file.toml"}, "cannot be read"),
        ({"suite": "startr"}, "starter"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_anything_happens(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    chosen: dict[str, Any] = {
        "suite": "starter",
        "agent": "nothing",
        "tasks": DAILY,
        "out": tmp_path / "runs",
    } | settings
    with pytest.raises(ra.BadInput) as caught:
        ra.evaluate(chosen.pop("suite"), **chosen)
    assert said in str(caught.value)
    assert caught.value.run is None
    assert not (tmp_path / "runs").exists()


def test_an_unknown_setting_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="agnt"):
        ra.evaluate("starter", agnt="codex")  # type: ignore[call-arg]


def test_events_tell_the_whole_story_in_order(tmp_path: Path) -> None:
    events: list[ra.RunEvent] = []
    run = ra.evaluate(
        "starter", agent="nothing", tasks=DAILY, attempts=2, workers=2, out=tmp_path, on_event=events.append
    )
    assert [type(each) for each in events[:2]] == [RunPlanned, RunOpened]
    kinds = [type(each) for each in events[2:]]
    assert {kind: kinds.count(kind) for kind in kinds} == {AttemptStarted: 2, AgentStarted: 2, AttemptFinished: 2}
    opened = events[1]
    assert isinstance(opened, RunOpened)
    assert (opened.path, opened.attempts) == (run.path, 2)
    assert str(run.path) in repr(opened)


def test_what_on_event_raises_stops_the_run(tmp_path: Path) -> None:
    def unwilling(event: ra.RunEvent) -> None:
        raise ValueError(type(event).__name__)

    with pytest.raises(ValueError, match="RunPlanned"):
        ra.evaluate("starter", agent="nothing", tasks=DAILY, out=tmp_path / "runs", on_event=unwilling)
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_raises_interrupted_with_the_run_and_resume_goes_on(tmp_path: Path) -> None:
    """KeyboardInterrupt is raised in the main thread as Ctrl-C does, whether or not SIGINT is ignored here."""
    quick = threading.Event()

    def napping(workspace: ra.WorkspaceSession, instruction: str) -> None:
        workspace.run(f"sleep {0 if quick.is_set() else 100}")

    def pressing(event: ra.RunEvent) -> None:
        if isinstance(event, AgentStarted):
            threading.Timer(0.3, _interrupt).start()
        elif isinstance(event, AttemptDropped):
            dropped.append(event)

    dropped: list[ra.RunEvent] = []
    began = time.monotonic()
    with pytest.raises(ra.Interrupted) as caught:
        ra.evaluate("starter", agent=napping, tasks=DAILY, out=tmp_path, on_event=pressing)
    assert time.monotonic() - began < 80
    run = caught.value.run
    assert isinstance(run, ra.Run)
    assert (len(dropped), run.attempts, run.complete) == (1, (), False)
    assert run.rates() == {"napping": ra.Rate(0, 1, unknown=1)}

    with pytest.raises(ra.BadInput, match="no other program can import") as again:
        ra.resume(run)
    assert "repoassay.resume(run, agent=...)" in str(again.value)
    with pytest.raises(ra.BadInput, match="has no agent"):
        ra.resume(run, agent=careful)
    quick.set()
    assert ra.resume(run.path, agent=napping).complete


def _interrupt() -> None:
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _thread.interrupt_main()
    else:  # ignored: what Python would raise
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(threading.main_thread().ident or 0), ctypes.py_object(KeyboardInterrupt)
        )


def test_a_stop_lets_attempts_finish_or_drops_them(tmp_path: Path) -> None:
    stop = ra.Stop()

    def finishing(event: ra.RunEvent) -> None:
        if isinstance(event, AttemptStarted):
            stop.finish()

    with pytest.raises(ra.Interrupted) as caught:
        ra.evaluate(
            "starter", agent="nothing", tasks=DAILY, attempts=3, workers=1, out=tmp_path, on_event=finishing, stop=stop
        )
    assert len(caught.value.run.attempts) == 1
    events: list[ra.RunEvent] = []
    run = ra.resume(caught.value.run, on_event=events.append)
    assert isinstance(events[0], RunResumed)
    assert (events[0].kept, events[0].attempts, len(run.attempts)) == (1, 2, 3)


def test_two_degrees_of_ctrl_c_for_those_who_are_patient() -> None:
    patient, hasty = ra.Stop(patient=True), ra.Stop()
    patient.interrupt()
    hasty.interrupt()
    assert (patient.starting.is_set(), patient.working.is_set()) == (True, False)
    assert (hasty.starting.is_set(), hasty.working.is_set()) == (True, True)
    patient.interrupt()
    assert patient.working.is_set()


@pytest.mark.long
def test_it_works_in_a_thread_and_inside_a_running_loop(tmp_path: Path) -> None:
    async def main() -> list[ra.Run]:
        inside = ra.evaluate("starter", agent=careful, tasks=DAILY, out=tmp_path)
        beside = await asyncio.to_thread(ra.evaluate, "starter", agent=careful, tasks=DAILY, out=tmp_path)
        return [inside, beside]

    assert [run.rates() for run in asyncio.run(main())] == [{"careful": ra.Rate(1, 1)}] * 2


def test_a_coroutine_function_is_an_agent(tmp_path: Path) -> None:
    async def modern(workspace: ra.WorkspaceSession, instruction: str) -> None:
        await asyncio.to_thread(workspace.write, "output/daily.csv", "x")

    (attempt,) = ra.evaluate("starter", agent=modern, tasks=DAILY, out=tmp_path).attempts
    assert attempt.outcome is ra.Outcome.FAILED  # a file is there, and it is wrong


def test_an_agent_that_can_be_imported_need_not_be_handed_over_again(tmp_path: Path) -> None:
    stop = ra.Stop()
    stop.finish()
    with pytest.raises(ra.Interrupted) as caught:
        ra.evaluate("starter", agent=Shell, tasks=DAILY, out=tmp_path, stop=stop)
    assert ra.resume(caught.value.run).complete


def test_a_suite_folder_and_one_task_are_suites_too(tmp_path: Path) -> None:
    run = ra.evaluate(STARTER / "tasks" / DAILY, agent="nothing", out=tmp_path)
    assert [one.task for one in run.attempts] == [DAILY]
