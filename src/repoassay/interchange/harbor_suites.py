"""Tasks of Harbor, and of terminal-bench 1, as state tasks: a folder a task, or folders of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.errors import BadInput
from repoassay.interchange.build_hosts import in_environment
from repoassay.interchange.compose_file import mount_files
from repoassay.interchange.git_history import check_without_history, without_history
from repoassay.interchange.harbor_files import PARTS, check_plain
from repoassay.interchange.harbor_refusals import refusal_of_harbor
from repoassay.interchange.harbor_registry import dataset_names
from repoassay.interchange.harbor_settings import HarborSettings, TaskTerms, read_settings
from repoassay.interchange.harbor_steps import join_tests, positive_seconds, read_step
from repoassay.interchange.harbor_tests import TaskTests, read_tests, task_text
from repoassay.interchange.harbor_variables import TaskVariables, check_asked_models
from repoassay.interchange.hidden_test_text import absolute_paths
from repoassay.interchange.image_accounts import check_working_account
from repoassay.interchange.image_agents import check_agents_unnamed
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal, absolute_place
from repoassay.interchange.image_of_tests import GUARDS_ROOT, add_image_of_tests
from repoassay.interchange.image_recipe import read_image
from repoassay.interchange.image_stages import package_of
from repoassay.interchange.image_toolchains import moved_places, moved_text
from repoassay.interchange.published_judges import publish_judges
from repoassay.interchange.state_task import StateTask, state_places
from repoassay.records import load_yaml
from repoassay.text import join_names, printable

__all__ = ["HarborTasks"]

_MOST_FOLDERS = 200_000
_MOST_SHOWN = 12
_INSTALLS = re.compile(r"\b(pip|poetry|apt|conda|npm|yarn|pnpm|gem)(?:3|-get)? (?:-\S+ )*install\b")
_NEGATED = re.compile(r"\b(not|never|no|without|already)\b|n't\b", re.IGNORECASE)


class HarborTasks:
    """Task folders of Harbor (`task.toml`) and of terminal-bench 1 (`task.yaml`), below one folder or more."""

    title = "tasks of Harbor and terminal-bench 1: folders with task.toml or task.yaml"
    gives = "suite"
    version = "task.toml up to 1.4 (of later ones, the keys that 1.4 has), registry.json; task.yaml of terminal-bench 1"
    lost = (
        "Images: packages by apt and pip, files, folders and commands of a Dockerfile become the task's environment;"
        " what is not understood refuses the task.",
        "Root, and accounts beside it; services, compose files with more than one service, GPUs and MCP servers.",
        "What the tests of a step leave, and what still runs when it ends: the next step begins without.",
        "Links, modes, owners and times of files: tests that look at them refuse the task.",
        "The internet beyond package indexes.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether it is a task folder, or has some within two levels, or is a registry."""
        return bool(dataset_names(source)) or (source.is_dir() and next(self.folders(source, 3), None) is not None)

    def folders(self, source: Path, depth: int = 6) -> Iterator[Path]:
        """Task folders below a folder, in order of path; links are passed over, but for the one that the user names."""
        if names := dataset_names(source):
            raise BadInput(
                f"{source} is a registry of {len(names)} data sets.",
                f"Name one with --dataset, for example {join_names(names[:_MOST_SHOWN])}.",
            )
        seen = 0
        waiting = [(source, depth)]
        while waiting:
            folder, left = waiting.pop()
            seen += 1
            if (folder.is_symlink() and folder != source) or not folder.is_dir() or seen > _MOST_FOLDERS:
                continue
            found = _is_task(folder)
            if found:
                yield folder
            if left and (_is_harbors(folder) or not found):
                inner = (item for item in sorted(folder.iterdir(), reverse=True) if item.name[0] != ".")
                waiting += [(item, left - 1) for item in inner if not (found and item.name in PARTS)]

    def no_task(self, folder: Path) -> ImportRefusal | None:
        """Why a folder is none of Harbor's tasks; None where it may be one."""
        return refusal_of_harbor(folder)

    def convert(self, folder: Path) -> StateTask:
        """Understand one task folder.

        Raises:
            ImportRefusal: Something of it is not understood; says what, and on which line.
        """
        check_plain(folder)
        return _harbor(folder) if _is_harbors(folder) else _first(folder)


def _is_task(folder: Path) -> bool:
    first = (folder / "task.yaml").is_file() and ((folder / "Dockerfile").is_file() or (folder / "tests").is_dir())
    return first or _is_harbors(folder)


def _is_harbors(folder: Path) -> bool:
    """Whether it is a task of Harbor, which passes over the task.yaml of terminal-bench 1 beside its own file."""
    return (folder / "task.toml").is_file() and (folder / "environment").is_dir()


