"""A repository built as its maintainers do it: build commands over a copy of checkout and environment, once a recipe.

An entry of the cache holds two folders: one named as the entry, which is the environment with what the build
installed there, and `repo`, the checkout with what the build left. Both are one with what they were made from, on
disk, where they are equal. The commands are strangers' and run where packages are built: see `building.py`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from repoassay.errors import InfraFault, Unavailable
from repoassay.package_proxy import HostRule, Indexes
from repoassay.sandbox import Access, Cache, Command, Mount, Sandbox, remove_tree, settle, uv_program
from repoassay.tasks import TaskFolder
from repoassay.text import join_names
from repoassay.types import Limits, Task
from repoassay.workspace.apt_layer import SHOWN
from repoassay.workspace.build_index.rules import IndexRules
from repoassay.workspace.build_output import is_intact, manifest_place, take_over
from repoassay.workspace.building import run_build
from repoassay.workspace.checkouts import check_no_history, commit_tree
from repoassay.workspace.git import run_git
from repoassay.workspace.node import node_version
from repoassay.workspace.sharing import copy_tree, file_states, share_files
from repoassay.workspace.state_places import state_mounts
from repoassay.workspace.variables import environment_variables

__all__ = ["build_repository", "take_repository", "unreached_hosts"]

_FORMAT = "1"
_SCRIPT = """\
for command do
    echo "+ $command" >&2
    /bin/sh -ec "$command" >&2 || exit
done
/env/bin/python -I -m compileall -qq -j 0 /env/lib >/dev/null || true
"""
_MOST_BYTES = 8 * 2**30
_LIMITS = Limits(seconds=3600, memory=8 * 2**30, disk=8 * 2**30, processes=1024)
_SPECIAL = str.maketrans({**{sign: f"\\{sign}" for sign in "\\*?[]!# "}, "\n": "?"})
"""What ignore files read otherwise; a line end cannot be written there."""


def build_repository(
    folder: TaskFolder, base: Path, environment: Path, cache: Cache, sandbox: Sandbox
) -> tuple[Path, Path]:
    """Return checkout and environment of a task after its build commands.

    Args:
        folder: The task.
        base: Its checkout.
        environment: Its environment before the build.

    Raises:
        InfraFault: A command failed; the reason is the last it said. Never cached.
        Unavailable: It is not built yet, and fetches from hosts that builds here may not reach.
    """
    wanted = folder.task.environment
    parts = (_FORMAT, base.name, environment.name, wanted.exclude_newer or "-", *wanted.build)
    parts = (*parts, "state", *folder.task.state.places, folder.task.state.work) if folder.task.state else parts
    parts = (*parts, f"node {node_version()}") if wanted.node else parts
    variables = (f"{name}={value}" for name, value in sorted(wanted.variables.items()))
    key = hashlib.sha256("\0".join((*parts, "", *variables)).encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        _check_hosts(folder)
        built, repo = part / key, part / "repo"
        for source, target in ((environment, built), (base, repo)):
            copy_tree(source, target)
            settle(target)
        copied = file_states(built)
        _run(folder, built, repo, cache, sandbox)
        take_repository(repo, None if folder.task.state else _tracked(base))
        share_files(repo, base)
        share_files(repo / ".git" / "objects", base / ".git" / "objects", times=False)
        share_files(built, environment, copied=copied)
        outside = (Path(sys.base_prefix), *(SHOWN if wanted.apt else ()))
        take_over(built, manifest_place(built), leads_to=outside, shared_with=environment)

    entry = cache.entry("builds", key, build)
    if not is_intact(entry / key, manifest_place(entry / key)):
        remove_tree(entry)
        is_intact.cache_clear()
        entry = cache.entry("builds", key, build)
    return entry / "repo", entry / key


def unreached_hosts(task: Task) -> list[str]:
    """The hosts that a task's build fetches from and that builds here may not reach."""
    rules = Indexes.configured().public_rules()
    hosts = [(each, HostRule.parse(each)) for each in task.environment.hosts]
    return [each for each, host in hosts if not any(rule.allows(host.host, host.port or 443) for rule in rules)]


def _check_hosts(folder: TaskFolder) -> None:
    """Refuse, before a command has run, what would fetch from hosts that the user has not allowed."""
    if missing := unreached_hosts(folder.task):
        named = join_names(missing)
        raise Unavailable(
            f"The build of the task {folder.task.id} fetches from {named}, which builds here may not reach.",
            f"REPOASSAY_PACKAGE_HOSTS='{' '.join(missing)}' allows it, where you trust the task with that.",
        )


def _run(folder: TaskFolder, built: Path, repo: Path, cache: Cache, sandbox: Sandbox) -> None:
    wanted = folder.task.environment
    variables = environment_variables(folder.task, built)
    state = folder.task.state
    shown = state_mounts(state, repo, Access.WRITE) if state else (Mount(repo, "/workspace/repo", Access.WRITE),)
    command = Command(
        argv=("/bin/sh", "-c", _SCRIPT, "build", *wanted.build),
        cwd=state.work if state else "/workspace/repo",
        env={
            **variables,
            "PATH": variables["PATH"].replace(":", ":/run/tools:", 1),
            "BASE_PYTHON": f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}",
            "UV_PYTHON": "/env/bin/python",
            "UV_SYSTEM_PYTHON": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "PIP_NO_WARN_SCRIPT_LOCATION": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        },
        mounts=(*shown, Mount(Path(uv_program()), "/run/tools/uv")),
        limits=_LIMITS,
    )
    rules = IndexRules.until(wanted.exclude_newer) if wanted.exclude_newer else None
    what = f"The repository of {folder.task.id} could not be built"
    run_build(what, built, "/env", command, cache, sandbox, rules=rules, most_bytes=_MOST_BYTES)


def _tracked(base: Path) -> list[str]:
    named = run_git(base, "ls-tree", "-r", "-z", "--name-only", "HEAD", env={"GIT_DIR": str(base / ".git")})
    return [name for name in map(os.fsdecode, named.split(b"\0")) if name]


def take_repository(repo: Path, tracked: Sequence[str] | None) -> None:
    """Make a checkout of what a build left: one commit of what is `tracked`, all else named as not to be tracked.

    With None all of it is the commit, as whatever lies in the folders of a state task is.
    """
    _check_kinds(repo)
    there = None if tracked is None else [name for name in tracked if os.path.lexists(repo / name)]
    remove_tree(repo / ".git")  # strangers could write to it
    os.chown(repo, os.geteuid(), os.getegid())  # git works in no folder of somebody else's
    commit_tree(repo, there)
    left = run_git(repo, "ls-files", "-z", "--others", "--directory", "--no-empty-directory").split(b"\0")
    exclude = repo / ".git" / "info" / "exclude"
    exclude.write_bytes(b"".join(os.fsencode(f"/{os.fsdecode(name).translate(_SPECIAL)}\n") for name in left if name))
    changes = run_git(repo, "status", "--porcelain", "-z")
    if changes:
        raise InfraFault(f"The build left what git cannot pass over: {os.fsdecode(changes[:200])!r}.")
    check_no_history(repo)
    settle(repo)


def _check_kinds(repo: Path) -> None:
    for folder, folders, files in os.walk(repo):
        for name in (*folders, *files):
            mode = Path(folder, name).lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
                raise InfraFault(f"The build left {name!r}, which is neither a file nor a folder.")
