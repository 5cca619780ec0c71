"""How a row itself says that its repository is installed and tested: SWE-rebench's `install_config`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator

from repoassay.benchmarks.swebench.recipes import RepositoryRecipe
from repoassay.errors import BadInput
from repoassay.formats import Row, Text
from repoassay.text import quote

__all__ = ["InstallConfig", "Words", "pytest_arguments"]

_TAKING = frozenset({"-W", "-o", "-p", "--override-ini", "--pythonwarnings", "--ignore", "--deselect"})
"""Options of pytest that change what tests do; the others only change what is printed, or how many run at a time."""
_APT = re.compile(r"apt(?:-get)?\s+(?:-\S+\s+)*install\s+(.*)")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}")


def _words(value: object) -> object:
    """One text, or several; null is none."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class InstallConfig(Row):
    """What SWE-rebench's rows say of installation and tests; keys as there.

    Attributes:
        python: Release of Python.
        base_image_name: In place of it, in the second version of SWE-rebench: `python_base_310` or `python_3.10`.
        packages: Requirements with spaces between, or the words `requirements.txt` or `environment.yml`.
        pip_packages: Further requirements.
        reqs_path: Files of the repository with requirements.
        pre_install: Shell commands before the installation.
        install: The installation's shell command.
        test_cmd: What runs the tests.
    """

    python: Text = ""
    base_image_name: Text = ""
    packages: Text = ""
    pip_packages: Words = ()
    reqs_path: Words = ()
    pre_install: Words = ()
    install: Words = ()
    test_cmd: Words = ()

    @property
    def release_line(self) -> str:
        """The release line of Python that is named, such as `3.10`; empty where none is."""
        if self.python:
            line = re.match(r"3\.\d{1,2}", self.python)
            return line[0] if line else ""
        named = re.search(r"python\D*3[._]?(\d{1,2})(?!\d)", self.base_image_name)
        return f"3.{named[1]}" if named else ""

    def recipe(self) -> RepositoryRecipe:
        """Return the recipe.

        Raises:
            BadInput: When it cannot be one; the sentence has the row as its subject.
        """
        if not self.release_line:
            named = quote(self.python or self.base_image_name)
            raise BadInput(f"its install_config names Python {named}.", "Only releases of Python 3 are known.")
        listed = [] if self.packages in {"requirements.txt", "environment.yml"} else self.packages.split()
        apt, before = _divided(self.pre_install)
        return RepositoryRecipe(
            python=self.release_line,
            arguments=pytest_arguments(self.test_cmd),
            requires=(*listed, *self.pip_packages, "pytest"),
            files=self.reqs_path,
            apt=apt,
            before=before,
            command=" && ".join(self.install) or "uv pip install -e .",
        )


def pytest_arguments(commands: Sequence[str]) -> tuple[str, ...]:
    """Return what the last of some commands gives pytest beside the tests, as far as it changes what tests do.

    Raises:
        BadInput: When it does not call pytest; the sentence has the row as its subject.
    """
    if not commands:
        return ()
    try:
        words = shlex.split(commands[-1])
    except ValueError:
        words = []
    while words and (re.fullmatch(r"\w+=.*|python[\d.]*", words[0]) or words[0] in {"uv", "poetry", "run", "-m"}):
        words = words[1:]
    if not words or words[0] not in {"pytest", "py.test"}:
        raise BadInput(f"its tests are run by {quote(commands[-1])}, which is no pytest.")
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in _TAKING:
            pair = [word] if equals else [word, next(rest, "")]
            found += [] if pair[-1] == "no:cacheprovider" else pair
        elif len(word) > 2 and word[:2] in {"-W", "-o", "-p"}:
            found += [] if word == "-pno:cacheprovider" else [word]
    return tuple(found)


def _divided(commands: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Debian packages that commands install, and the commands that do something else."""
    apt: list[str] = []
    others: list[str] = []
    for command in commands:
        for part in re.split(r"&&|;", command):
            if found := _APT.search(part):
                apt += [word for word in found[1].split() if _PACKAGE.fullmatch(word)]
            elif part.strip() and not re.search(r"\bapt(-get)?\b", part):
                others.append(part.strip())
    return tuple(dict.fromkeys(apt)), tuple(others)
