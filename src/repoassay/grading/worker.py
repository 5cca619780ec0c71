"""Driving the worker that measures: one sandbox for a batch, its answers read as they come, and nobody lost with it."""

from __future__ import annotations

import itertools
import json
import math
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.grading.plugin_code import plugin_code
from repoassay.grading.preflight import packages_of
from repoassay.grading.registry import module_of, plugin_of
from repoassay.grading.sandboxed_module import hit_limit, run_sandboxed
from repoassay.sandbox import Command, Completed, Mount, Sandbox
from repoassay.tasks import data_folder
from repoassay.types import Criterion, Limits

__all__ = ["MetricRequest", "Told", "measure", "weights_folder"]

_MOST_HEARD = 64 * 2**20
"""Bytes of answers that a batch may give."""
_BOUNDS = {"equals", "at_least", "above", "at_most", "below"}
_SPARE = 512 * 2**20
"""Memory for the libraries themselves, which every task shares."""
_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**27), "MALLOC_TOP_PAD_": str(2**24)}
"""How the C library keeps memory: arrays as large as a picture are used again, where each would be mapped, cleared and
given back, which takes a fifth of the time. Larger ones are given back at once, so limits hold as they are."""
_OPENERS = [f"PIL.{name}ImagePlugin" for name in ("Bmp", "Gif", "Jpeg", "Ppm", "Png", "Tiff", "WebP")]
"""What Pillow imports to open any picture, and WebP, for which it would import fifty more in every task."""
_PRELOAD = {
    "numpy": ("numpy",),
    "pillow": ("PIL.Image", "PIL.ImageOps", "PIL.ImageSequence", *_OPENERS),
    "opencv-python-headless": ("cv2",),
    "rapidfuzz": ("rapidfuzz.distance",),
    "openpyxl": ("openpyxl",),
    "pypdf": ("pypdf",),
    "soundfile": ("soundfile",),
    "jiwer": ("jiwer",),
    "defusedxml": ("defusedxml.ElementTree",),
    "charset-normalizer": ("charset_normalizer",),
}
"""Import names by package: what is slow to import and safe to share between processes."""


@dataclass(frozen=True, slots=True)
class MetricRequest:
    """What is to be measured: three folders, criteria, and which file stands for each `of`."""

    outputs: Path
    inputs: Path
    truth: Path
    criteria: Sequence[Criterion]
    files: Mapping[str, str]
    to_first_failure: bool = False


