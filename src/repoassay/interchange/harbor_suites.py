"""Tasks of Harbor, and of terminal-bench 1, as state tasks: a folder a task, or folders of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.errors import BadInput
from repoassay.interchange.compose_file import mount_files
from repoassay.interchange.harbor_registry import dataset_names
from repoassay.interchange.harbor_tests import TaskTests, read_tests, task_text
from repoassay.interchange.hidden_test_text import absolute_paths
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.image_recipe import read_image
from repoassay.interchange.state_task import StateTask, state_places
from repoassay.tasks import parse_toml
from repoassay.text import join_names, printable

__all__ = ["HarborTasks"]

_MOST_FOLDERS = 200_000
_MOST_SHOWN = 12
_MOST_FILES = 50_000
_POINTER, _LARGEST_POINTER = b"version https://git-lfs.github.com/spec/", 1024


class HarborTasks:
    """Task folders of Harbor (`task.toml`) and of terminal-bench 1 (`task.yaml`), below one folder or more."""

    title = "tasks of Harbor and terminal-bench 1: folders with task.toml or task.yaml"
    gives = "suite"
    version = "task.toml 1.0 to 1.4, registry.json; task.yaml of terminal-bench 1"
    lost = (
        "Images: packages by apt and pip, files, folders and commands of a Dockerfile become the task's environment;"
        " what is not understood refuses the task.",
        "Root, and accounts beside it; services, compose files with more than one service, GPUs, MCP servers and"
        " several steps.",
        "Links, modes, owners and times of files: tests that look at them refuse the task.",
        "The internet beyond package indexes.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether it is a task folder, or has some within two levels, or is a registry."""
        return bool(dataset_names(source)) or (source.is_dir() and next(self.folders(source, 3), None) is not None)

    def folders(self, source: Path, depth: int = 6) -> Iterator[Path]:
        """Task folders below a folder, in order of path; links are passed over."""
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
            if folder.is_symlink() or not folder.is_dir() or seen > _MOST_FOLDERS:
                continue
            if _is_task(folder):
                yield folder
            elif left:
                waiting += [(item, left - 1) for item in sorted(folder.iterdir(), reverse=True) if item.name[0] != "."]

    def convert(self, folder: Path) -> StateTask:
        """Understand one task folder.

        Raises:
            ImportRefusal: Something of it is not understood; says what, and on which line.
        """
        _check_plain(folder)
        return _first(folder) if (folder / "task.yaml").is_file() else _harbor(folder)


def _check_plain(folder: Path) -> None:
    """Refuse links: one to a folder of this machine would bring its files into the task."""
    seen = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            seen += 1
            if seen > _MOST_FILES:
                raise ImportRefusal("Its files are more than a task may have.", "environment")
            path = Path(place, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                where = printable(path.relative_to(folder).as_posix(), 200)
                raise ImportRefusal("Its files hold a link or something else that is no plain file.", where)
            if name in files and path.stat().st_size < _LARGEST_POINTER and _is_pointer(path):
                where = printable(path.relative_to(folder).as_posix(), 200)
                raise ImportRefusal("It has a file that lies in Git LFS, of which only the pointer is here.", where)


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_POINTER)) == _POINTER


def _is_task(folder: Path) -> bool:
    if (folder / "task.yaml").is_file():
        return (folder / "Dockerfile").is_file() or (folder / "tests").is_dir()
    return (folder / "task.toml").is_file() and (folder / "environment").is_dir()


