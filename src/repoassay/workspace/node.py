"""The Node of this machine, as far as tasks ask for one."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess

from repoassay.errors import Unavailable
from repoassay.sandbox import node_program

__all__ = ["check_node", "node_version"]

_PLACES = "/usr/local/bin:/usr/bin:/bin"
"""Where sandboxes see programs of this machine."""


def node_version() -> str:
    """The version of the Node that sandboxes see, such as `20.19.2`.

    Raises:
        Unavailable: When there is none, or no npm beside it.
    """
    if shutil.which("npm", path=_PLACES) is None:
        raise Unavailable("npm is not installed, and the task's packages are npm's.", "Install it beside node.")
    return _version(node_program())


@functools.cache
def _version(program: str) -> str:
    try:
        version = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=True, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"{program} cannot be run: {error}.", "Install Node anew.") from error
    return version.strip().removeprefix("v")


def check_node(wanted: str, what: str) -> None:
    """Make sure that this machine's Node is new enough.

    Args:
        wanted: As task.toml has it, such as `>=20`.
        what: What needs it, to begin a sentence with.

    Raises:
        Unavailable: When it is older, or there is none.
    """
    found = re.fullmatch(r">=(\d+)", wanted)
    there = node_version()
    if found is None or int(there.partition(".")[0]) < int(found[1]):
        raise Unavailable(f"{what} needs Node {wanted}, and this is {there}.", "Install such a Node in /usr/local.")
