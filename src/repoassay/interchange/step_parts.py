"""One step of an imported state task, as it is written into the task's folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.interchange.image_file import ImportRefusal
from repoassay.tasks import SETUP, step_place
from repoassay.types import HiddenTests, TaskStep

__all__ = ["StepParts", "copy_plain", "write_step"]


@dataclass(frozen=True, slots=True)
class StepParts:
    """What was understood of a step.

    Attributes:
        name: Its folder.
        instruction: What the agent is told.
        tests: Folder of tests.
        fail_to_pass: Ids of tests.
        runner: Of the tests, `pytest` or `script`.
        test_files: Tests by path that are written beside, or in place of, those of the folder.
        solution: Folder of the solution; None without.
        laid: Folder of files that are laid where the agent stands, `setup.sh` among them, where there is one.
        seconds, test_seconds: Time limits.
        min_reward: A reward below which the attempt ends with it.
        keys, optional_keys: See `HiddenTests`.
    """

    name: str
    instruction: str
    tests: Path
    fail_to_pass: tuple[str, ...]
    runner: str = "pytest"
    test_files: Mapping[str, str] = field(default_factory=dict)
    solution: Path | None = None
    laid: Path | None = None
    seconds: float = 900.0
    test_seconds: float = 240.0
    min_reward: float | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    optional_keys: tuple[str, ...] = ()

    def record(self) -> TaskStep:
        """The step as task.toml has it."""
        tests = {
            "fail_to_pass": self.fail_to_pass,
            "seconds": self.test_seconds,
            "runner": self.runner,
            "keys": dict(self.keys),
            "optional_keys": self.optional_keys,
        }
        return TaskStep(
            name=self.name, seconds=self.seconds, min_reward=self.min_reward, tests=HiddenTests.model_validate(tests)
        )


def write_step(step: StepParts, into: Path, work: str) -> None:
    """Write a step below a task's folder; `work` is where its agent stands.

    Raises:
        ImportRefusal: It holds what is no plain file.
    """
    place = step_place(into, step.name)
    place.mkdir(parents=True)
    (place / "instruction.md").write_text(step.instruction, encoding="utf-8")
    copy_plain(step.tests, place / "tests")
    (place / "tests").mkdir(exist_ok=True)
    for name, text in step.test_files.items():
        (place / "tests" / name).write_text(text, encoding="utf-8")
    if step.solution is not None:
        copy_plain(step.solution, place / "solution")
    if step.laid is not None and step.laid.is_dir():
        copy_plain(step.laid, place / "files" / work.lstrip("/"))
        script = place / "files" / work.lstrip("/") / SETUP
        if script.is_file():
            script.rename(place / SETUP)


def copy_plain(source: Path, target: Path) -> None:
    """Copy a folder of plain files, or one file as solve.sh; links are refused."""
    if source.is_file() and not source.is_symlink():
        target.mkdir(parents=True)
        shutil.copyfile(source, target / "solve.sh")
        return
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ImportRefusal("Its files hold a link or something else that is no plain file.", source.name)
        if path.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
