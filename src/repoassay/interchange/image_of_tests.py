"""The image of their own that tests may have: its packages, and the files that it holds beside the tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from repoassay.interchange.build_hosts import MODULES_KEPT
from repoassay.interchange.harbor_tests import task_text
from repoassay.interchange.hidden_test_text import absolute_paths
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal, absolute_place
from repoassay.interchange.image_programs import stand_in
from repoassay.interchange.image_recipe import read_image
from repoassay.interchange.state_task import is_free

__all__ = ["GUARDS_ROOT", "add_image_of_tests"]

GUARDS_ROOT = re.compile(r"""["']?\$(PWD|\{PWD\}|\(pwd\))["']? *==? *["']?/["']?(\s|\])""")
"""The usual template's question whether it stands in `/`, where it gives no reward."""

_NAME = "tests/Dockerfile"
_MOST_FILES = 2_000
_LOOKS = re.compile(
    r"(cd \S+|(chmod|chown|ls|test|\[|echo|true)( [^<>|&;`$]*)?|rm -f /tmp/[\w.-]+"
    r"|python3? -c ['\"]import [\w., ]+(; ?print\([^;]*\))?['\"])"
)
"""Commands that only look whether an image is whole, or set modes and owners, which do not cross."""


def add_image_of_tests(
    image: ImageRecipe, folder: Path, artifacts: Collection[str], *, stays: bool = False
) -> tuple[str, str]:  # fmt: skip
    """Add the packages of the tests' own image to the agent's.

    Args:
        image: The agent's.
        folder: The task's.
        artifacts: What Harbor takes from the agent's container into that of the tests, over what it has there.
        stays: Whether the tests stand where the agent does, whatever WORKDIR their image has.

    Returns:
        What a script of the tests begins with: it has the variables of their image and stands in its folder; and what
        lays the files of their image, whatever the agent has made of them.

    Raises:
        ImportRefusal: It has files where only the machine has some, or commands that the agent's image has not.
    """
    other = read_image(folder / _NAME, folder / "tests", _NAME)
    if other.work == "/" and not stays and GUARDS_ROOT.search(task_text(folder / "tests", "test.sh")):
        raise ImportRefusal("Harbor passes nobody: its tests stand in /, where their script gives no reward.", _NAME)
    stand_ins = [stand_in(place) for place in other.venvs]
    known = {re.sub(r"^cd \S+ && ", "", command) for command in (*stand_ins, *image.build)}
    for command in other.build:
        looks = all(_LOOKS.fullmatch(part.strip()) for part in command.split("&&"))
        if not looks and re.sub(r"^cd \S+ && ", "", command) not in known:
            raise ImportRefusal("Its tests have an image of their own, with commands of its build.", _NAME, 0, command)
    left = {absolute_place(image.work, path) for path in artifacts}
    laid = {
        place: file.relative_to(folder / "tests").as_posix()
        for place, file in other.files.items()
        if not (
            place.startswith("/tests/")
            or re.fullmatch(r"/tmp/[\w.-]+\.(txt|lock)", place)  # noqa: S108 - there
            or _above(place) & left
        )
    }
    if len(laid) > _MOST_FILES:
        raise ImportRefusal("Its tests have an image of their own, with more files than are laid.", _NAME)
    theirs = {each for place in (image.work, *image.folders, *image.files, *left) for each in _above(place)}
    only: dict[str, None] = {}
    for place in laid:
        if not is_free(place):
            raise ImportRefusal("Its tests have an image of their own, with files beside tests/.", _NAME, 0, place)
        own = sorted(_above(str(PurePosixPath(place).parent)) - theirs, key=len)
        only |= dict.fromkeys(own[:1])
    image.pip += other.pip
    image.apt += other.apt
    image.venvs += other.venvs
    image.hosts |= other.hosts
    image.users += other.users
    image.build += [command for command in other.build if command in stand_ins]
    image.folders += [place for place in other.folders if place.removesuffix("/bin") in other.venvs]
    image.folders += only
    return _surroundings(image, other, theirs, stays=stays), _script(only, laid.items())


def _surroundings(image: ImageRecipe, other: ImageRecipe, known: Collection[str], *, stays: bool) -> str:
    """Variables of the agent's image would let modules that it left stand before those of the tests."""
    ours = {name for kept in MODULES_KEPT.values() for name in kept}
    if gone := sorted(image.variables.keys() - other.variables.keys() - ours):
        lines = [f"unset {' '.join(gone)}"]
    else:
        lines = []
    lines += [
        f"export {name}={shlex.quote(value)}"
        for name, value in other.variables.items()
        if image.variables.get(name) != value
        and all(path.startswith("/tests") or _above(path) & {*known} for path in absolute_paths(value))
    ]
    if not stays and (other.work == "/" or other.work != image.work):
        lines.append(f"[ ! -d {shlex.quote(other.work)} ] || cd {shlex.quote(other.work)}")
    return "".join(f"{line}\n" for line in lines)


def _above(place: str) -> set[str]:
    """A place, and the folders above it but for `/`."""
    return {place, *map(str, PurePosixPath(place).parents)} - {"/"}


def _script(only: Iterable[str], laid: Iterable[tuple[str, str]]) -> str:
    # What an agent may have put where its own container had nothing is not in that of the tests.
    # A link there would be followed by what is laid, and not by what deletes.
    lines = [
        f"[ ! -L {place} ] || rm {place}; mkdir -p {place} && find {place} -mindepth 1 -delete"
        for place in map(shlex.quote, only)
    ]
    for place, file in laid:
        parent, source = shlex.quote(str(PurePosixPath(place).parent)), shlex.quote(f"/tests/{file}")
        lines.append(f"mkdir -p {parent} && cp --remove-destination {source} {shlex.quote(place)}")
    return "".join(f"{line}\n" for line in lines)