def _harbor(folder: Path) -> StateTask:
    settings = read_settings(folder)
    if not (folder / "environment/Dockerfile").is_file():
        raise ImportRefusal("It has an image without a Dockerfile.", "task.toml", 0, settings.image)
    image = read_image(folder / "environment/Dockerfile", folder / "environment", "environment/Dockerfile",
                       wider=folder if settings.image else None)  # fmt: skip
    _compose(folder / "environment", image)
    if settings.work:
        image.work = absolute_place(image.work, settings.work)
        image.folders.append(image.work)
    if settings.user:
        image.account = settings.user.removeprefix("root")
    if settings.health:
        image.build.append(f"cd {shlex.quote(image.work)} && ({in_environment(settings.health)})")
    brings_image = settings.separate and (folder / "tests/Dockerfile").is_file()
    before, laid = "", ""
    if brings_image:
        before, laid = add_image_of_tests(image, folder, settings.artifacts, stays=bool(settings.work))
    if settings.steps:
        return _with_steps(folder, settings, image)
    step = settings.step
    instruction = task_text(step, "instruction.md")
    if not (step / "tests/test.sh").is_file():
        raise ImportRefusal("It has no tests/test.sh that can be read.", "tests/test.sh")
    if image.work == "/":
        image.work = _named_folder(instruction, task_text(step / "tests", "test.sh"))
    if settings.variables.keys:
        check_asked_models(step / "tests")
    tests = read_tests(
        step / "tests", step / "tests/test.sh", image, rewards=True, asks=bool(settings.variables.keys),
        own=settings.variables.exports() + laid, before=before,
    )  # fmt: skip
    solution = next((each for each in (step / "solution", folder / "solution") if each.is_dir()), folder / "solution")
    task = _task(
        folder, instruction, image, tests, settings, settings.artifacts, tests_folder=step / "tests",
        solution=solution if (solution / "solve.sh").is_file() else None,
    )  # fmt: skip
    return _with_artifacts(task, settings.artifacts) if settings.separate else task


def _with_artifacts(task: StateTask, artifacts: list[str]) -> StateTask:
    """Harbor takes artifacts alone into a container of the tests' own, and what lies at the conventional place."""
    left = {absolute_place(task.work, path) for path in artifacts}
    places = {*task.places, "/logs/artifacts"}
    known = {path for path in left if any(f"{path}/".startswith(f"{place}/") for place in places)}
    known |= {place for place in places if any(place.startswith(f"{path.rstrip('/')}/") for path in left)}
    return replace(task, places=tuple(sorted(places)), artifacts=tuple(sorted({*known, "/logs/artifacts"})))


def _with_steps(folder: Path, settings: HarborSettings, image: ImageRecipe) -> StateTask:
    if settings.separate:
        raise ImportRefusal("Its steps have tests in an image of their own.", "task.toml")
    instruction = "\n\n".join(task_text(step.place, "instruction.md") for step in settings.steps)
    if image.work == "/":
        image.work = _named_folder(instruction, "")
    found = [read_step(step, folder, image, settings.variables) for step in settings.steps]
    steps = [parts for parts, _ in found]
    solved = [task_text(parts.solution, "solve.sh") for parts in steps if parts.solution]
    task = _task(
        folder, "\n".join((instruction, *solved)), image, join_tests([tests for _, tests in found], steps), settings,
        [*settings.artifacts, *(path for step in settings.steps for path in step.artifacts)],
        tests_folder=folder / "tests", solution=None,
    )  # fmt: skip
    return replace(task, steps=tuple(steps), reward=settings.reward)


def _named_folder(instruction: str, script: str) -> str:
    """Where to stand in place of `/`, which no agent can change: in the first folder that the instruction names.

    Scripts that follow the usual template give no reward to who stands in `/`: such a task passes nobody.
    """
    if GUARDS_ROOT.search(script):
        return "/"
    places = state_places((), absolute_paths(instruction), ())
    return next((place for path in absolute_paths(instruction) for place in places if path.startswith(place)), "/")


def _compose(folder: Path, image: ImageRecipe) -> None:
    """Take what the compose file of a folder mounts; one service that does nothing is what a sandbox is anyway.

    Both tools open `docker-compose.yaml` alone: a file by another name is like any other.
    """
    name = "docker-compose.yaml"
    if (folder / name).is_file():
        mount_files(task_text(folder, name), name, folder, image)