def _harbor(folder: Path) -> StateTask:
    about = parse_toml(task_text(folder, "task.toml").encode(), "task.toml")
    if not isinstance(about, dict):
        raise ImportRefusal("Its task.toml cannot be read.", "task.toml", 0, about.what)
    _check(about, folder)
    step = _only_step(about, folder)
    instruction = task_text(step, "instruction.md")
    verifier, agent, environment = (_table(about, name) for name in ("verifier", "agent", "environment"))
    named = bool(environment.get("docker_image"))
    image = read_image(folder / "environment/Dockerfile", folder / "environment", "environment/Dockerfile",
                       wider=folder if named else None)  # fmt: skip
    for place in (folder / "environment", folder):
        _compose(place, image)
    if (folder / "tests/Dockerfile").is_file() and verifier.get("environment_mode") == "separate":
        image.pip += read_image(folder / "tests/Dockerfile", folder / "tests", "tests/Dockerfile").pip
    if not (step / "tests/test.sh").is_file():
        raise ImportRefusal("It has no tests/test.sh that can be read.", "tests/test.sh")
    tests = read_tests(step / "tests", step / "tests/test.sh", image.work, image.files, rewards=True)
    solution = next((each for each in (step / "solution", folder / "solution") if each.is_dir()), folder / "solution")
    artifacts = [str(item) for item in about.get("artifacts", []) if isinstance(item, str)]
    memory = environment.get("memory_mb")
    metadata = _table(about, "metadata")
    variables = _variables(environment.get("env"), "environment.env") | _variables(verifier.get("env"), "verifier.env")
    return _task(
        folder, instruction, image, tests, artifacts,
        tests_folder=step / "tests",
        solution=solution if (solution / "solve.sh").is_file() else None,
        seconds=_seconds(agent.get("timeout_sec"), 900.0),
        test_seconds=_seconds(verifier.get("timeout_sec"), 240.0),
        memory=int(memory) * 2**20 if isinstance(memory, int) and 0 < memory < 2**20 else 2 * 2**30,
        internet=environment.get("allow_internet") is not False,
        category=printable(str(metadata.get("category") or metadata.get("domain") or "Software"), 80),
        variables=variables,
    )  # fmt: skip


def _only_step(about: dict[str, Any], folder: Path) -> Path:
    """The folder of instruction and tests: the task's, or that of its one step, whose settings go before the task's.

    Several steps share a workspace, and the agent meets the next instruction when the last one was judged: what it was
    told and what it had seen by then are part of the task, and no attempt here stops in its middle.
    """
    steps = about.get("steps") or []
    if not steps and not (folder / "steps").is_dir():
        return folder
    step = steps[0] if isinstance(steps, list) and len(steps) == 1 and isinstance(steps[0], dict) else {}
    name = str(step.get("name") or "")
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        found = [match.start() for match in re.finditer(r"(?m)^\s*\[\[steps\]\]", task_text(folder, "task.toml"))]
        line = task_text(folder, "task.toml").count("\n", 0, found[1]) + 1 if len(found) > 1 else 0
        raise ImportRefusal("It has several steps, each with a verdict of its own.", "task.toml", line, "steps")
    place = folder / "steps" / name
    for key in ("healthcheck", "network", "environment"):
        if step.get(key):
            raise ImportRefusal("Its step has settings that are not read.", "task.toml", 0, f"steps.{key}")
    if (place / "workdir").exists() or (folder / "tests").exists():
        where = f"steps/{name}/workdir" if (place / "workdir").exists() else "tests"
        raise ImportRefusal("Its step begins with files or tests beside its own.", where)
    for key in ("agent", "verifier"):
        about[key] = {**_table(about, key), **_table(step, key)}
    return place


def _check(about: dict[str, Any], folder: Path) -> None:
    """Refuse what task.toml asks for and no sandbox has."""
    version = str(about.get("schema_version") or about.get("version") or "1.0")
    if not re.fullmatch(r"1\.[0-4](\.\d+)?", version):
        raise ImportRefusal("Its task.toml has a version that is not read.", "task.toml", 0, version)
    environment = _table(about, "environment")
    for key, why in (("gpus", "It needs a GPU."), ("mcp_servers", "It needs an MCP server."),
                     ("healthcheck", "It waits for a service to be well."), ("skills_dir", "It brings skills."),
                     ("tpu", "It needs a TPU.")):  # fmt: skip
        if environment.get(key):
            raise ImportRefusal(why, "task.toml", 0, f"environment.{key}")
    if _table(about, "agent").get("user") not in (None, "root", 0):
        why = "Its agent works as an account beside root, whose rights a sandbox has not."
        raise ImportRefusal(why, "task.toml", 0, f"agent.user = {_table(about, 'agent')['user']}")
    if str(environment.get("os", "linux")).lower() != "linux":
        raise ImportRefusal("It needs Windows.", "task.toml", 0, "environment.os")
    if not (folder / "environment/Dockerfile").is_file():
        raise ImportRefusal(
            "It has an image without a Dockerfile.", "task.toml", 0, str(environment.get("docker_image"))
        )


def _compose(folder: Path, image: ImageRecipe) -> None:
    """Take what the compose files of a folder mount; one service that does nothing is what a sandbox is anyway."""
    for name in ("docker-compose.yaml", "docker-compose.yml", "compose.yaml"):
        if (folder / name).is_file():
            mount_files(task_text(folder, name), name, folder, image)


