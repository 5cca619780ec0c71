"""A JavaScript or TypeScript change's own tests: which files they are, and how the repository starts them."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from repoassay.construct.node.scripts import NodeTestCommand, build_commands, find_test_command
from repoassay.construct.recipe.project import Project, at
from repoassay.errors import BadInput
from repoassay.grading import count_tests
from repoassay.text import quote

__all__ = ["JAVASCRIPT_SUFFIXES", "NodeTests", "changed_packages", "find_node_tests", "string_values"]

JAVASCRIPT_SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_NAMED = re.compile(r".+[._-](?:tests?|spec)\.[mc]?[jt]sx?|tests?\.[mc]?[jt]sx?|test-.+\.[mc]?[jt]sx?")
_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "test-d", "__snapshots__", "__mocks__",
                      "tap-snapshots"})  # fmt: skip
_BESIDE = frozenset({"fixtures", "fixture", "helpers", "helper", "__fixtures__", "__helpers__", "node_modules"})
_SET_UP = re.compile(r"[\w./@-]*(?:setup|register|helper|bootstrap|loader|polyfill|test)[\w./-]*", re.IGNORECASE)
_IMPORTED = re.compile(r"""(?:\bfrom|\brequire\s*\(|^import)\s*["']([\w@:./-]+)["']""", re.MULTILINE)
_LOADED = re.compile(r"node:test|tape|tap|uvu")
"""Runners that a file loads to declare its tests, so that node alone starts them."""
_TOOLS = frozenset({"scripts", "build", "config", "tools", ".config", "support"})
_SETTINGS = (".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".mocharc.yaml", "vitest.config.*",
             "vite.config.*", "jest.config.*", "ava.config.*", "package.json", ".taprc")  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeTests:
    """What a repository of packages for Node calls its tests, and how it starts them.

    Args:
        project: Its tree after the change.
        command: How they are started.
        support: Files of their set-up that neither names nor folders tell.
        package: Folder of the package whose tests these are, where the root starts none; empty for the root.
        builds: Commands that build it, and packages of the repository that it uses, to be run where tests are lost.
    """

    project: Project
    command: NodeTestCommand
    support: tuple[str, ...] = ()
    package: str = ""
    builds: tuple[str, ...] = ()
    _counts: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def reader(self) -> str:
        """Which runner runs them."""
        return self.command.reader

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it is called with besides files."""
        return self.command.arguments

    def is_test(self, path: str) -> bool:
        """Whether the runner would find tests in a file."""
        place = PurePosixPath(path)
        if (
            not path.endswith(JAVASCRIPT_SUFFIXES)
            or path.endswith((".d.ts", ".test-d.ts"))
            or (self.package and not path.startswith(f"{self.package}/"))
        ):
            return False
        named = _NAMED.fullmatch(place.name) is not None
        if place.name.startswith("_") and (not named or self.reader == "ava"):
            return False
        if not named and (not self.inside(path) or not _BESIDE.isdisjoint(place.parts)):
            return False
        if path not in self._counts:
            self._counts[path] = count_tests(self.project.text(path))
        return self._counts[path] > 0 or (named and not self.project.has(path))

    def inside(self, path: str) -> bool:
        """Whether a file lies in a folder of tests."""
        return not _FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])


def find_node_tests(project: Project, changed_files: Collection[str] = ()) -> NodeTests:
    """Read off a tree how its tests are started.

    Args:
        project: The tree after the change.
        changed_files: What the change touches: where no script of the root starts tests, that package's may.

    Raises:
        BadInput: When no script tells, or a runner is named whose results cannot be read.
    """
    package = project.json("package.json")
    command, strange = find_test_command(
        string_values(at(package, "scripts")), [*_packages(package)], partial(_loaded_runner, project)
    )
    for folder in changed_packages(project, changed_files) if command is None or not command.script else ():
        inner = Project(project.files, project.read, f"{folder}/")
        scripts = string_values(at(inner.json("package.json"), "scripts"))
        found, _ = find_test_command(scripts, (), partial(_loaded_runner, inner))
        if found is not None:
            return _tests_of(project, inner, found)
    if strange and command is None:
        raise BadInput(
            f"The repository's tests run with {quote(strange)}, whose results are not read.",
            "Choose a repository that tests with node --test, AVA, Vitest, Jest, Jasmine, Mocha, tap, tape or uvu.",
        )
    if command is None:
        raise BadInput(
            "No script in package.json starts tests with node --test, AVA, Vitest, Jest, Jasmine, Mocha, tap, tape or "
            "uvu.",
            "Give tests of your own: --runner node --tests FILE.",
        )
    return _tests_of(project, project, command)


def _loaded_runner(project: Project, file: str, depth: int = 1) -> str:
    """The runner that a file of tests loads, itself or by a file that it imports; empty where it loads none."""
    plain = posixpath.normpath(file)
    ends = ("", *JAVASCRIPT_SUFFIXES, "/index.js", "/index.ts")
    place = next((f"{plain}{end}" for end in ends if project.has(f"{plain}{end}")), "")
    loaded = _IMPORTED.findall(project.text(place))
    near = (posixpath.join(posixpath.dirname(place), name) for name in loaded if name.startswith(".") and depth)
    own = ("node" if name == "node:test" else name for name in loaded if _LOADED.fullmatch(name))
    return next(own, "") or next(filter(None, (_loaded_runner(project, each, depth - 1) for each in near)), "")


def changed_packages(project: Project, changed_files: Collection[str]) -> list[str]:
    """Folders below the root with the package of a changed test of JavaScript, the one with most of them first."""
    found: Counter[str] = Counter()
    for path in changed_files:
        place = PurePosixPath(path)
        if path.endswith(JAVASCRIPT_SUFFIXES) and (
            _NAMED.fullmatch(place.name) or not _FOLDERS.isdisjoint(place.parts)
        ):
            above = (str(parent) for parent in place.parents if project.has(f"{parent}/package.json"))
            found.update([folder for folder in above if folder != "."][:1])
    return [folder for folder, _ in found.most_common()]


def _tests_of(project: Project, own: Project, command: NodeTestCommand) -> NodeTests:
    """Tests that a command of the package `own` starts."""
    if command.reader in ("tape", "uvu"):
        command = replace(command, arguments=_joined(command.arguments))
    if command.reader == "tap":
        command = replace(command, arguments=_tap_arguments(own, command.arguments))
    support = tuple(f"{own.root}{path}" for path in _named_set_up(own))
    package = own.root.rstrip("/")
    builds = [line for line in _builds(project, package) if line not in command.before]
    return NodeTests(project, command, support, package, tuple(dict.fromkeys(builds)))


def _builds(project: Project, package: str) -> list[str]:
    """Commands that build a package, after those of packages beside it that it uses; run in its folder."""
    places = {
        name: posixpath.dirname(path) for path in project.files
        if posixpath.basename(path) == "package.json" and _BESIDE.isdisjoint(PurePosixPath(path).parts)
        and isinstance(name := at(project.json(path), "name"), str)
    } if package else {}  # fmt: skip
    order: dict[str, None] = {}

    def visit(folder: str) -> None:
        order.setdefault(folder)
        for name in _packages(project.json(posixpath.join(folder, "package.json"))):
            if name in places and places[name] not in order:
                visit(places[name])
        order[folder] = order.pop(folder)  # after what it uses

    visit(package)
    found = []
    for folder in order:
        scripts = string_values(at(project.json(posixpath.join(folder, "package.json")), "scripts"))
        lines = build_commands(scripts)
        away = shlex.quote(posixpath.relpath(folder or ".", package or "."))
        enter = f'cd {away} && PATH="$PWD/node_modules/.bin:$PATH" && '
        found += [line if folder == package else f"{enter}{line}" for line in lines]
    return found


def _tap_arguments(project: Project, options: tuple[str, ...]) -> tuple[str, ...]:
    """Options of node that tap starts each file with, as the script, `.taprc` or package.json have it."""
    settings = at(project.json("package.json"), "tap")
    stated = settings if isinstance(settings, Mapping) else {}
    kept = [option.partition("=")[2] for option in options if option.startswith("--node-arg=")]
    listed = [each for name in ("node-arg", "node-args") for each in (stated.get(name) or ())]
    text = project.text(".taprc")
    plain = re.findall(r"^node-args?:[ \t]*(-\S+)[ \t]*$|^[ \t]+-[ \t]+(--\S+)[ \t]*$", text, re.MULTILINE)
    kept += [each for each in listed if isinstance(each, str)] + [one or other for one, other in plain]
    typed = "--ts" in options or stated.get("ts") is True or re.search(r"^ts:\s*true\s*$", text, re.MULTILINE)
    return (*(["--require=ts-node/register"] if typed and "--no-ts" not in options else []), *_joined(kept))


def _joined(words: Sequence[str]) -> tuple[str, ...]:
    """Options of node, each in one word with its value: files are run one by one, and what has no dash is one."""
    found: list[str] = []
    for word in words:
        if word.startswith("-") or not found:
            found.append("--require" if word == "-r" else word)
        else:
            found[-1] += f"={word}"
    return tuple(found)


def string_values(value: object) -> dict[str, str]:
    """The entries of an object that are strings; empty for anything else."""
    return {name: each for name, each in value.items() if isinstance(each, str)} if isinstance(value, Mapping) else {}


def _packages(package: object) -> dict[str, str]:
    return {name: version for kind in ("dependencies", "devDependencies")
            for name, version in string_values(at(package, kind)).items()}  # fmt: skip


def _named_set_up(project: Project) -> tuple[str, ...]:
    """Files of the repository that settings of the runner name and that are called as set-up is."""
    found: dict[str, None] = {}
    for file in project.matching(*_SETTINGS):
        for name in re.findall(r"""["']((?:\./|<rootDir>/)?[\w@./-]{3,200})["']""", project.text(file)):
            plain = name.removeprefix("<rootDir>/").removeprefix("./")
            for path in (plain, *(f"{plain}{suffix}" for suffix in JAVASCRIPT_SUFFIXES)):
                place = PurePosixPath(path)
                called = _SET_UP.fullmatch(place.name) or place.parts[0] in _TOOLS
                if called and path.endswith(JAVASCRIPT_SUFFIXES) and project.has(path):
                    found[path] = None
    return tuple(found)
