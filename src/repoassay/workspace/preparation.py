"""Laying a task out: checkout and environment from the cache, and the mounts an agent or a grader works on.

What an agent sees::

    /workspace/repo          the repository; copy-on-write
    /workspace/inputs        what it is given; read-only
    /workspace/output        where it leaves files (deliverable tasks) or PULL_REQUEST.md (pull-request tasks); empty
    /workspace/instruction.md
    /workspace/contributing.md   what a contribution must keep to, where the task has it (pull-request tasks)
    /env                     the task's Python environment; read-only, first on the path

In a sandbox that runs tasks in their images the repository is at /testbed, and /env leads to the image's environment.

Where a task has build commands, repository and environment are those that the commands left. A state task shows, in
place of all below /workspace, the folders it names at their own absolute paths, copy-on-write, and
/run/task/instruction.md.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from repoassay.errors import Unavailable
from repoassay.sandbox import Access, Cache, Mount, Sandbox, TaskImageSandbox, image_environment, settle
from repoassay.tasks import TaskFolder
from repoassay.types import IN_REPOSITORY, FileEdit, TaskKind
from repoassay.workspace.builds import build_repository
from repoassay.workspace.checkouts import checkout
from repoassay.workspace.environment import build_environment
from repoassay.workspace.image_layout import repository_place, take_image
from repoassay.workspace.state_places import check_interpreter, make_folder, state_mounts
from repoassay.workspace.variables import environment_variables

__all__ = ["BASE_BRANCH", "DESCRIPTION", "PreparedTask", "bare_layout", "lay_out", "rules_place"]

BASE_BRANCH = "main"
"""The branch that holds a checkout's one commit."""
DESCRIPTION = "PULL_REQUEST.md"
"""Name of the file in the output folder that says what a pull request is about."""
_RULES = "/workspace/contributing.md"
"""Where an agent finds contribution rules that are not the repository's own."""
_INSTRUCTION = "/run/task/instruction.md"
_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Contributor"), ("EMAIL", "contributor@localhost"))
}
"""Who an agent's commits are by, whatever agent it is."""


@dataclass(frozen=True, slots=True)
class PreparedTask:
    """A task ready to be worked on: host folders of its base tree, inputs and environment, all read-only."""

    folder: TaskFolder
    base: Path
    inputs: Path
    environment: Path

    @property
    def work(self) -> str:
        """Where an agent stands."""
        state = self.folder.task.state
        return state.work if state else "/workspace"

    @property
    def in_image(self) -> bool:
        """Whether repository and environment are those of the task's own image."""
        return image_environment(self.environment) is not None

    @property
    def repository(self) -> str:
        """Where an agent finds the repository; of a state task, where it stands."""
        state = self.folder.task.state
        return state.work if state else repository_place(self.environment)

    @property
    def instruction(self) -> str:
        """Where an agent finds the instruction."""
        return _INSTRUCTION if self.folder.task.state else "/workspace/instruction.md"

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What an agent sees of the host."""
        if self.folder.task.state:
            return (*state_mounts(self.folder.task.state, self.base), Mount(self.environment, "/env"))
        return (
            Mount(self.base, self.repository, Access.COPY_ON_WRITE),
            Mount(self.inputs, "/workspace/inputs"),
            Mount(self.environment, "/env"),
        )

    @property
    def scratch(self) -> tuple[str, ...]:
        """Writable folders of an agent besides its home."""
        if self.folder.task.state:
            return ()
        output = ("/workspace/output",) if self.folder.task.kind is not TaskKind.EDIT else ()
        return ("/workspace", *output)

    @property
    def edits(self) -> dict[str, FileEdit | None]:
        """Files put into the workspace before the agent starts."""
        files = {self.instruction: FileEdit(self.folder.instruction.encode())}
        rules = self.folder.task.rules
        if rules and not _own(rules):
            files[_RULES] = FileEdit((self.folder.path / rules).read_bytes())
        return dict(files)

    @property
    def env(self) -> dict[str, str]:
        """Environment variables of an agent."""
        variables = environment_variables(self.folder.task, self.environment)
        # Programs of a state run as they would anywhere, and an image's environment knows where its repository is.
        if self.folder.task.state or self.in_image:
            return {**variables, "PYTHONDONTWRITEBYTECODE": "1", "REPOASSAY_WORKSPACE": self.work}
        roots = [str(PurePosixPath("/workspace/repo", part)) for part in self.folder.task.environment.path]
        return {
            **variables,
            "PYTHONPATH": ":".join(roots),
            "PYTHONDONTWRITEBYTECODE": "1",
            "REPOASSAY_WORKSPACE": "/workspace",
            **(_IDENTITY if self.folder.task.kind is TaskKind.PULL_REQUEST else {}),
        }


def rules_place(rules: str) -> str:
    """Where in the workspace an agent finds the contribution rules that a task names; empty where it names none."""
    if not rules:
        return ""
    return str(PurePosixPath("/workspace/repo", rules.removeprefix(IN_REPOSITORY))) if _own(rules) else _RULES


def _own(rules: str) -> bool:
    return rules.startswith(IN_REPOSITORY)


def lay_out(
    folder: TaskFolder, repositories: Path | None, cache: Cache, sandbox: Sandbox, *, whole: bool = True
) -> PreparedTask:
    """Make sure of a task's checkout, inputs and environment; quick when they are in the cache.

    Without `whole`, for agents that only look at inputs and instruction, the repository is an empty folder.

    Raises:
        InfraFault: When one of them cannot be had.
        Unavailable: When the task has no image and is to be run in it, or has nothing else.
    """

    def stage(part: Path) -> None:
        if folder.inputs.is_dir():
            shutil.copytree(folder.inputs, part, dirs_exist_ok=True)
        settle(part)  # readable whatever the modes of the task folder

    inputs = cache.entry("inputs", folder.digest[:32], stage)
    if isinstance(sandbox, TaskImageSandbox):
        base, environment = take_image(folder, cache, sandbox)
        return PreparedTask(folder, base, inputs, environment)
    if folder.task.environment.lies_in_image_alone:
        raise Unavailable(
            f"The task {folder.task.id} can be run in its image alone, {folder.task.environment.image}.",
            "Give --isolation podman@{image} or docker@{image}.",
        )
    base = checkout(folder, repositories, cache) if whole else cache.entry("checkouts", "empty", settle)
    check_interpreter(folder.task)
    environment = build_environment(folder, cache, sandbox)
    if whole and folder.task.environment.build:
        base, environment = build_repository(folder, base, environment, cache, sandbox)
    return PreparedTask(folder, base, inputs, environment)


def bare_layout(layout: PreparedTask, cache: Cache) -> PreparedTask:
    """The same task with none of its files: an empty repository, or a state task's folders, which are empty."""
    state = layout.folder.task.state
    names = (*state.places, *state.folders, state.work) if state else ()

    def stage(part: Path) -> None:
        for name in names:
            make_folder(part, name)
        settle(part)

    key = f"empty-{hashlib.sha256(chr(0).join(names).encode()).hexdigest()[:32]}" if names else "empty"
    empty = cache.entry("checkouts", key, stage)
    return replace(layout, base=empty, inputs=cache.entry("checkouts", "empty", settle))
