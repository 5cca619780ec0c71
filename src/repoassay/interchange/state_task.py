"""A state task written as a folder: its files at their places, its environment, its tests and its solution."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from repoassay.engine import GradingContext
from repoassay.errors import BadTask
from repoassay.formats import edit_task_toml
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.image_toolchains import moved_text
from repoassay.interchange.step_parts import StepParts, copy_plain, write_step
from repoassay.tasks import read_task
from repoassay.text import printable
from repoassay.types import (
    Environment,
    Grading,
    HiddenTests,
    Limits,
    NetworkPolicy,
    NetworkRule,
    Repository,
    Task,
    TaskKind,
    WorkspaceState,
)

__all__ = ["StateTask", "is_free", "state_places", "write_state_task"]

_FREE = re.compile(
    r"^/(?:workspace|app|root|tmp|opt|srv|data|mnt|outputs?|results?|tasks?|work|projects?|code|repo|src|build|shared"
    r"|inputs?|logs/(?:agent|artifacts)|solution|submission|testbed|challenge|models?|config|backup|home/[\w.-]+|var/\w[\w.-]*|etc/\w[\w.-]*(?=/))(?=/|$)"
)
"""Places that a text means where it names such a path; other words with a slash before them may mean anything."""
_MACHINE = frozenset({"usr", "bin", "sbin", "lib", "lib32", "lib64", "proc", "sys", "dev", "env", "run", "tests",
                      "boot", "logs"})  # fmt: skip
_OF_THE_SYSTEM = frozenset({"/etc/ssl", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.conf.d", "/etc/ca-certificates",
                            "/var/run", "/var/lock"})  # fmt: skip
_OF_PACKAGES = re.compile(r"/(var/(lib|cache)/(apt|dpkg)|etc/apt)(/|$)")
"""Lists of packages, which scripts delete in passing."""
_MOST_TEXT = 2**20
_OF_AGENTS = re.compile(r"/logs/(agent|artifacts)(?=/|$)")
"""Folders that Harbor makes for what agents leave, beside that of the tests' reward."""
_MOST_FILES, _MOST_BYTES = 20_000, 512 * 2**20
_MEMORY, _DISK = 2 * 2**30, 2 * 2**30


@dataclass(slots=True)
class StateTask:
    """What was understood of a task.

    Attributes:
        name: Its id with us.
        title: A line.
        instruction: What the agent is told.
        recipe: Its image.
        work: Where agent and tests stand.
        places: Folders that cross.
        fail_to_pass, pass_to_pass: Ids of tests.
        tests: Folder of tests.
        solution: Folder or file of the solution; None without.
        seconds, test_seconds: Time limits.
        memory: In bytes.
        internet: Whether agents may reach package indexes.
        origin: Where it comes from, in a line.
        runner: Of the tests, `pytest` or `script`.
        keys, optional_keys: See `HiddenTests`.
        test_files: Tests by path that are written beside, or in place of, those of the folder.
        steps: Its steps, where it has several; what is of a step alone is then said there.
        reward: How their rewards make that of the whole; see `Grading`.
        moved: Places of the image that lie elsewhere here, and where.
        artifacts: What alone crosses to the tests, where they have a container of their own.
    """

    name: str
    title: str
    instruction: str
    recipe: ImageRecipe
    work: str
    places: tuple[str, ...]
    tests: Path
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    solution: Path | None = None
    seconds: float = 900.0
    test_seconds: float = 240.0
    memory: int = _MEMORY
    internet: bool = True
    origin: str = ""
    category: str = "Software"
    variables: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    optional_keys: tuple[str, ...] = ()
    runner: str = "pytest"
    test_files: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StepParts, ...] = ()
    reward: str = "mean"
    moved: Mapping[str, str] = field(default_factory=dict)
    artifacts: tuple[str, ...] = ()

    def write(self, place: Path, open_bench: Callable[[], GradingContext]) -> None:
        """See `ConvertedTask`; nothing is run."""
        write_state_task(replace(self, name=place.name), place)


def state_places(folders: Iterable[str], texts: Iterable[str], tested: Iterable[str]) -> tuple[str, ...]:
    """The folders that cross: those that hold whatever the image makes, and tests, instruction or solution name.

    Args:
        folders: Absolute paths of folders that the image fills, makes or works in.
        texts: Absolute paths that texts name, which may mean something else.
        tested: Absolute paths that the tests look at.

    Raises:
        ImportRefusal: The image, or a test, needs a place where no agent can change anything.
    """
    found: dict[str, None] = {}
    for name in folders:
        place = _place(name)
        if place is None:
            top = PurePosixPath(name).parts[1:2]
            why = f"Its image has files in /{printable(''.join(top), 40)}, which no agent can change."
            raise ImportRefusal(why, "environment/Dockerfile", 0, name)
        found[place] = None
    for name in texts:
        if not _OF_PACKAGES.match(name) and (named := _FREE.match(name)) and (place := _place(named[0])):
            found[place] = None
    for name in tested:
        if re.match(r"/(etc|var|boot|usr/(local|share|lib)|lib/systemd)/", name) and not _is_below(name, found):
            raise ImportRefusal(
                f"Its tests look at /{PurePosixPath(name).parts[1]}, which no agent can change.", "tests", 0, name
            )
    outer = [place for place in found if not any(place != other and place.startswith(f"{other}/") for other in found)]
    return tuple(sorted(outer))


def is_free(file: str) -> bool:
    """Whether a file's folder can be one that crosses, since the machine has nothing there."""
    return _place(str(PurePosixPath(file).parent)) is not None


