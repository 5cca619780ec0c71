"""What a project's metadata declares for its tests: extras, dependency groups, and the tables of its tools."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from repoassay.construct.recipe.project import Project, at, string_list
from repoassay.construct.recipe.requirement_lines import RequirementLines, requirement_name, sort_lines

__all__ = [
    "Purpose",
    "RequirementSource",
    "declared_requirements",
    "dependencies",
    "for_use",
    "local_dependencies",
    "own_name",
    "purpose_of",
    "setup_arguments",
]


class Purpose(IntEnum):
    """What requirements are declared for; a lower one is asked for first."""

    TESTS = 0
    DEVELOPMENT = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class RequirementSource:
    """Requirements from one place: what they are for, the place in words, and the lines.

    `extra` is the name of the project's own extra that holds them; then they come with the project's installation.
    """

    purpose: Purpose
    origin: str
    lines: RequirementLines
    extra: str = ""


_MOST_GROUPS = 200
_DEEPEST, _LONGEST = 4, 2**14  # how often names in values are replaced, and characters of a section at most
_OTHER_WORDS = frozenset({
    "mypy", "lint", "docs", "doc", "typing", "bench", "benchmark", "fuzz", "release", "publish", "min", "minimal",
    "minimum", "oldest", "lowest", "nightly", "pre", "coverage", "random",
})  # fmt: skip
"""Words of names that are for something else, whatever else they say."""


def purpose_of(name: str) -> Purpose:
    """What a group, an extra, an environment or a file of this name is for."""
    words = set(re.split(r"[^a-z]+", name.lower()))
    if words & _OTHER_WORDS:
        return Purpose.OTHER
    if words & {"test", "tests", "testing", "unittest", "pytest"}:
        return Purpose.TESTS
    return Purpose.DEVELOPMENT if words & {"dev", "devel", "develop", "development"} else Purpose.OTHER


def for_use(extra: str) -> bool:
    """Whether an extra of this name is for who uses the project, in place of who works on it."""
    return purpose_of(extra) is Purpose.OTHER and _OTHER_WORDS.isdisjoint(re.split(r"[^a-z]+", extra.lower()))


def own_name(project: Project) -> str:
    """What the project's own distribution is called, as indexes compare names; empty where it does not say."""
    document = project.toml("pyproject.toml")
    for name in (
        at(document, "project", "name"),
        at(document, "tool", "poetry", "name"),
        at(document, "tool", "flit", "metadata", "dist-name") or at(document, "tool", "flit", "metadata", "module"),
        project.ini("setup.cfg").get("metadata", "name", fallback=None),
        setup_arguments(project).get("name"),
    ):
        if isinstance(name, str) and requirement_name(name):
            return requirement_name(name)
    return ""


def _source(purpose: Purpose, origin: str, lines: Iterable[str], own: str, extra: str = "") -> RequirementSource:
    return RequirementSource(purpose, origin, sort_lines(lines, own), extra)


def declared_requirements(project: Project) -> Iterator[RequirementSource]:
    """Yield what pyproject.toml, setup.cfg, setup.py and Pipfile declare."""
    own = own_name(project)
    yield from _pyproject(project.toml("pyproject.toml"), own)
    setup_cfg = project.ini("setup.cfg")
    if setup_cfg.has_section("options.extras_require"):
        extras = _interpolated(dict(setup_cfg.items("options.extras_require")))
        yield from _extras("setup.cfg", {name: _entries(text) for name, text in extras.items()}, own)
    wanted = _entries(setup_cfg.get("options", "tests_require", fallback=""))
    arguments = setup_arguments(project)
    yield from _extras("setup.py", arguments.get("extras_require"), own)
    for origin, lines in (("setup.cfg", wanted), ("setup.py", string_list(arguments.get("tests_require")))):
        if lines:
            yield _source(Purpose.TESTS, f"tests_require in {origin}", lines, own)
    pipfile = at(project.toml("Pipfile"), "dev-packages")
    if isinstance(pipfile, Mapping):
        yield RequirementSource(Purpose.DEVELOPMENT, "dev-packages in Pipfile", sort_lines(_poetry_lines(pipfile), own))


def dependencies(project: Project) -> list[str]:
    """What the project itself depends on, as far as its metadata writes it out."""
    document = project.toml("pyproject.toml")
    poetry = at(document, "tool", "poetry", "dependencies")
    lines = [
        *string_list(at(document, "project", "dependencies")),
        *string_list(at(document, "tool", "flit", "metadata", "requires")),
        *(_poetry_lines(poetry) if isinstance(poetry, Mapping) else ()),
        *_entries(project.ini("setup.cfg").get("options", "install_requires", fallback="")),
        *string_list(setup_arguments(project).get("install_requires")),
    ]
    return sort_lines(lines, own_name(project)).packages


