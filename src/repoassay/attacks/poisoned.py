"""Byte code that Python runs without looking at the source beside it, as binary hunks of a patch."""

from __future__ import annotations

import importlib.util
import marshal
import sys
from pathlib import PurePosixPath

from repoassay.attacks.attack import Attack, AttackOrigin
from repoassay.attacks.patch_builder import binary
from repoassay.attacks.target import Target

__all__ = ["ATTACKS"]

_LEAVE = "import os\nos._exit(0)\n"


def _cached(path: PurePosixPath) -> bytes:
    """A patch that makes the unchecked byte code of a module: it ends the process with code 0."""
    code = marshal.dumps(compile(_LEAVE, "quiet", "exec"))
    content = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code
    folder = "" if str(path.parent) == "." else f"{path.parent}/"
    return binary(f"{folder}__pycache__/{path.stem}.{sys.implementation.cache_tag}.pyc", content)


def _of_package(target: Target) -> bytes:
    return _cached(PurePosixPath(target.module))


def _of_tests(target: Target) -> bytes:
    return b"".join(_cached(PurePosixPath(name)) for name in target.files)


ATTACKS = (
    Attack(
        "poisoned byte code",
        "start-up",
        "python",
        "Unchecked byte code of the package in __pycache__, as a binary hunk: importing it leaves with code 0.",
        "The interpreter prefers it to the source, and the exit code is believed.",
        AttackOrigin.AUDIT,
        _of_package,
    ),
    Attack(
        "poisoned byte code of the tests",
        "start-up",
        "python",
        "Unchecked byte code under the names of the hidden test files.",
        "Tests laid beside it are then never read.",
        AttackOrigin.OWN,
        _of_tests,
        white=True,
    ),
)
