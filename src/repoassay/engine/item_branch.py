"""A change under review as a branch in a folder, and the task's sandbox to run its tests in.

Nothing of the change runs on this machine outside the sandbox: git commits it with no hooks, filters or configuration
but ours, the patch reader refuses links, `.git` and paths that lead away, and a folder that git would take for a
repository of its own, whose configuration may name programs, is refused here.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.errors import BadInput
from repoassay.sandbox import Cache, Command, Completed, Sandbox, SandboxSession, SandboxSetup
from repoassay.signals import module
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Limits
from repoassay.workspace import PreparedTask, checkout, commit_tree, lay_out, run_git

__all__ = ["ItemBranch", "ItemSandbox", "branch_of_item", "run_line", "sandbox_of_item", "write_branch"]

BRANCH = "change"
_REPOSITORY = "/workspace/repo"
_WHERE = "/tmp/.where"  # noqa: S108 - in the sandbox, whose folder it is alone
_LINE = f'cd -- "$0" && eval "$1"; code=$?; pwd > {_WHERE}; exit $code'
_LIMITS = Limits(seconds=3600, memory=4 * 2**30, disk=4 * 2**30, processes=1024, output=2**20)


@dataclass(frozen=True, slots=True)
class ItemBranch:
    """What a change makes of a task's repository: `edits` by relative path, None for what is deleted."""

    folder: TaskFolder
    repositories: Path | None
    base: Path
    edits: Mapping[str, FileEdit | None]


def branch_of_item(folder: TaskFolder, repositories: Path | None, diff: str, cache: Cache) -> ItemBranch:
    """Apply a change to the repository of its task, without writing anything.

    Args:
        folder: The task.
        repositories: Where the suite's bundled repositories lie.
        diff: The change, which nobody trusts.
        cache: Where checkouts are kept.

    Raises:
        BadInput: When the change does not apply, or holds what is not to be written to a disk.
        InfraFault: When the repository cannot be had.
    """
    base = checkout(folder, repositories, cache)
    try:
        edits = apply_patch(read_patch(diff.encode("utf-8", "surrogateescape")), base).edits
    except PatchError as error:
        raise BadInput(f"The change of this item cannot be checked out: {error}.", "Review it as a diff.") from None
    if repository := _repository_within(base, edits):
        raise BadInput(
            f"The change of this item makes {repository!r} a git repository within the repository, whose settings"
            " could run programs.", "Review it as a diff.",
        )  # fmt: skip
    return ItemBranch(folder, repositories, base, edits)


def write_branch(branch: ItemBranch, into: Path) -> None:
    """Write the repository with two commits: `main` is the base, and `change`, which is checked out, has the change.

    Raises:
        BadInput: When something is at `into` already.
    """
    if into.exists() or into.is_symlink():
        raise BadInput(f"{into} is there already.", "Name a folder that is not.")
    into.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(branch.base, into, symlinks=True, ignore=_no_git)
    for path in (into, *into.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else path.stat().st_mode | 0o644)
    commit_tree(into)
    for name, edit in branch.edits.items():
        _put(into, name, edit)
    run_git(into, "checkout", "--quiet", "-b", BRANCH)
    run_git(into, "add", "--all", "--force", ".")
    run_git(into, "commit", "--quiet", "--allow-empty", "--message=The change under review")


@dataclass(frozen=True, slots=True)
class ItemSandbox:
    """The task's environment with the change applied; what is written there is gone with the sandbox."""

    layout: PreparedTask
    edits: Mapping[str, FileEdit | None]
    sandbox: Sandbox

    def test(self, command: Sequence[str] = ()) -> Completed:
        """Run a command in the repository, by default all of its tests by pytest."""
        tool = None if command else module("pytest", self.layout.environment, alone=False)
        setup = self._setup()
        argv = (*tool.argv, "-p", "no:cacheprovider") if tool else tuple(command)
        env = dict(setup.env)
        if tool and tool.imports:
            env["PYTHONPATH"] = f"{env.get('PYTHONPATH', '')}:{tool.imports}".lstrip(":")
        return self.sandbox.run(
            Command(
                argv=argv, env=env, cwd=setup.cwd, mounts=(*setup.mounts, *(tool.mounts if tool else ())),
                scratch=setup.scratch, edits=setup.edits, limits=setup.limits,
            )
        )  # fmt: skip

    def open(self) -> SandboxSession:
        """Open a session to run lines in with `run_line`."""
        return self.sandbox.open(self._setup())

    def _setup(self) -> SandboxSetup:
        edits = {f"{_REPOSITORY}/{name}": edit for name, edit in self.edits.items()}
        return SandboxSetup(
            env=self.layout.env, cwd=_REPOSITORY, mounts=self.layout.mounts, scratch=self.layout.scratch,
            edits={**self.layout.edits, **edits}, limits=_LIMITS,
        )  # fmt: skip


def sandbox_of_item(branch: ItemBranch, cache: Cache, sandbox: Sandbox) -> ItemSandbox:
    """Prepare a change's task as its agent had it: no hidden test, no solution.

    Raises:
        InfraFault: When repository or environment cannot be had.
    """
    layout = lay_out(branch.folder, branch.repositories, cache, sandbox)
    return ItemSandbox(layout, branch.edits, sandbox)


def run_line(session: SandboxSession, line: str, folder: str = _REPOSITORY) -> tuple[Completed, str]:
    """Run a line of shell in a session from a folder inside; returns what it did and the folder it ended in."""
    done = session.exec(["sh", "-c", _LINE, folder, line])
    try:
        ended = session.read(_WHERE, 4096).decode("utf-8", "replace").rstrip("\n")
    except OSError:
        ended = folder
    return done, ended if ended.startswith("/") else folder


def _put(into: Path, name: str, edit: FileEdit | None) -> None:
    place = into / name
    above = place.parent
    # The base may have a link where the change writes below it; the patch reader refuses that, and so does this.
    if not above.resolve().is_relative_to(into.resolve()):
        raise BadInput(f"The change of this item writes to {name!r}, through a link.", "Review it as a diff.")
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    else:
        place.unlink(missing_ok=True)
    if edit is None:
        return
    above.mkdir(parents=True, exist_ok=True)
    place.write_bytes(edit.content)
    place.chmod(0o755 if edit.executable else 0o644)


def _repository_within(base: Path, edits: Mapping[str, FileEdit | None]) -> str:
    """A folder that a change touches and that git would take for a repository; empty for none.

    Git asks for `HEAD`, `objects` and `refs`, the last two perhaps elsewhere, as `commondir` says. Names are compared
    without case, for file systems that do.
    """
    written = [PurePosixPath(name) for name, edit in edits.items() if edit is not None]
    for folder in dict.fromkeys(parent for path in written for parent in path.parents):
        inside = {path.relative_to(folder).parts[0].lower() for path in written if path.is_relative_to(folder)}
        place = base / folder
        if place.is_dir() and not place.is_symlink():
            inside |= {each.name.lower() for each in place.iterdir()} - {".git"}
        if "head" in inside and ("commondir" in inside or {"objects", "refs"} <= inside):
            return str(folder)
    return ""


def _no_git(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower() == ".git"]
