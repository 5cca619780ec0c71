"""A suite's edit tasks as task folders of Harbor, whose container has the repository at the same place as ours.

Harbor's verifier works in the container that the agent has worked in and believes what it prints there: the same
tests decide, and nothing of how a verdict of ours is assured goes along.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from repoassay.agents import render_prompt
from repoassay.errors import BadInput
from repoassay.report import ExportSource
from repoassay.sandbox import Cache
from repoassay.tasks import TaskFolder
from repoassay.types import Environment, TaskKind
from repoassay.workspace import checkout

__all__ = ["HarborTaskFolders"]

_REPOSITORY = "/workspace/repo"
_HIDDEN = "/tests/hidden"
_CHECK = Path(__file__).with_name("harbor_check.py")
_TEST = f"""\
#!/bin/bash
# The hidden tests of the task; the reward is 1 when every one of tests/ids.json has passed.
mkdir -p /logs/verifier
if python /tests/check.py /tests/ids.json {{place}} {_HIDDEN}; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
_SOLVE = f"""\
#!/bin/bash
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd {_REPOSITORY}
git apply "$here/changes.diff"
"""


class HarborTaskFolders:
    """A folder a task; `left_out` says of the others why, once the files are made."""

    title = "a suite's edit tasks as task folders of Harbor"
    takes = ("suite",)
    version = "task.toml 1.4"
    lost = (
        "Written: tasks other than edits with tests by pytest of their own files: those of files handed in, pull"
        " requests, states, tests in place, and in JavaScript.",
        "Written: how a verdict is assured; Harbor's verifier believes the container that the agent has worked in.",
        "Written: limits of processes and disk, and prices.",
    )

    def __init__(self) -> None:
        self.left_out: list[str] = []

    def files(self, source: ExportSource) -> Iterator[tuple[str, bytes]]:
        """Yield each file's path and content.

        Raises:
            BadInput: No task of the suite can be one of Harbor's.
            InfraFault: A repository cannot be had.
        """
        suite = source.suite
        assert suite is not None
        self.left_out = []
        for folder in suite.tasks:
            if why := _refusal(folder):
                self.left_out.append(f"{folder.task.id}: {why}")
                continue
            base = checkout(folder, suite.repositories, Cache())
            if strange := [path for path in _regular(base) if not _is_text(path)]:
                self.left_out.append(f"{folder.task.id}: its repository has a name that is no text, {strange[0]!a}.")
                continue
            for name, content in _task_files(folder, base):
                yield f"{folder.task.id}/{name}", content
        if len(self.left_out) == len(suite.tasks):
            raise BadInput(
                f"No task of {suite.suite.name} can be one of Harbor's. {self.left_out[0]}" if self.left_out else
                f"{suite.suite.name} has no tasks.",
                "Name a suite with edit tasks whose tests are run by pytest.",
            )  # fmt: skip


def _refusal(folder: TaskFolder) -> str:
    """Why a task has no counterpart; empty where it has one."""
    task, tests = folder.task, folder.task.grading.tests
    if task.kind is not TaskKind.EDIT or tests is None:
        return f"Harbor has nothing that judges tasks of the kind {task.kind.value}."
    if tests.runner != "pytest":
        return f"its tests run by the runner {tests.runner}, which needs our own."
    if task.environment.node:
        return "its environment is one of Node."
    if not (folder.solution / "changes.diff").is_file():
        return "it has no solution as a diff."
    if any("\n" in value for value in (*task.environment.variables.values(), *task.environment.path)):
        return "a variable of its environment has several lines."
    return ""


def _task_files(folder: TaskFolder, base: Path) -> Iterator[tuple[str, bytes]]:
    task, tests = folder.task, folder.task.hidden_tests
    yield "task.toml", _document(folder).encode()
    yield "instruction.md", render_prompt(folder).encode()
    yield "environment/Dockerfile", _dockerfile(folder, base).encode()
    for listed in (task.environment.requirements, task.environment.resolve):
        if listed:
            yield "environment/requirements.txt", (folder.path / listed).read_bytes()
    for path in _regular(base):
        yield f"environment/repository/{path}", (base / path).read_bytes()
    place = _REPOSITORY if tests.cwd == "repository" else "/tmp"  # noqa: S108 - of the container
    yield "tests/test.sh", _TEST.format(place=place).encode()
    yield "tests/check.py", _CHECK.read_bytes()
    yield "tests/ids.json", json.dumps(tests.all_ids, indent=1).encode()
    for path in _regular(folder.tests):
        yield f"tests/hidden/{path}", (folder.tests / path).read_bytes()
    yield "solution/solve.sh", _SOLVE.encode()
    yield "solution/changes.diff", (folder.solution / "changes.diff").read_bytes()