def _first(folder: Path) -> StateTask:
    """A task of terminal-bench 1."""
    try:
        about = load_yaml(task_text(folder, "task.yaml"))
    except ImportError as error:
        why = "Tasks of terminal-bench 1 are YAML, which needs the extra `interchange`."
        raise ImportRefusal(why, "task.yaml") from error
    except ValueError as error:
        raise ImportRefusal("Its task.yaml cannot be read.", "task.yaml") from error
    instruction = _told_first(about)
    if about.get("parser_name", "pytest") != "pytest":
        raise ImportRefusal("Its results are read by a program of its own.", "task.yaml", 0, str(about["parser_name"]))
    image = read_image(folder / "Dockerfile", folder, "Dockerfile")
    _compose(folder, image)
    if image.work == "/":  # images of terminal-bench stand in /app
        image.work = "/app"
        image.files = {f"/app{place}" if place.count("/") == 1 else place: file for place, file in image.files.items()}
    script = folder / "run-tests.sh"
    tests = read_tests(folder / "tests", script if script.is_file() else None, image, rewards=False)
    solution = folder / "solution.sh"
    terms = TaskTerms(
        seconds=positive_seconds(about.get("max_agent_timeout_sec"), 900.0),
        test_seconds=positive_seconds(about.get("max_test_timeout_sec"), 240.0),
        memory=2 * 2**30,
        internet=True,
        category=printable(str(about.get("category") or "Software"), 80),
        variables=TaskVariables(),
    )
    return _task(
        folder, instruction, image, tests, terms, [], tests_folder=folder / "tests",
        solution=solution if solution.is_file() else None,
    )  # fmt: skip


def _told_first(about: Any) -> str:
    """The instruction of a task.yaml: `instruction`, or before that the description whose key is `base`."""
    instruction = about.get("instruction") if isinstance(about, dict) else None
    several = about.get("descriptions") if isinstance(about, dict) else None
    for each in several if isinstance(several, list) else ():
        if instruction is None and isinstance(each, dict) and each.get("key") == "base":
            instruction = each.get("description")
    if not isinstance(instruction, str):
        raise ImportRefusal("Its task.yaml has no instruction.", "task.yaml")
    return instruction


def _task(
    folder: Path, instruction: str, image: ImageRecipe, tests: TaskTests, terms: TaskTerms, artifacts: list[str], *,
    tests_folder: Path, solution: Path | None,
) -> StateTask:  # fmt: skip
    if image.work == "/":
        raise ImportRefusal("It works in the root folder.", "environment/Dockerfile")
    _check_work(instruction)
    image.pip += [wanted for wanted in tests.pip if package_of(wanted) not in set(map(package_of, image.pip))]
    image.apt += tests.apt
    script = solution if solution is None or solution.is_file() else solution / "solve.sh"
    solved = task_text(script.parent, script.name) if script else ""
    tests = publish_judges(tests, image, instruction, solution)
    if image.git:
        check_without_history(instruction, tests.text, solved)
    check_agents_unnamed(image.agents, (instruction, tests.text, solved), "environment/Dockerfile")
    if image.account:
        check_working_account(image.account, image, (instruction, tests.text, solved), "environment/Dockerfile")
    folders = [image.work, *image.folders, *(str(PurePosixPath(file).parent) for file in image.files)]
    texts = absolute_paths("\n".join((instruction, tests.text, solved, *artifacts, *image.build)))
    moved = moved_places(image.build)
    places = state_places(folders, texts, [moved_text(place, moved) for place in tests.looked_at])
    if image.git:
        image.build.append(without_history(places))
    for user in image.users:
        if re.search(rf"(?<![\w/.-]){re.escape(user)}(?![\w/-])", "\n".join((instruction, tests.text, solved))):
            raise ImportRefusal("Its Dockerfile makes users, and a sandbox has one.", "environment/Dockerfile", 0, user)
    if "HOME" not in image.variables and "/root" in places:
        image.variables["HOME"] = "/root"
    first = next((line.strip("# ").strip() for line in instruction.splitlines() if line.strip("# ").strip()), "")
    return StateTask(
        name=folder.name, title=printable(first, 100) if len(first) >= 3 else f"Task {folder.name}",
        instruction=instruction, recipe=image, work=image.work, places=places, tests=tests_folder,
        fail_to_pass=tests.ids, solution=solution, seconds=terms.seconds, test_seconds=terms.test_seconds,
        memory=terms.memory, internet=terms.internet, category=terms.category,
        origin=f"task {printable(folder.name, 200)} of Harbor or terminal-bench", variables=terms.variables.values,
        keys=terms.variables.keys, optional_keys=tuple(terms.variables.optional),
        runner=tests.runner, test_files=tests.files, moved=moved,
    )  # fmt: skip


def _check_work(instruction: str) -> None:
    """Refuse a task whose work is to install packages with one program or another: none of them cross to its tests."""
    lines = [line for line in instruction.splitlines() if not _NEGATED.search(line)]
    if len({found[1] for line in lines for found in _INSTALLS.finditer(line)}) > 1:
        why = "Its work is to install packages into the machine, and those do not cross to its tests."
        raise ImportRefusal(why, "instruction.md")
