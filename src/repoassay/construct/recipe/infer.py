"""Recipes of a task's environment, the likeliest first, with sentences that say what was taken from where."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from repoassay.construct.recipe.declarations import (
    Purpose,
    RequirementSource,
    declared_requirements,
    dependencies,
    for_use,
    local_dependencies,
)
from repoassay.construct.recipe.project import Project, at, string_list
from repoassay.construct.recipe.python_line import RELEASED, choose_lines, settled_day
from repoassay.construct.recipe.requirement_lines import requirement_name
from repoassay.construct.recipe.test_tools import install_lines, pytest_options, requirement_files, tox_variables
from repoassay.construct.recipe.version import version_variables
from repoassay.text import join_names

__all__ = ["EnvironmentRecipe", "Inference", "infer"]

_PLACE = "$(python -c 'import sysconfig; print(sysconfig.get_paths()[\"purelib\"])')"
_LAST = f'echo "$PWD" > "{_PLACE}/repository.pth"'
"""Puts the repository's root last on the import path, where `python -m pytest` has it first."""
_WITHOUT_COPY = (
    f'{{ uv pip uninstall $(grep -ls "\\"file://$PWD" "{_PLACE}"/*.dist-info/direct_url.json'
    " | sed -E 's|.*/([^/]*)-[^/-]*[.]dist-info/.*|\\1|') || true; }"
)
"""Removes the copy by which dependencies were installed: pip of that time leaves it, and tests would import it."""
_FIRST = f"""echo "import sys; sys.path[:0] = ['$PWD/src', '$PWD']" > "{_PLACE}/repository-first.pth\""""
"""Puts the repository before what is installed, where it cannot be installed for development."""
_POETRY = """\
(copy=$(mktemp -d) && cp -R {root} "$copy/project" && cd "$copy/project" && printf '%s\\n' '' '[build-system]' \
'requires = ["poetry-core"]' 'build-backend = "poetry.core.masonry.api"' >> pyproject.toml \
&& uv pip install .{extra})"""
"""Installs a copy that names the build system which poetry itself would take; the repository comes first."""
_NO_TEST = re.compile(
    r"(?!.+-pytest$)(black|isort|ruff|flake8.*|pylint|mypy|pyright|basedpyright|pre-commit.*|prek|tox.*|nox|twine|build|wheel|bump.*"
    r"|sphinx.*|mkdocs.*|furo|pallets-sphinx-themes|mike|griffe|zensical|codecov|coveralls|check-manifest|readme-renderer"
    r"|towncrier|uv|pip|pip-tools|hatch|poetry|pdm|commitizen|pyupgrade|ipython|ipdb|jupyter.*|notebook|types-.*|invoke"
    r"|autoflake|bandit|safety|cibuildwheel|pytest-codspeed|asv|memray|git-cliff|myst-parser|zest-releaser|pytest-randomly"
    r"|pytest-random-order)$"
)  # fmt: skip
"""Programs that check, document or publish a project, and plug-ins that shuffle tests."""


