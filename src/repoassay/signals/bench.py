"""Where signals run tools: on base or head, in the sandbox, with the base's configuration laid over either."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from repoassay.errors import InfraFault
from repoassay.sandbox import Access, Command, Completed, Mount, Sandbox
from repoassay.signals.tools import CannotRun, Tool
from repoassay.signals.worktrees import Tree
from repoassay.text import printable
from repoassay.types import Ended, FileEdit, Limits

__all__ = ["REPOSITORY", "ToolRunner", "TreeSide"]

REPOSITORY = "/workspace/repo"
"""Where both base and head lie, so that a tool says the same of both."""

_T = TypeVar("_T")
_SAID = {
    Ended.TIMED_OUT: "did not finish within {seconds:g} seconds",
    Ended.OUT_OF_MEMORY: "used more memory than the {memory} MiB it was given",
    Ended.CANCELLED: "was cancelled",
}


@dataclass(frozen=True, slots=True)
class TreeSide:
    """A worktree with files laid over it: new content by path, None to delete."""

    tree: Tree
    edits: Mapping[str, FileEdit | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """What all signals on submissions of one task share. Keep one for a task: what ran on its base is remembered.

    Attributes:
        sandbox: Where everything runs.
        environment: The task's Python environment, seen at /env; None where it has none.
        roots: Folders of the repository to import from, as the task's `environment.path`.
        checks: Commands a contributor is told to run, as the task's `environment.checks`; they tell which tools apply.
        node_modules: The task's installed node packages, seen as the repository's; None where it has none of its own.
        limits: Of one tool's run.
        suite_limits: Of one run of the project's tests.
        cancel: Ends what runs.
    """

    sandbox: Sandbox
    environment: Path | None = None
    roots: tuple[str, ...] = (".",)
    checks: tuple[str, ...] = ()
    node_modules: Path | None = None
    limits: Limits = Limits(seconds=120, memory=4 * 2**30, output=16 * 2**20)
    suite_limits: Limits = Limits(seconds=600, memory=4 * 2**30, output=2**20)
    cancel: threading.Event | None = None
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def run(
        self,
        side: TreeSide,
        tool: Tool,
        *arguments: str,
        what: str,
        codes: tuple[int, ...] = (0,),
        env: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        stdin: bytes = b"",
        limits: Limits | None = None,
        channel: bool = False,
    ) -> Completed:
        """Run a tool in a worktree; `files` are put below /signals, where the tool may write too.

        Raises:
            CannotRun: When it did not end by itself with one of `codes` (any where empty), or printed too much.
        """
        limits = limits or self.limits
        edits: dict[str, FileEdit | None] = {f"{REPOSITORY}/{path}": edit for path, edit in side.edits.items()}
        edits |= {f"/signals/{name}": FileEdit(content) for name, content in (files or {}).items()}
        try:
            done = self.sandbox.run(
                Command(
                    argv=(*tool.argv, *arguments),
                    env={
                        "PATH": "/env/bin:/usr/local/bin:/usr/bin:/bin",
                        "PYTHONDONTWRITEBYTECODE": "1",
                        **(env or {}),
                    },
                    cwd=REPOSITORY,
                    stdin=stdin,
                    mounts=(*self._mounts(side.tree.root), *tool.mounts),
                    scratch=("/signals",),
                    edits=edits,
                    limits=limits,
                    channel=channel,
                ),
                self.cancel,
            )
        except InfraFault as fault:
            raise CannotRun(f"{what} could not be started: {printable(fault.message, 400)}") from None
        return _checked(done, what, codes, limits)

    def remember(self, base: Tree, key: Hashable, work: Callable[[], _T]) -> _T:
        """What `work` returns or raises for a base, worked out once."""
        known = (str(base.root), key)
        if known not in self._known:
            try:
                self._known[known] = (work(), None)
            except CannotRun as reason:
                self._known[known] = (None, str(reason))
        value, why = self._known[known]
        if why is not None:
            raise CannotRun(why)
        return value  # type: ignore[no-any-return]  # the same key is always asked for with the same work

    def import_path(self) -> str:
        """Value of PYTHONPATH under which the repository's packages are found."""
        return ":".join(str(PurePosixPath(REPOSITORY, root)) for root in self.roots)

    def _mounts(self, root: Path) -> tuple[Mount, ...]:
        mounts = [Mount(root, REPOSITORY, Access.COPY_ON_WRITE)]
        if self.environment:
            mounts.append(Mount(self.environment, "/env"))
        if self.node_modules:
            mounts.append(Mount(self.node_modules, f"{REPOSITORY}/node_modules"))
        return tuple(mounts)


def _checked(done: Completed, what: str, codes: tuple[int, ...], limits: Limits) -> Completed:
    if done.exit.ended in _SAID:
        ending = _SAID[done.exit.ended].format(seconds=limits.seconds, memory=limits.memory // 2**20)
        raise CannotRun(f"{what} {ending}.")
    if done.exit.ended is not Ended.EXITED:
        raise CannotRun(f"{what} ended with {done.exit.ended.value.replace('_', ' ')}.")
    if codes and done.exit.code not in codes:
        output = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace").splitlines()
        raise CannotRun(
            f"{what} ended with code {done.exit.code}: {printable(output[-1] if output else 'it said nothing', 300)}"
        )
    if done.exit.output_truncated and codes:
        raise CannotRun(f"{what} printed more than {limits.output} bytes.")
    return done