@dataclass(slots=True)
class _Answers:
    """Answers to one `MetricRequest`, one for each criterion, and how long they took."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


Told = _Answers | InfraFault


@dataclass(slots=True)
class _Progress:
    """The results of one task that the worker has reported so far."""

    begun: int = -1
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    ended: str = ""
    started: float = 0.0


def weights_folder() -> Path:
    """Where pretrained networks a user provides are looked for: `weights` in the data folder."""
    return data_folder("weights")


def measure(
    requests: Sequence[MetricRequest],
    sandbox: Sandbox,
    *,
    workers: int,
    limits: Limits,
    cancel: threading.Event | None = None,
) -> Iterator[Told]:
    """Yield the answers for each of `asked`, in order, as soon as they are there.

    `limits` hold for each task. When the sandbox itself is struck down, what it had not told is asked again, one task
    a sandbox, so that the task that did it is found.
    """
    batch = _Batch(requests, sandbox, workers, limits, cancel)
    batch.start()
    for number, each in enumerate(requests):
        progress = batch.wait(number)
        if progress.ended:
            yield _answers(each, progress)
        elif batch.fault:
            yield batch.fault
        elif len(requests) == 1 or (cancel and cancel.is_set()):
            yield _answers(each, progress, batch.struck())
        else:
            yield next(measure([each], sandbox, workers=1, limits=limits, cancel=cancel))
    batch.join()


class _Batch:
    """One run of the worker, in a thread of its own, listened to while it runs."""

    def __init__(
        self,
        requests: Sequence[MetricRequest],
        sandbox: Sandbox,
        workers: int,
        limits: Limits,
        cancel: threading.Event | None,
    ) -> None:
        self.fault: InfraFault | None = None
        self._tasks = [_Progress() for _ in requests]
        self._ready = False
        self._rest = b""
        self._heard = 0
        self._done: Completed | None = None
        self._lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._over = False
        command = _command(requests, min(workers, len(requests)), limits, self._hear)
        self._thread = threading.Thread(target=self._run, args=(sandbox, command, cancel), name="grading")

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def wait(self, number: int) -> _Progress:
        """Listen until the task has ended or the worker has."""
        while not (self._tasks[number].ended or self._over):
            line = self._lines.get()
            if line is None:
                self._over = True
                self._thread.join()
            else:
                self._note(line)
        return self._tasks[number]

    def struck(self) -> str:
        """What ended the worker while it was at a file."""
        assert self._done is not None
        return hit_limit(self._done.exit)

    def _run(self, sandbox: Sandbox, command: Command, cancel: threading.Event | None) -> None:
        try:
            self._done = sandbox.run(command, cancel)
            if not self._ready and not (cancel and cancel.is_set()):
                message = self._done.stderr.decode(errors="replace").strip()[-500:]
                self.fault = InfraFault(f"The metrics could not be started: {message}")
        except InfraFault as error:
            self.fault = error
        except BaseException as error:  # noqa: BLE001 - whoever waits must be told, whatever it was
            self.fault = InfraFault(f"The sandbox failed: {type(error).__name__}: {error}.")
        finally:
            self._lines.put(None)

    def _hear(self, data: bytes) -> None:
        # A file that took over what opens it may write here too: neither how much nor what it writes is believed.
        self._heard += len(data)
        if self._heard > _MOST_HEARD:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(answer, dict):
                self._ready |= "ready" in answer
                self._lines.put(answer)

    def _note(self, line: dict[str, Any]) -> None:
        number = line.get("task")
        if not isinstance(number, int) or not 0 <= number < len(self._tasks):
            return
        task = self._tasks[number]
        task.started = task.started or time.monotonic()
        if isinstance(begun := line.get("begin"), int):
            task.begun = begun
        if isinstance(index := line.get("index"), int) and "status" in line:
            task.answers[index] = line
        if "ended" in line:
            task.ended = str(line["ended"])


def _answers(request: MetricRequest, progress: _Progress, struck: str = "") -> Told:
    if not struck:
        struck = {"time": "opening it takes more time than is allowed", "done": ""}.get(
            progress.ended, f"the program that opens it crashed ({progress.ended})"
        )
    found = []
    for index in range(len(request.criteria)):
        answer = progress.answers.get(index)
        comment = (struck or "nothing was measured") if index <= max(progress.begun, 0) else "not reached"
        found.append(answer or {"status": "unreadable", "value": None, "comment": comment})
    return _Answers(found, time.monotonic() - progress.started if progress.started else 0.0)


def _command(requests: Sequence[MetricRequest], workers: int, limits: Limits, on_channel: Any) -> Command:
    tasks = []
    wanted = [_modules(each) for each in requests]
    counts = Counter(name for names in wanted for name in names)
    mounts = [Mount(weights, "/weights")] if (weights := weights_folder()).is_dir() else []
    for number, each in enumerate(requests):
        places = {name: f"/jobs/{number}/{name}" for name in ("outputs", "inputs", "truth")}
        tasks.append({
            **places,
            "criteria": [_spoken(item, each.files) for item in each.criteria],
            "to_first_failure": each.to_first_failure,
            # The longest first, as far as the size of its files tells.
            "bytes": sum(_size(each.outputs / name) for name in set(each.files.values())),
            # What one task alone needs, that task may import.
            "modules": [name for name in wanted[number] if counts[name] > 1],
        })  # fmt: skip
        folders = (each.outputs, each.inputs, each.truth)
        mounts += [Mount(path, to) for path, to in zip(folders, places.values(), strict=True) if path.is_dir()]
    metrics = {item.metric: module_of(item.metric) for each in requests for item in each.criteria}
    brought = {name: plugin for name in metrics if (plugin := plugin_of(name)) is not None}
    code, path = plugin_code(brought.values())
    batch = {
        "metrics": {name: value for name, value in metrics.items() if value},
        "bundled": [name for name, value in metrics.items() if value and name not in brought],
        "parallel": workers,
        "seconds": limits.seconds,
        "memory": limits.memory,
        "tasks": tasks,
    }
    rounds = math.ceil(len(requests) / workers)
    whole = {"seconds": limits.seconds * rounds + 60, "memory": limits.memory * workers + _SPARE}
    return run_sandboxed(
        "repoassay.grading.measure",
        stdin=json.dumps(batch).encode(),
        mounts=[*mounts, *code],
        path=path,
        limits=limits.model_copy(update=whole),
        channel=True,
        on_channel=on_channel,
        env=_MEMORY,
    )


def _size(path: Path) -> int:
    """Bytes of a file, or of the files of a folder; nothing is followed."""
    try:
        names = [path] if not path.is_dir() or path.is_symlink() else list(itertools.islice(path.iterdir(), 1000))
        return sum(each.lstat().st_size for each in names)
    except OSError:
        return 0


def _modules(request: MetricRequest) -> list[str]:
    """Modules worth importing before the task is measured, in the order of what they rest on."""
    packages = packages_of(request.criteria)
    return [module for package, found in _PRELOAD.items() if package in packages for module in found]


def _spoken(criterion: Criterion, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        **criterion.model_dump(include={"metric", "against", "options"}),
        "threshold": criterion.model_dump(include=_BOUNDS, exclude_none=True),
        "of": files.get(criterion.of, criterion.of),
    }
