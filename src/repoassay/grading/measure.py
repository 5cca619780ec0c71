"""The worker that measures criteria: inside a sandbox, a batch of tasks from standard input, one line a criterion out.

Libraries are imported once, while tasks that do not need them are measured; every task is measured in a process forked
off, with limits of its own, so that a file that crashes or stalls a library costs its own task and nothing else. Each
line is passed on by the parent, which alone knows which task it belongs to; what was measured before a limit struck is
already on the channel.
"""

from __future__ import annotations

import gc
import importlib
import json
import operator
import os
import resource
import selectors
import signal
import sys
import time
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.errors import MissingExtra, RepoAssayError
from repoassay.grading.protocol import NotGradable, UnreadableOutput
from repoassay.grading.registry import get, use_modules

__all__ = ["main"]


@dataclass(slots=True)
class _Child:
    """A forked process that measures one task."""

    task: int
    pid: int
    deadline: float
    rest: bytes = b""
    timed_out: bool = False


def main() -> None:
    """Measure every task of the batch."""
    batch = json.load(sys.stdin)
    channel = int(os.environ.pop("REPOASSAY_CHANNEL"))
    use_modules(batch["metrics"])
    for name in batch["bundled"]:  # shared by every task; a plug-in's module is imported where it costs one task
        get(name)
    _tell(channel, {"ready": True})
    waiting = sorted(enumerate(batch["tasks"]), key=lambda each: -int(each[1]["bytes"]))
    modules = deque(dict.fromkeys(name for _, task in waiting for name in task["modules"]))
    running: dict[int, _Child] = {}
    with selectors.DefaultSelector() as selector:
        while waiting or running:
            while len(running) < batch["parallel"] and (found := _ready(waiting, modules)):
                waiting.remove(found)
                pipe, child = _start(*found, batch, channel)
                running[pipe] = child
                selector.register(pipe, selectors.EVENT_READ)
            if modules:  # while others work
                with suppress(ImportError):  # the metric that needs it will say so
                    importlib.import_module(modules.popleft())
            for key, _ in selector.select(0 if modules else 0.05):
                if not _relay(key.fd, running[key.fd], channel):
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _end(running.pop(key.fd), channel)
            for child in running.values():
                if time.monotonic() > child.deadline and not child.timed_out:
                    child.timed_out = True
                    _kill(child.pid)


def _ready(waiting: list[tuple[int, dict[str, Any]]], modules: Collection[str]) -> tuple[int, dict[str, Any]] | None:
    """The first task that needs none of the modules still to be imported."""
    return next((each for each in waiting if not any(name in modules for name in each[1]["modules"])), None)


def _start(number: int, task: dict[str, Any], batch: dict[str, Any], channel: int) -> tuple[int, _Child]:
    gc.freeze()  # so that collections in children leave the shared pages alone
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.close(channel)
            os.setsid()
            resource.setrlimit(resource.RLIMIT_DATA, (batch["memory"], batch["memory"]))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            _work(task, write)
        finally:
            os._exit(0)
    os.close(write)
    os.set_blocking(read, False)
    return read, _Child(number, pid, time.monotonic() + batch["seconds"])


def _work(task: dict[str, Any], pipe: int) -> None:
    failed = False
    for index, criterion in enumerate(task["criteria"]):
        _tell(pipe, {"begin": index})
        if failed:
            _tell(pipe, {"index": index, "status": "skipped", "value": None, "comment": "not measured"})
            continue
        answer = _measure(task, criterion)
        _tell(pipe, {"index": index, **answer})
        failed = task["to_first_failure"] and answer["status"] == "measured" and not _holds(criterion, answer["value"])


def _holds(criterion: dict[str, Any], value: float | None) -> bool:
    """Whether a value meets the threshold; only what need not be measured any more hangs on it, never a verdict."""
    holds = {"equals": operator.eq, "at_least": operator.ge, "above": operator.gt, "at_most": operator.le,
             "below": operator.lt}  # fmt: skip
    return value is not None and all(holds[name](value, bound) for name, bound in criterion["threshold"].items())


def _tell(pipe: int, line: dict[str, Any]) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _relay(pipe: int, child: _Child, channel: int) -> bool:
    """Pass whole lines on with the task they belong to; false at the end."""
    data = os.read(pipe, 1 << 16)
    *lines, child.rest = (child.rest + data).split(b"\n")
    for line in lines:
        with suppress(ValueError, TypeError):
            _tell(channel, {**json.loads(line), "task": child.task})
    return bool(data)


def _end(child: _Child, channel: int) -> None:
    _kill(child.pid)  # whatever it left behind
    status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
    how = "time" if child.timed_out else f"signal {-status}" if status < 0 else "done"
    _tell(channel, {"task": child.task, "ended": how})


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _measure(task: dict[str, str], criterion: dict[str, Any]) -> dict[str, Any]:
    try:
        found = get(str(criterion["metric"]))
        arguments = [Path(task["outputs"], str(criterion["of"]))]
        if criterion["against"]:
            place, _, name = str(criterion["against"]).partition(":")
            arguments.append(Path(task["inputs" if place == "input" else "truth"], name))
        measured = found.measure(*arguments, **criterion["options"])
    except UnreadableOutput as error:
        return {"status": "unreadable", "value": None, "comment": str(error)[:1000]}
    except NotGradable as error:
        return {"status": "not_gradable", "value": None, "comment": str(error)[:1000]}
    except MissingExtra as error:
        return {"status": "missing_package", "value": None, "comment": str(error)}
    except MemoryError:
        return {"status": "unreadable", "value": None, "comment": "opening it takes more memory than is allowed"}
    except RecursionError:
        return {"status": "unreadable", "value": None, "comment": "it is nested too deeply"}
    except RepoAssayError as error:
        return {"status": "fault", "value": None, "comment": str(error)[:1000]}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a metric's bug must cost one criterion and be told as ours
        return {"status": "fault", "value": None, "comment": f"{type(error).__name__}: {error}"[:1000]}
    value = float(measured.value)
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN alone differs from itself
        return {"status": "measured", "value": None, "comment": measured.comment[:1000] or f"the value is {value}"}
    return {"status": "measured", "value": value, "comment": measured.comment[:1000]}


if __name__ == "__main__":
    main()
