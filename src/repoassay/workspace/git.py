"""Running git on the host over files we do not trust: no hooks, no filters, no configuration but our own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import git_program

__all__ = ["ATTRIBUTES", "moment_of", "run_git"]

ATTRIBUTES = "* !text !eol !filter !ident !diff !merge !working-tree-encoding !export-subst !export-ignore\n"
"""For `info/attributes`, which outranks every `.gitattributes` in the tree: content is taken byte for byte."""

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.logAllRefUpdates=false",
    "core.quotePath=true",
    # Or a file called `git~1` would be refused here; the reader of patches says what it will not take.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "init.defaultBranch=main",
    "user.name=RepoAssay",
    "user.email=repoassay@localhost",
    "protocol.ext.allow=never",
)
_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # A copy of every ref has a stranger's `refs/replace`, by which a commit's id would name another commit.
    "GIT_NO_REPLACE_OBJECTS": "1",
    # Fixed, so that equal trees make equal commits.
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


def moment_of(seconds: str | bytes) -> datetime:
    """When a commit was made, by what git prints of it (UTC); a stranger's may lie outside of any calendar."""
    return datetime.fromtimestamp(min(max(int(seconds), 0), 253_402_300_799), UTC)


def run_git(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, seconds: float = 300, stdin: bytes = b""
) -> bytes:
    """Run one git command in a folder, with `stdin` on its standard input, and return what it prints.

    Raises:
        InfraFault: When git fails or takes longer than `seconds`.
    """
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        done = subprocess.run(
            [git_program(), *settings, *arguments],
            cwd=folder,
            env={**_ENV, **(env or {})},
            input=stdin,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InfraFault(f"git {arguments[0]} took longer than {seconds:g} s in {folder}.") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"git {arguments[0]} failed in {folder}: {message}")
    return done.stdout