def _document(folder: TaskFolder) -> str:
    task, tests = folder.task, folder.task.hidden_tests
    metadata = {
        "id": task.id, "title": task.title, "category": task.domain, "repository": task.repository.name,
        "repository_licence": task.repository.licence, "licence": task.licence, "provenance": task.provenance,
        "repoassay_digest": folder.digest,
    }  # fmt: skip
    lines = ['schema_version = "1.4"', "", "[metadata]"]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in metadata.items() if value]
    lines += ["", "[agent]", f"timeout_sec = {float(task.limits.seconds)}"]
    lines += ["", "[verifier]", f"timeout_sec = {float(tests.seconds * 2)}"]
    lines += ["", "[environment]", f"memory_mb = {max(1, task.limits.memory // 2**20)}", "build_timeout_sec = 1800.0"]
    return "\n".join(lines) + "\n"


def _dockerfile(folder: TaskFolder, base: Path) -> str:
    """The recipe: Python, Debian's packages, Python's, the repository, then what builds it."""
    environment = folder.task.environment
    packages = " ".join(dict.fromkeys(("git", *environment.apt)))
    lines = [
        f"FROM python:{environment.release_line or environment.python.removeprefix('>=').strip()}-slim",
        f"RUN apt-get update && apt-get install -y --no-install-recommends {packages} && rm -rf /var/lib/apt/lists/*",
        *_packages(environment),
        f"COPY repository {_REPOSITORY}",
        *_modes(base),
    ]
    lines += [f"ENV {name}={_quoted(value)}" for name, value in environment.variables.items()]
    roots = ":".join(str(PurePosixPath(_REPOSITORY, part)) for part in environment.path)
    lines += [
        f"ENV PYTHONPATH={roots if re.fullmatch('[A-Za-z0-9_./:-]*', roots) else _quoted(roots)}",
        f"WORKDIR {_REPOSITORY}",
    ]
    lines += [f"RUN {_command(each)}" for each in environment.build]
    return "\n".join(lines) + "\n"


def _command(text: str) -> str:
    """A shell command as RUN takes it; of several lines, which RUN would read as its own, in the form of words."""
    text = text.strip()
    return json.dumps(["/bin/sh", "-c", text], ensure_ascii=False) if "\n" in text or text.startswith("[") else text


def _quoted(value: str) -> str:
    for letter in ("\\", '"', "$"):
        value = value.replace(letter, f"\\{letter}")
    return f'"{value}"'


def _packages(environment: Environment) -> list[str]:
    if environment.requirements:
        return [
            "COPY requirements.txt /tmp/requirements.txt",
            "RUN pip install --no-cache-dir -r /tmp/requirements.txt",
        ]
    if environment.resolve is None:
        return ["RUN pip install --no-cache-dir pytest"]
    words = ["uv", "pip", "install", "--system"]
    words += ["--no-deps"] if environment.frozen else []
    words += ["--exclude-newer", environment.exclude_newer] if environment.exclude_newer else []
    return [
        "COPY requirements.txt /tmp/requirements.txt",
        "RUN pip install --no-cache-dir uv",
        f"RUN {' '.join(words)} -r /tmp/requirements.txt pytest",
    ]


def _regular(place: Path) -> list[str]:
    """Plain files below a folder, without git's own, in order."""
    found = []
    for folder, names, files in os.walk(place):
        names[:] = sorted(name for name in names if name != ".git" and not Path(folder, name).is_symlink())
        paths = [Path(folder, name) for name in files]
        found += [path.relative_to(place).as_posix() for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(found)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _modes(base: Path) -> list[str]:
    """What COPY of plain files loses: which are programs, and links."""
    programs = [path for path in _regular(base) if (base / path).stat().st_mode & 0o111]
    lines = [_command(f"chmod +x {shlex.quote(f'{_REPOSITORY}/{path}')}") for path in programs]
    for folder, names, files in os.walk(base):
        names[:] = sorted(name for name in names if name != ".git")
        for path in sorted(Path(folder, name) for name in (*names, *files)):
            if path.is_symlink():
                place = shlex.quote(f"{_REPOSITORY}/{path.relative_to(base).as_posix()}")
                lines.append(_command(f"ln -s {shlex.quote(str(path.readlink()))} {place}"))
    return [f"RUN {line}" for line in lines]