def _first(folder: Path) -> StateTask:
    """A task of terminal-bench 1."""
    try:
        import yaml
    except ImportError as error:
        why = "Tasks of terminal-bench 1 are YAML, which needs the extra `interchange`."
        raise ImportRefusal(why, "task.yaml") from error
    try:
        about = yaml.safe_load(task_text(folder, "task.yaml"))
    except (yaml.YAMLError, RecursionError) as error:
        raise ImportRefusal("Its task.yaml cannot be read.", "task.yaml") from error
    if not isinstance(about, dict) or not isinstance(about.get("instruction"), str):
        raise ImportRefusal("Its task.yaml has no instruction.", "task.yaml")
    if about.get("parser_name", "pytest") != "pytest":
        raise ImportRefusal("Its results are read by a program of its own.", "task.yaml", 0, str(about["parser_name"]))
    image = read_image(folder / "Dockerfile", folder, "Dockerfile")
    _compose(folder, image)
    if image.work == "/":  # images of terminal-bench stand in /app
        image.work = "/app"
        image.files = {f"/app{place}" if place.count("/") == 1 else place: file for place, file in image.files.items()}
    script = folder / "run-tests.sh"
    tests = read_tests(folder / "tests", script if script.is_file() else None, image.work, image.files, rewards=False)
    solution = folder / "solution.sh"
    return _task(
        folder, about["instruction"], image, tests, [],
        tests_folder=folder / "tests",
        solution=solution if solution.is_file() else None,
        seconds=_seconds(about.get("max_agent_timeout_sec"), 900.0),
        test_seconds=_seconds(about.get("max_test_timeout_sec"), 240.0),
        memory=2 * 2**30,
        internet=True,
        category=printable(str(about.get("category") or "Software"), 80),
        variables={},
    )  # fmt: skip


def _task(
    folder: Path, instruction: str, image: ImageRecipe, tests: TaskTests, artifacts: list[str], *,
    tests_folder: Path, solution: Path | None, seconds: float, test_seconds: float, memory: int, internet: bool,
    category: str, variables: dict[str, str],
) -> StateTask:  # fmt: skip
    if image.work == "/":
        raise ImportRefusal("It works in the root folder.", "environment/Dockerfile")
    image.pip += [wanted for wanted in tests.pip if _name(wanted) not in set(map(_name, image.pip))]
    image.apt += tests.apt
    asked = solution if solution is None or solution.is_file() else solution / "solve.sh"
    solved = task_text(asked.parent, asked.name) if asked else ""
    folders = [image.work, *image.folders, *(str(PurePosixPath(file).parent) for file in image.files)]
    texts = absolute_paths("\n".join((instruction, tests.text, solved, *artifacts, *image.build)))
    places = state_places(folders, texts, tests.looked_at)
    if "HOME" not in image.variables and "/root" in places:
        image.variables["HOME"] = "/root"
    first = next((line.strip("# ").strip() for line in instruction.splitlines() if line.strip("# ").strip()), "")
    return StateTask(
        name=folder.name, title=printable(first, 100) if len(first) >= 3 else f"Task {folder.name}",
        instruction=instruction, recipe=image, work=image.work, places=places, tests=tests_folder,
        fail_to_pass=tests.ids, solution=solution, seconds=seconds, test_seconds=test_seconds, memory=memory,
        internet=internet, origin=f"task {printable(folder.name, 200)} of Harbor or terminal-bench", category=category,
        variables=variables, runner=tests.runner, test_files=tests.files,
    )  # fmt: skip


def _name(wanted: str) -> str:
    return re.split(r"[\s\[=<>~!;@]", wanted, maxsplit=1)[0].lower().replace("_", "-")


def _variables(given: object, key: str) -> dict[str, str]:
    """Variables of task.toml; those that are taken from the user's own environment are refused."""
    found = {}
    for name, value in (given if isinstance(given, dict) else {}).items():
        if "${" in str(value) or not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", str(name)):
            raise ImportRefusal("It takes a variable, such as a key, from the environment of its user.", "task.toml", 0,
                                f"{key}.{name}")  # fmt: skip
        found[str(name)] = str(value)
    return found


def _table(about: dict[str, Any], name: str) -> dict[str, Any]:
    found = about.get(name)
    return found if isinstance(found, dict) else {}


def _seconds(value: object, otherwise: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 7 * 86400
    return float(value) if good else otherwise  # type: ignore[arg-type]