def local_dependencies(project: Project) -> list[str]:
    """Roots of the other projects in its repository that it depends on, and of those that these depend on."""
    found: list[str] = []
    waiting, there = [project], {own_name(other): other for other in reversed(project.others())}
    while waiting and there:
        for line in dependencies(waiting.pop()):
            if other := there.pop(requirement_name(line), None):
                found.append(other.root)
                waiting.append(other)
    return sorted(found)


def _pyproject(document: Mapping[str, Any], own: str) -> Iterator[RequirementSource]:
    yield from _extras("pyproject.toml", at(document, "project", "optional-dependencies"), own)
    flit = at(document, "tool", "flit", "metadata")
    yield from _extras("pyproject.toml", at(flit, "requires-extra"), own)
    if isinstance(flit, Mapping) and "requires-extra" not in flit and string_list(flit.get("dev-requires")):
        yield RequirementSource(
            Purpose.DEVELOPMENT, "dev-requires of flit", sort_lines(string_list(flit["dev-requires"]), own)
        )
    groups = at(document, "dependency-groups")
    for name in groups if isinstance(groups, Mapping) else ():
        yield _source(purpose_of(name), f"dependency group {name}", _group(groups, name), own)
    for name, lines in (*_pdm(at(document, "project")), *_pdm(at(document, "tool", "pdm"))):
        purpose = min(purpose_of(name), Purpose.DEVELOPMENT)
        yield _source(purpose, f"{name} of pdm's dev-dependencies", lines, own)
    if lines := string_list(at(document, "tool", "uv", "dev-dependencies")):
        yield _source(Purpose.DEVELOPMENT, "uv's dev-dependencies", lines, own)
    yield from _poetry(at(document, "tool", "poetry"), own)
    environments = at(document, "tool", "hatch", "envs")
    for name, env in environments.items() if isinstance(environments, Mapping) else ():
        lines = [*string_list(at(env, "dependencies")), *string_list(at(env, "extra-dependencies"))]
        features = [f".[{feature}]" for feature in string_list(at(env, "features"))]
        if lines or features:
            purpose = Purpose.DEVELOPMENT if name == "default" else purpose_of(name)
            yield _source(purpose, f"hatch environment {name}", [*lines, *features], own)


def _pdm(table: object) -> Iterator[tuple[str, list[str]]]:
    """Groups of pdm's dev-dependencies, which once were a list, or a version for each name."""
    found = at(table, "dev-dependencies")
    versions = (
        {name: each for name, each in found.items() if isinstance(each, str)} if isinstance(found, Mapping) else {}
    )
    yield "dev", [*_poetry_lines(versions)] or string_list(found)
    for name, lines in found.items() if isinstance(found, Mapping) else ():
        yield name, string_list(lines) if name not in versions else []


def _entries(text: str | None) -> list[str]:
    """Requirements of an option of setup.cfg: its lines, or what semicolons part where it has but one."""
    return string_list((text or "").replace(";", "\n") if "\n" not in (text or "") else text)


def _interpolated(options: Mapping[str, str | None]) -> dict[str, str]:
    """Values of a section in which `%(name)s` stands for the value of another, as setuptools reads them."""
    found = {name: value or "" for name, value in options.items()}
    for _ in range(_DEEPEST):
        parts = {name: re.split(r"%\(([^)\n]{1,100})\)s", value) for name, value in found.items()}
        if sum(map(len, found.values())) > _LONGEST:  # a stranger's, who may have them double
            break
        found = {
            name: "".join(found.get(part, "") if place % 2 else part for place, part in enumerate(pieces))
            for name, pieces in parts.items()
        }
    return found


def _extras(origin: str, extras: object, own: str) -> Iterator[RequirementSource]:
    for name, lines in extras.items() if isinstance(extras, Mapping) else ():
        yield RequirementSource(
            purpose_of(name), f"extra {name} in {origin}", sort_lines(string_list(lines), own), name
        )


def _group(groups: Mapping[str, Any], name: str, seen: set[str] | None = None) -> list[str]:
    """The lines of a dependency group (PEP 735) with those of the groups it includes, each once."""
    seen = set() if seen is None else seen
    if name in seen or not isinstance(groups.get(name), list) or len(seen) > _MOST_GROUPS:
        return []
    seen.add(name)
    lines = []
    for item in groups[name]:
        if isinstance(item, str):
            lines.append(item)
        elif isinstance(inner := at(item, "include-group"), str):
            lines += _group(groups, inner, seen)
    return lines


def _poetry(table: object, own: str) -> Iterator[RequirementSource]:
    for name, extra in (at(table, "extras") or {}).items() if isinstance(at(table, "extras"), Mapping) else ():
        yield RequirementSource(purpose_of(name), f"extra {name} of poetry", sort_lines(string_list(extra), own), name)
    old = at(table, "dev-dependencies")
    if isinstance(old, Mapping):
        yield RequirementSource(Purpose.DEVELOPMENT, "poetry's dev-dependencies", sort_lines(_poetry_lines(old), own))
    groups = at(table, "group")
    for name, group in groups.items() if isinstance(groups, Mapping) else ():
        inner = at(group, "dependencies")
        if isinstance(inner, Mapping):
            yield _source(purpose_of(name), f"poetry group {name}", _poetry_lines(inner), own)


