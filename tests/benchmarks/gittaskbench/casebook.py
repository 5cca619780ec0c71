"""Cases for GitTaskBench's graders: outputs made from the real data, with the verdict a careful reader gives.

A case writes files into a folder as an agent would leave them. `process` and `result` are what the fair reading must
answer (None where honest people could differ); `published`, where given, what the published scripts answer.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from repoassay.grading.deliverable import Job, grade_deliverables
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Reading, Verdict

__all__ = ["Answer", "Case", "Casebook", "Desk"]

Answer = tuple[bool | None, bool | None]


@dataclass(frozen=True)
class Desk:
    """One case being written: the task's inputs and ground truth, the folder to fill, and repeatable chance."""

    inputs: Path
    truth: Path
    folder: Path
    chance: np.random.Generator

    def write(self, name: str, content: bytes | str) -> None:
        """Write a file, text as UTF-8 to the letter."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def copy(self, source: Path, name: str) -> None:
        """Copy a file."""
        shutil.copyfile(source, self.folder / name)

    def image(self, name: str, pixels: Any, **options: Any) -> None:
        """Save an array of 0 to 255 as an image."""
        Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(self.folder / name, **options)

    def picture(self, name: str) -> Any:
        """An input image as an array (height, width, 3) of uint8."""
        return np.asarray(Image.open(self.inputs / name).convert("RGB"))

    def text(self, name: str) -> str:
        """A ground truth as text."""
        return (self.truth / name).read_bytes().decode("utf-8-sig")

    @staticmethod
    def table(rows: Iterable[Iterable[object]]) -> str:
        """Rows as CSV."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue()

    @staticmethod
    def lines(records: Iterable[object]) -> str:
        """Records as JSON lines."""
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


@dataclass(frozen=True)
class Case:
    """One candidate output and what must be said of it."""

    task: str
    name: str
    write: Callable[[Desk], None]
    fair: Answer
    published: Answer | None = None


@dataclass
class Casebook:
    """Cases of some tasks."""

    cases: list[Case] = field(default_factory=list)

    def case(
        self, task: str, name: str, process: bool | None, result: bool | None, published: Answer | None = None
    ) -> Callable[[Callable[[Desk], None]], Callable[[Desk], None]]:
        """Register a function as a case; may be stacked for several tasks."""

        def register(write: Callable[[Desk], None]) -> Callable[[Desk], None]:
            assert (task, name) not in {(case.task, case.name) for case in self.cases}, f"{task}/{name} stands twice"
            self.cases.append(Case(task, name, write, (process, result), published))
            return write

        return register

    def of(self, task: str) -> list[Case]:
        """Cases of one task."""
        return [case for case in self.cases if case.task == task]

    @property
    def tasks(self) -> list[str]:
        """Tasks that have cases."""
        return sorted({case.task for case in self.cases})

    def complaints(self, task: str, place: Path, reading: Reading = Reading.FAIR) -> list[str]:
        """Grade a task's cases in one sandbox and say which verdicts are not what they must be."""
        folder = find_suite("gittaskbench", only=[task]).tasks[0]
        wanted = [(case, case.fair if reading is Reading.FAIR else case.published) for case in self.of(task)]
        chosen = [(case, answer) for case, answer in wanted if answer is not None]
        jobs = []
        for case, _ in chosen:
            target = place / reading.value / case.name
            target.mkdir(parents=True)
            seed = zlib.crc32(f"{task}/{case.name}".encode())
            case.write(Desk(folder.inputs, folder.tests, target, np.random.default_rng(seed)))
            jobs.append(Job(folder, target))
        graded = grade_deliverables(jobs, open_sandbox("namespaces", Cache()), reading=reading, workers=2)
        found = []
        for (case, answer), each in zip(chosen, graded, strict=True):
            verdict = each.verdict()
            if not agrees(verdict, answer):
                shown = f"{verdict.outcome} ({verdict.process}, {verdict.result})"
                found.append(f"{task}/{case.name}: {shown} instead of {answer}: {'; '.join(verdict.comments)[:600]}")
        return found


def agrees(verdict: Verdict, answer: Answer) -> bool:
    """Whether a verdict says what is wanted; None accepts anything."""
    return all(want is None or want is got for want, got in zip(answer, (verdict.process, verdict.result), strict=True))