@dataclass(frozen=True, slots=True)
class EnvironmentRecipe:
    """How an environment is made, as task.toml's [environment] has it, and `derivation`: what was taken from where."""

    python: str
    requirements: tuple[str, ...]
    exclude_newer: str | None
    build: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = (".",)
    derivation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inference:
    """What a project at one commit says of itself, and the recipes that can be made of it.

    Args:
        project: The project.
        day: The commit's day (UTC).
        lines: Release lines of Python worth a try, the best first.
        sources: What is declared anywhere, in order of trust.
        variables: What the build and the tests must have set; the build alone, where the project is its own back end.
        added: The project's own dependencies that its base, which is what gets installed, does not name.
        derivation: Sentences that hold for every recipe.
    """

    project: Project
    day: datetime.date
    lines: tuple[str, ...]
    sources: tuple[RequirementSource, ...]
    variables: Mapping[str, str]
    added: tuple[str, ...]
    derivation: tuple[str, ...]

    def recipe(
        self, line: str, *, with_date: bool = True, with_pins: bool = True, extra_packages: Iterable[str] = (),
        shared_date: bool = False, with_project: bool = True,
    ) -> EnvironmentRecipe:  # fmt: skip
        """A recipe for one release line.

        Args:
            line: The release line of Python.
            with_date: Whether packages newer than the commit are left out of account.
            with_pins: Whether exact versions that files of requirements and lock files state are kept.
            extra_packages: Names of packages that turned out to be missing.
            shared_date: Whether packages are as of the first day of the commit's quarter, which other commits with the
                same requirements share, and with it the environment.
            with_project: Whether the project is installed; else its dependencies are, and its folder comes first.
        """
        notes = list(self.derivation)
        chosen, origins, extras = self._chosen()
        lines, left = _unique(chosen, self.project, pinned=with_pins)
        _, where, plugins = pytest_options(self.project)
        known = {requirement_name(each) for each in lines}
        for plugin in [each for each in plugins if requirement_name(each) not in known]:
            lines.append(plugin)
            notes.append(f"{requirement_name(plugin)}: pytest's options in {where} need it.")
        if "pytest" not in {requirement_name(each) for each in lines}:
            lines.append("pytest")
            notes.append("pytest: nothing names it, so it was added.")
        if self.day < datetime.date(2023, 10, 2) and int(line.partition(".")[2]) < 12 and "setuptools" not in known:
            lines.append("setuptools<67")
            notes.append("setuptools: environments had it without a word until Python 3.12.")
        for name in extra_packages:
            found = self.named(name)
            lines.append(found[0] if found else name)
            notes.append(f"{name}: tests failed without it" + (f", and {found[1]} names it." if found else "."))
        lines += [each for each in self.added if requirement_name(each) not in known]
        if origins:
            notes.append(f"Requirements from {join_names(origins, 6)}.")
        if left:
            notes.append(f"Left out, as tests seldom need them: {join_names(sorted(left), 8)}.")
        until = self._until(line, shared=shared_date, notes=notes) if with_date or shared_date else None
        if until is None:
            notes.append("Packages as of today.")
        if not with_project:
            lines += [each for each in dependencies(self.project) if requirement_name(each) not in known]
            notes.append(
                "Not installed, since nothing here builds it: its folder comes first, without what it compiles."
            )
        build, variables = self._build(extras, notes) if with_project else (_FIRST,), dict(self.variables)
        if variables and at(self.project.toml("pyproject.toml"), "build-system", "backend-path"):
            # Its tests build other projects with it, whose versions are not its own.
            exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in variables.items())
            build, variables = (exports + build[0], *build[1:]), {}
        source = ("src",) if any(path.startswith(f"{self.project.root}src/") for path in self.project.files) else ()
        root = self.project.root.rstrip("/")
        path = (root or ".", *(f"{self.project.root}{each}" for each in source))
        settings = tox_variables(self.project)
        notes += [f"Set, as tox has it: {join_names(sorted(settings), 6)}."] if settings else []
        return EnvironmentRecipe(line, tuple(lines), until, build, settings | variables, path, tuple(notes))

    def _until(self, line: str, *, shared: bool, notes: list[str]) -> str:
        """The day after which no package counts: one of the commit's, unless Python itself is younger than that."""
        until, why = self.day + datetime.timedelta(days=1), "the day after the commit"
        if shared:
            until = self.day.replace(month=3 * ((self.day.month - 1) // 3) + 1, day=1)
            why = "the first day of the commit's quarter"
        if self.day.isoformat() < RELEASED.get(line, ""):
            until, why = settled_day(line), f"when packages knew Python {line}, which is younger than the commit"
        notes.append(f"Packages as of {until}, {why}.")
        return until.isoformat()

    def named(self, name: str) -> tuple[str, str] | None:
        """The line that asks for a package anywhere in the project, and where that is."""
        wanted = requirement_name(name)
        for source in self.sources:
            for line in source.lines.packages:
                if requirement_name(line) == wanted:
                    return line, source.origin
        return None

    def optional(self) -> tuple[str, ...]:
        """Names of packages that make more of the project work: of its extras, but for those of other work on it."""
        extras = (source for source in self.sources if source.extra and for_use(source.extra))
        names = (requirement_name(line) for source in extras for line in source.lines.packages)
        return tuple(dict.fromkeys(name for name in names if not _NO_TEST.match(name)))

    def _chosen(self) -> tuple[list[str], list[str], list[str]]:
        """Lines, where they stand, and extras of the project; what is for development counts where tests have none."""
        purpose = Purpose.TESTS
        ours = [source for source in self.sources if source.purpose is Purpose.TESTS]
        if not any(requirement_name(line) == "pytest" for source in ours for line in source.lines.packages):
            purpose = Purpose.DEVELOPMENT
        used = [source for source in self.sources if source.purpose <= purpose]
        extras = {extra for source in used for extra in source.lines.extras}
        named = [source for source in self.sources if source.extra in extras and source not in used]
        lines = [line for source in (*used, *named) for line in source.lines.packages]
        origins = [source.origin for source in used if source.lines.packages or source.lines.extras]
        held = {source.extra for source in self.sources if source.extra}
        return lines, origins, sorted(extras - held)

    def _build(self, extras: Sequence[str], notes: list[str]) -> tuple[str, ...]:
        if not any(self.project.has(name) for name in ("pyproject.toml", "setup.py", "setup.cfg")):
            notes.append("Not installed: the repository has no pyproject.toml, setup.py or setup.cfg.")
            return (_FIRST,)
        document = self.project.toml("pyproject.toml")
        if not self.project.has("setup.py") and not self.project.has("setup.cfg") and not _installable(document):
            notes.append("Not installed: its pyproject.toml describes no package.")
            return (_FIRST,)
        if _of_poetry_alone(document) and not self.project.has("setup.py"):
            notes.append("Installed with poetry-core, since its pyproject.toml names no build system.")
            extra = f"[{','.join(extras)}]" if extras else ""
            return (_POETRY.format(root=shlex.quote(self.project.root or "."), extra=shlex.quote(extra)), _FIRST)
        place = f"./{self.project.root.rstrip('/')}" if self.project.root else "."
        this = shlex.quote(place + (f"[{','.join(extras)}]" if extras else ""))
        requires = string_list(at(document, "build-system", "requires")) or ["setuptools", "wheel"]
        tools = " ".join(shlex.quote(each) for each in ("pip", *requires))
        named = f" and its extras {join_names(extras, 6)}" if extras else ""
        notes.append(f"Installed for development with its own dependencies{named}.")
        develop = f"python -m pip install --no-deps --no-build-isolation -e {shlex.quote(place)}"
        peers = {root for line in _unread(self.sources) if (root := self.project.folder_of(line))} - {self.project.root}
        roots = dict.fromkeys([*local_dependencies(self.project), *sorted(peers)])
        beside = [f"./{root}".rstrip("/") or "." for root in roots]
        if beside:
            notes.append(f"Installed with it, from the same repository: {join_names(beside, 6)}.")
        every = " ".join(f"-e {each}" for each in (this, *map(shlex.quote, beside)))
        return (
            f"uv pip install {every} || {{ uv pip install {this} {tools} && {_WITHOUT_COPY} && {develop}; }}"
            f" || {{ uv pip install {this} && {_FIRST}; }}",
            _LAST,
        )


def infer(
    project: Project, base: Project, day: datetime.date, described: str | None, there: Sequence[str]
) -> Inference:
    """Read what a project says of how it is built and tested.

    Args:
        project: Its files after the change, whose tests are run.
        base: Its files before it, which are what is installed.
        day: The commit's day (UTC).
        described: What `git describe --tags --long` says of the commit; None where it says nothing.
        there: Release lines of Python that this machine has.
    """
    lines, why = choose_lines(project, day, there)
    variables, version = version_variables(project, described)
    sources = (*declared_requirements(project), *requirement_files(project, pinned=True), *install_lines(project))
    order = sorted(sources, key=lambda source: source.purpose)
    notes = [each for each in (why, version) if each]
    strange = [line for line in dict.fromkeys(_unread(order)) if not line.startswith(("-c", "--constraint"))
               and project.folder_of(line) is None]  # fmt: skip
    if strange:
        notes.append(f"Passed over, since they have no version or date: {join_names(strange, 5)}.")
    before = {requirement_name(line) for line in dependencies(base)}
    added = tuple(line for line in dependencies(project) if requirement_name(line) not in before)
    if added:
        notes.append(f"Dependencies that the change adds: {join_names(added, 5)}.")
    return Inference(project, day, tuple(lines), tuple(order), variables, added, tuple(notes))


def _unread(sources: Iterable[RequirementSource]) -> list[str]:
    return [line for source in sources if source.purpose is Purpose.TESTS for line in source.lines.left]


def _of_poetry_alone(document: object) -> bool:
    return at(document, "tool", "poetry", "name") is not None and all(
        at(document, *keys) is None for keys in (("build-system",), ("project", "name"))
    )


def _installable(document: object) -> bool:
    return any(
        at(document, *keys) is not None for keys in (("build-system",), ("project", "name"), ("tool", "poetry", "name"))
    )


def _unique(lines: Iterable[str], project: Project, *, pinned: bool) -> tuple[list[str], set[str]]:
    """One line a package and marker, the first that asks for it; and names of programs that no test needs."""
    found: dict[tuple[str, str], str] = {}
    left: set[str] = set()
    locked = _locked(project) if pinned else {}
    for requirement in lines:
        name, marker, line = requirement_name(requirement), requirement.partition(";")[2].strip(), requirement
        if _NO_TEST.match(name):
            left.add(name)
            continue
        if not pinned:
            line = re.sub(r"===?\s*[^\s;,]+", "", line.partition(";")[0]).strip() + (f"; {marker}" if marker else "")
        elif not marker and not re.search(r"[<>=!~]", line) and name in locked:
            line = f"{line}=={locked[name]}"
        found.setdefault((name, marker), line)
    return list(found.values()), left


def _locked(project: Project) -> dict[str, str]:
    """Versions that a lock file of uv, poetry or pdm states; none of a package that it has in two versions."""
    found: dict[str, str] = {}
    for path in ("uv.lock", "poetry.lock", "pdm.lock"):
        packages = project.toml(path).get("package")
        for each in packages if isinstance(packages, list) else ():
            name, version = at(each, "name"), at(each, "version")
            if isinstance(name, str) and isinstance(version, str) and re.fullmatch(r"[\w.!+-]+", version):
                name = requirement_name(name)
                found[name] = "" if name in found and found[name] != version else version
    return {name: version for name, version in found.items() if version}
