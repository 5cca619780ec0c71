"""How a repository's checkouts are installed and tested: the bundled table, by repository and version."""

from __future__ import annotations

import functools
import re
import shlex
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from repoassay.text import quote
from repoassay.types import Record

__all__ = ["FROZEN_AT", "RepositoryRecipe", "nearest_version", "recipe_for"]

FROZEN_AT = "2024-11-01"
"""About the day on which SWE-bench froze the environments of most Verified rows (`YYYY-MM-DD`)."""


_AS_DEVELOP = "$([ -f pyproject.toml ] || echo --config-settings=editable_mode=compat)"
"""Has uv put the whole root on the search path, as pip did that called `setup.py develop` for want of a pyproject.toml.

Else setuptools lets the packages be found alone, and such as look for themselves on `sys.path` (pylint) are lost.
"""
_LIMITS, _BUILD_LIMITS = "/tmp/limits.txt", "/tmp/build-limits.txt"  # noqa: S108 - of the build's sandbox


class RepositoryRecipe(Record):
    """How one version of a repository is installed and tested.

    Attributes:
        python: Release line of Python, such as `3.9`.
        reader: The program that runs the tests.
        arguments: What it is given before the tests' files.
        install: What is installed in place: the repository's root, with extras in brackets.
        requires: Requirements that stand in place of a frozen environment.
        files: Files of the repository that name requirements, of which the first that exists is used.
        limits: Constraints of the versions that the installation may choose.
        build_limits: The same of what builds the package.
        isolated: Whether it is built in an environment of its own, or with what is installed.
        scm: Whether its version comes from git tags.
        apt: Debian packages that the build or the tests need.
        before: Shell commands before the installation.
        prefix: Variables in front of the installation's command.
        version: The table's version it was found under; empty for a recipe of somebody else.
        command: The installation's whole command, where somebody else wrote it.
        edits: File of the repository -> what sed does to it while the package is installed.
        variables: Set for the build and for the tests.
    """

    python: Annotated[str, Field(pattern=r"^3\.\d{1,2}$")]
    reader: Literal["pytest", "django", "sympy"] = "pytest"
    arguments: tuple[str, ...] = ()
    install: str = "."
    requires: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    build_limits: tuple[str, ...] = ()
    isolated: bool = True
    scm: bool = False
    apt: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    prefix: str = ""
    version: str = ""
    command: str = ""
    edits: dict[str, str] = Field(default_factory=dict)
    variables: dict[str, str] = Field(default_factory=dict)

    def commands(self, version: str, python: str, *, frozen: bool) -> tuple[str, ...]:
        """Return the shell commands that install a checkout in its root.

        Args:
            version: The version that the row states.
            python: The release line that is used, `python` or the one a frozen environment has.
            frozen: Whether the environment is a row's own, so that the repository's requirements are in it.
        """
        found = [] if frozen or not self.files else [_from_files(self.files)]
        return (*found, *self.before, self._installed(version, python))

    def _installed(self, version: str, python: str) -> str:
        words = [f"SETUPTOOLS_SCM_PRETEND_VERSION={release_of(version)}"] if self.scm else []
        words += [self.prefix] if self.prefix else []
        if self.command:
            return " ".join(["export", *words, "&&", self.command] if words else [self.command])
        if _is_old(python):
            # No setuptools for Python 3.6 can install in place as uv wants it (PEP 660); it has a way of its own.
            words.append("python setup.py develop --no-deps")
            return _edited(" ".join(words), self.edits)
        before, options, ours = [], [], []
        if self.limits:
            before.append(f"printf '%s\\n' {shlex.join(self.limits)} > {_LIMITS}")
            options.append(f"--constraint {_LIMITS}")
        if self.build_limits:
            before.append(f"printf '%s\\n' {shlex.join(self.build_limits)} > {_BUILD_LIMITS}")
            ours.append(f"--build-constraint {_BUILD_LIMITS}")
        if not self.isolated:
            options.append("--no-build-isolation")
        what = f"-e {shlex.quote(self.install)}"
        fast = " ".join([*words, "uv pip install", *ours, *options, _AS_DEVELOP, what])
        # uv installs in place by PEP 660 alone, which a project that builds with an old setuptools does not know.
        slow = " ".join([*words, "python -m pip install", *options, what])
        return " && ".join([*before, _edited(f"{{ {fast} || {slow}; }}", self.edits)])


def recipe_for(repo: str, version: str) -> RepositoryRecipe | str:
    """Return the recipe of a repository's version or of the nearest one, or why there is none.

    Args:
        repo: `OWNER/NAME`.
        version: What the row states; empty where it states none, which has the newest one's recipe.
    """
    versions = _table().get(repo.lower())
    if versions is None:
        return f"no recipe: the table does not know the repository {quote(repo)}"
    known = nearest_version(version or max(versions, key=_numbers), versions)
    return versions[known] if known else f"no recipe: {quote(version)} is no version of {quote(repo)}"


def nearest_version(version: str, versions: Collection[str]) -> str | None:
    """Return the version of which the recipe is used: the same, else the newest older one, else the oldest of all.

    None where `version` is none; versions come as `5.3`, `v5.3` or `2022.03`.
    """
    if version in versions:
        return version
    numbers = {each: found for each in (*versions, version) if (found := _numbers(each))}
    if version not in numbers:
        return None
    older = [each for each in versions if each in numbers and numbers[each] <= numbers[version]]
    return max(older, key=numbers.__getitem__) if older else min(versions, key=lambda each: numbers.get(each, ()))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d{1,9}", version))) if re.fullmatch(r"v?\d[\d.]{0,40}", version) else ()


def release_of(version: str) -> str:
    """Return a version as git tags would have it: `v5.3` is 5.3.0, `2022.03` is 2022.3.0."""
    parts = [int(part) if part.isdecimal() else 0 for part in version.removeprefix("v").split(".")]
    return ".".join(map(str, [*parts, 0, 0][:3]))


def _is_old(python: str) -> bool:
    return int(python.partition(".")[2]) < 7


def _from_files(files: Sequence[str]) -> str:
    """Install the first file that is there; types-pkg_resources is gone from the index, and types-setuptools has it."""
    branches = "; el".join(
        f"if [ -f {file} ]; then cp {file} {file}.kept; sed -i 's/^types-pkg[-_]resources.*/types-setuptools/' {file};"
        f" uv pip install {_AS_DEVELOP} -r {file} || python -m pip install -r {file}; mv {file}.kept {file}"
        for file in map(shlex.quote, files)
    )
    return f"set -e; {branches}; fi"


def _edited(command: str, edits: Mapping[str, str]) -> str:
    """The command between an edit of some files and their return, so that patches find them as they were."""
    before = [f"cp -p {file} {file}.kept && sed -i {shlex.quote(edit)} {file}" for file, edit in edits.items()]
    after = [f"mv {file}.kept {file}" for file in edits]
    return " && ".join([*before, command, *after])


@functools.cache
def _table() -> Mapping[str, Mapping[str, RepositoryRecipe]]:
    """Repository in small letters -> version -> recipe."""
    document = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text("utf-8"))
    written: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in document["recipe"]:
        own = {key: value for key, value in entry.items() if key not in {"repo", "versions", "like"}}
        known = written.setdefault(entry["repo"].lower(), {})
        recipe = {**known[entry["like"]], **own} if "like" in entry else own
        known |= dict.fromkeys(entry["versions"], recipe)
    return {
        repo: {
            version: RepositoryRecipe.model_validate({**recipe, "version": version})
            for version, recipe in versions.items()
        }
        for repo, versions in written.items()
    }