def _poetry_lines(table: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for each entry that has a version: `{version = "^1.2", python = "<3.9"}` gets a marker."""
    for name, value in table.items():
        for each in value if isinstance(value, list) else [value]:
            if name == "python" or (isinstance(each, Mapping) and {"git", "path", "url"} & each.keys()):
                continue
            version = each if isinstance(each, str) else at(each, "version")
            extras = f"[{','.join(string_list(at(each, 'extras')))}]" if string_list(at(each, "extras")) else ""
            line = f"{name}{extras}{','.join(_specifiers(version if isinstance(version, str) else '*'))}"
            marker = _marker(each)
            yield f"{line}; {marker}" if marker else line


def _marker(entry: object) -> str:
    """Where an entry counts, as PEP 508 writes it; empty where that is everywhere."""
    found = [value.strip() for name in ("markers", "marker") if isinstance(value := at(entry, name), str)]
    if isinstance(platform := at(entry, "platform"), str):
        found.append(f"sys_platform == '{platform}'")
    if isinstance(python := at(entry, "python"), str):
        found.append(" or ".join(filter(None, map(_of_python, re.split(r"\|\|?", python)))))
    found = [each for each in found if each]
    return found[0] if len(found) == 1 else " and ".join(f"({each})" for each in found)


def _of_python(version: str) -> str:
    parts = [re.fullmatch(r"([<>=!~]+)\s*([\w.*]+)", each) for each in _specifiers(version)]
    names = {True: "python_full_version", False: "python_version"}
    return " and ".join(f"{names[each[2].count('.') > 1]} {each[1]} '{each[2]}'" for each in parts if each)


def _specifiers(version: str) -> list[str]:
    """A version of poetry or Pipfile as pip writes it: `^1.2` becomes `>=1.2,<2`, and any of several is any at all."""
    parts = []
    for part in re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!~^])", version.strip()) if "|" not in version else ():
        caret = re.fullmatch(r"([\^~])\s*v?(\d{1,9}(?:\.\d{1,9})*)(\S*)", part)
        if caret:
            numbers = [int(number) for number in caret[2].split(".")]
            first = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
            place = first if caret[1] == "^" else min(1, len(numbers) - 1)
            upper = [*numbers[:place], numbers[place] + 1]
            parts += [f">={caret[2]}{caret[3]}", f"<{'.'.join(map(str, upper))}"]
        elif part[:1].isdigit():
            parts.append(f"=={part}")
        elif part not in ("*", ""):
            parts.append(part)
    return parts


def setup_arguments(project: Project) -> dict[str, Any]:
    """The arguments of `setup(...)` in setup.py that are written out, read from its syntax alone."""
    try:
        return _arguments(project)
    except RecursionError:  # as of a sum of thousands
        return {}


def _arguments(project: Project) -> dict[str, Any]:
    names: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for node in ast.walk(project.python("setup.py")):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            _assign(node.targets[0], _value(node.value, names), names)
    for node in ast.walk(project.python("setup.py")):
        if isinstance(node, ast.Call) and _called(node.func) == "setup":
            for keyword in node.keywords:
                value = _value(keyword.value, names)
                if keyword.arg is None and isinstance(value, dict):
                    found |= value
                elif keyword.arg is not None and value is not None:
                    found[keyword.arg] = value
    return found


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _assign(target: ast.expr, value: Any, names: dict[str, Any]) -> None:
    if isinstance(target, ast.Name) and value is not None:
        names[target.id] = value
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        key, table = _value(target.slice, names), names.get(target.value.id)
        if isinstance(table, dict) and isinstance(key, str):
            table[key] = value


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What an expression of literals, names and sums is; None where it is anything else."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names.get(name)
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return _flat(_value(item, names) for item in items)
        case ast.Dict(keys, values):
            pairs = ((_value(key, names) if key else None, value) for key, value in zip(keys, values, strict=True))
            return {key: _value(value, names) for key, value in pairs if isinstance(key, str)}
        case ast.BinOp(left, ast.Add(), right):
            first, second = _value(left, names), _value(right, names)
            alike = type(first) is type(second) and isinstance(first, (list, str))
            # A name that is doubled line by line would soon fill any memory.
            return first + second if alike and len(first) + len(second) <= _LONGEST else first
        case ast.Subscript(ast.Name(name), key):
            table, inner = names.get(name), _value(key, names)
            return at(table, inner) if isinstance(inner, str) else None
        case ast.Call(func=function, keywords=keywords) if _called(function) == "dict":
            return {keyword.arg: _value(keyword.value, names) for keyword in keywords if keyword.arg}
    return None


def _flat(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]
