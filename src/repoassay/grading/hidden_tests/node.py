"""Hidden tests for node's test runner: what is laid over the repository, and how they are started.

They lie in the repository at their own paths, so that they import what they test as they do at home; whatever a
submission has there gives way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from repoassay.errors import Unavailable
from repoassay.grading.hidden_tests.javascript_script import SCRIPT, watched
from repoassay.sandbox import Access, Command, Mount, node_program
from repoassay.types import FileEdit

__all__ = ["NODE_SUFFIXES", "can_run_node", "node_command"]

NODE_SUFFIXES = (".js", ".mjs", ".cjs")
"""What files are called that node runs as they are."""
_HERE = Path(__file__).parent
_ORACLE = _HERE.parent / "oracle"
_PARTS = (
    *(
        _HERE / f"node_{part}"
        for part in ("parent.cjs", "runner.cjs", "report.cjs", "script.cjs", "test.cjs", "test.mjs")
    ),
    *(_ORACLE / f"javascript_{part}.cjs" for part in ("encode", "observer")),
)
ROOT = "/workspace/repo"


def can_run_node() -> str:
    """Why tests for node cannot be run on this machine, as a sentence; empty when they can."""
    try:
        node_program()
    except Unavailable as error:
        return str(error)
    return ""


def node_command(
    base: Path, edits: Mapping[str, FileEdit | None], tests: Mapping[str, bytes], ids: Sequence[str], key: bytes
) -> Command:
    """The command that runs hidden tests for node, its limits left to the caller.

    Args:
        base: Checkout of the base commit.
        edits: What the submission changes, by path in the repository.
        tests: Hidden files by path below `tests/`, which are their paths in the repository.
        ids: Ids of tests, or files whose tests are all meant.
        key: Signs results.

    Raises:
        Unavailable: When node is not installed.
    """
    kept = {name: edit for name, edit in edits.items() if not _in_the_way(name, tests)}
    files = list(dict.fromkeys(test.partition("::")[0] for test in ids))
    scripts = [name for name in files if f"{name}::{SCRIPT}" in ids]
    tests = {**tests, **{name: watched(tests[name].decode()).encode() for name in scripts if name in tests}}
    # A script's failure may come from a promise; strictly, no listener of the code under test hears of it first.
    flags = ("--unhandled-rejections=strict",) if scripts else ()
    return Command(
        argv=(node_program(), "--no-warnings", "/run/node_parent.cjs", "--no-warnings", *flags),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_ENV": "test"},
        cwd="/tmp",  # noqa: S108 - inside the sandbox
        stdin=json.dumps({"files": files, "scripts": scripts, "root": ROOT, "key": key.hex()}).encode(),
        mounts=(Mount(base, ROOT, Access.COPY_ON_WRITE),),
        edits={
            **{f"/run/{part.name}": FileEdit(part.read_bytes()) for part in _PARTS},
            **{f"{ROOT}/{name}": edit for name, edit in kept.items()},
            **{f"{ROOT}/{name}": FileEdit(content) for name, content in tests.items()},
        },
        channel=True,
    )


def _in_the_way(name: str, tests: Mapping[str, bytes]) -> bool:
    """Whether a submitted file lies where a hidden one or one of its folders must be, or below a hidden file."""
    path = PurePosixPath(name)
    if name in tests or any(str(parent) in tests for parent in path.parents):
        return True
    return any(path in PurePosixPath(test).parents for test in tests)