def _place(folder: str) -> str | None:
    """The place that holds a folder; None where it belongs to the machine."""
    parts = PurePosixPath(folder).parts[1:]
    if of_agents := _OF_AGENTS.match(folder):
        return of_agents[0]
    if not parts or parts[0] in _MACHINE:
        return None
    if parts[0] not in ("etc", "var", "home"):
        return f"/{parts[0]}"
    place = "/" + "/".join(parts[:2])
    return place if len(parts) > 1 and place not in _OF_THE_SYSTEM else None


def write_state_task(task: StateTask, into: Path) -> None:
    """Write a task's folder, and read it as a task.

    Raises:
        ImportRefusal: It is no sound task, or has too many files.
    """
    recipe = task.recipe
    kept = {place: file for place, file in recipe.files.items() if _is_below(place, task.places)}
    if len(kept) > _MOST_FILES or sum(file.stat().st_size for file in kept.values()) > _MOST_BYTES:
        raise ImportRefusal("Its files are more than a task may have.", "environment", 0)
    (into / "files").mkdir(parents=True)
    for place, file in kept.items():
        target = into / "files" / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise ImportRefusal("Its image has a file where it has a folder.", "environment/Dockerfile", 0, place)
        shutil.copyfile(file, target)
        target.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)
    for step in task.steps:
        write_step(step, into, task.work)
    if not task.steps:
        _write_only_step(task, into)
    _name_moved_places(task, into)
    (into / "environment").mkdir()
    (into / "environment/requirements.txt").write_text("".join(f"{line}\n" for line in recipe.pip), encoding="utf-8")
    try:
        (into / "task.toml").write_text(edit_task_toml(_record(task)), encoding="utf-8")
        read_task(into)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = f"{'.'.join(map(str, first['loc']))}: {printable(first['msg'], 200)}"
        raise ImportRefusal("It makes no sound task.", "task.toml", 0, what) from error
    except BadTask as error:
        raise ImportRefusal("It makes no sound task.", "task.toml", 0, str(error.problems[0])) from error


def _name_moved_places(task: StateTask, into: Path) -> None:
    """Name places that were moved where they lie, but in files that tests may compare by digest."""
    if not task.moved:
        return
    texts = {path: path.read_text("utf-8", "replace") for path in into.rglob("*") if _is_short_text(path)}
    tested = (text for path, text in texts.items() if "tests" in path.relative_to(into).parts)
    fixed = any(re.search(r"hashlib|sha\d+|md5|filecmp", text) for text in tested)
    for path, text in texts.items():
        named = moved_text(text, task.moved)
        if named != text and not (fixed and path.is_relative_to(into / "files")):
            path.write_text(named, encoding="utf-8")


def _is_short_text(path: Path) -> bool:
    return (
        path.is_file()
        and path.stat().st_size < _MOST_TEXT
        and b"\0" not in (content := path.read_bytes())
        and (content.decode("utf-8", "replace").encode() == content)
    )


def _write_only_step(task: StateTask, into: Path) -> None:
    """Write instruction, tests and solution of a task without steps."""
    (into / "instruction.md").write_text(task.instruction, encoding="utf-8")
    copy_plain(task.tests, into / "tests")
    (into / "tests").mkdir(exist_ok=True)
    for name, text in task.test_files.items():
        (into / "tests" / name).write_text(text, encoding="utf-8")
    if task.solution is not None:
        copy_plain(task.solution, into / "solution")


def _record(task: StateTask) -> Task:
    recipe = task.recipe
    apt = tuple(dict.fromkeys(recipe.apt))
    holding = set() if recipe.build else {str(above) for file in recipe.files for above in PurePosixPath(file).parents}
    folders = [name for name in dict.fromkeys(recipe.folders) if _is_below(name, task.places) and name not in holding]
    return Task(
        id=task.name,
        title=task.title,
        kind=TaskKind.STATE,
        domain=task.category,
        provenance=task.origin,
        licence="unknown",
        repository=Repository(source="folder:files", licence="unknown"),
        state=WorkspaceState(work=task.work, places=task.places, folders=tuple(folders), artifacts=task.artifacts),
        environment=Environment(
            python=recipe.python or ("3.11" if apt or _may_cover(task.places) else ">=3.11"),
            resolve="environment/requirements.txt",
            apt=apt,
            build=tuple(recipe.build),
            hosts=tuple(recipe.hosts),
            variables={
                name: moved_text(value, task.moved) for name, value in {**recipe.variables, **task.variables}.items()
            },
        ),
        steps=tuple(step.record() for step in task.steps),
        grading=_grading(task),
        limits=Limits(seconds=task.seconds, memory=max(task.memory, 2**29), disk=_DISK),
        network=NetworkRule(policy=None if task.internet else NetworkPolicy.MODEL),
    )


def _grading(task: StateTask) -> Grading:
    if task.steps:
        return Grading.model_validate({"reward": task.reward})
    return Grading(
        tests=HiddenTests.model_validate(
            {
                "fail_to_pass": task.fail_to_pass,
                "pass_to_pass": task.pass_to_pass,
                "seconds": task.test_seconds,
                "runner": task.runner,
                "keys": dict(task.keys),
                "optional_keys": task.optional_keys,
            }
        )
    )


def _may_cover(places: Iterable[str]) -> bool:
    """Whether some machine's Python may lie below a place, so that the environment must bring its own."""
    return any(place.startswith(("/root", "/home/", "/opt")) for place in places)


def _is_below(name: str, places: Iterable[str]) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in places)
