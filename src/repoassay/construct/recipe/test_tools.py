"""What a project gives to its test programs: requirement files, tox, nox, CI workflows, and pytest's own options."""

from __future__ import annotations

import ast
import itertools
import posixpath
import re
import shlex
from collections.abc import Iterator

from repoassay.construct.recipe.declarations import Purpose, RequirementSource, own_name, purpose_of
from repoassay.construct.recipe.project import Project, at, read_ini, string_list
from repoassay.construct.recipe.requirement_lines import RequirementLines, read_lines, sort_lines

__all__ = ["install_lines", "pytest_options", "requirement_files", "tox_variables"]

_FILES = (
    "*requirements*.txt", "*requirements*.in", "requirements*/*.txt", "requirements*/*.in", "tests/*requirements*.txt",
    "test/*requirements*.txt", "*/requirements*/*test*.txt", "ci/*requirements*.txt", "ci/*.txt",
)  # fmt: skip
_WORKFLOWS = (
    ".github/workflows/*.yml", ".github/workflows/*.yaml", ".travis.yml", "azure-pipelines.yml", ".circleci/config.yml",
)  # fmt: skip
_MOST_SESSIONS, _MOST_SETTINGS = 100, 40
_ROOT = re.compile(r"\{(toxinidir|tox_root)\}")
_SETTING = re.compile(r"(?!(PYTHON|PIP_|UV_|COV|TOX|VIRTUALENV|LD_|PATH$|HOME$|LANG$|LC_))[A-Z_][A-Z0-9_]{0,99}")
_VALUE = re.compile(r"[^{\0]{0,2000}")
"""Variables that tell a project's tests something: no other is the tests', but the interpreter's or the machine's."""
_BASES = frozenset({"testenv", "env_run_base"})  # sections that every environment of tox begins with


def requirement_files(project: Project, *, pinned: bool) -> Iterator[RequirementSource]:
    """Yield requirement files by what they are for; where a `.in` was compiled to a `.txt`, one of both."""
    own = own_name(project)
    found = dict.fromkeys(project.matching(*_FILES))
    for path in found:
        twin = path[:-3] + ".txt" if path.endswith(".in") else path[:-4] + ".in"
        if twin in found and path.endswith(".in") is pinned:
            continue
        lines = read_lines(project, path, own)
        stem = re.sub(r"requirements|\.(txt|in)$", " ", path)
        purpose = purpose_of(stem)
        if purpose is Purpose.OTHER and not stem.strip(" /-_") and _names_pytest(lines):
            purpose = Purpose.DEVELOPMENT
        yield RequirementSource(purpose, path, lines)


def install_lines(project: Project) -> Iterator[RequirementSource]:
    """Yield what tox, nox and CI workflows install before they run tests."""
    own = own_name(project)
    for path, config, section in _tox(project):
        name = section.partition(":")[2]
        of_tests = re.match(r"[{(]*py", name) is not None  # py{37,38}-sphinx{4,5}, as tox names environments of tests
        purpose = Purpose.TESTS if section in _BASES else purpose_of(f"test {name}" if of_tests else name)
        if lines := _installed(project, config, own):
            yield RequirementSource(purpose, f"[{section}] in {path}", lines)
    for name, words in itertools.islice(_nox_sessions(project), _MOST_SESSIONS):
        if lines := _installed(project, words, own):
            yield RequirementSource(purpose_of(name), f"session {name} in noxfile.py", lines)
    for path in project.matching(*_WORKFLOWS):
        words = [each for line in project.text(path).splitlines() for each in _pip_installs(line)]
        lines = _installed(project, words, own)
        if lines and re.search(r"\b(pytest|tox|nox|unittest|make test)\b", project.text(path)):
            yield RequirementSource(Purpose.DEVELOPMENT, path, lines)


def _names_pytest(lines: RequirementLines) -> bool:
    return any(re.match(r"pytest\b", line) for line in lines.packages)


def _tox(project: Project) -> Iterator[tuple[str, list[str], str]]:
    """Files of tox with their environments: where, lines of `deps` and `extras`, and the section's name."""
    legacy = at(project.toml("pyproject.toml"), "tool", "tox", "legacy_tox_ini")
    parser = project.ini("tox.ini")
    if isinstance(legacy, str) and not parser.sections():
        parser = read_ini(legacy)
    for section in parser.sections():
        if section == "testenv" or section.startswith("testenv:"):
            deps, extras, groups = (_of_all(parser.get(section, key, fallback="") or "")
                                    for key in ("deps", "extras", "dependency_groups"))  # fmt: skip
            deps = [] if section.startswith(("testenv:py", "testenv:{py")) else deps  # which hold for one of them alone
            named = [f"--group {name}" for name in _names(groups)]
            yield "tox.ini", [*deps, *_of_project(_names(extras)), *named], section
    pyproject = at(project.toml("pyproject.toml"), "tool", "tox")
    for path, document in (("tox.toml", project.toml("tox.toml")), ("pyproject.toml", pyproject)):
        if base := at(document, "env_run_base"):
            yield path, [*string_list(at(base, "deps")), *_of_project(string_list(at(base, "extras")))], "env_run_base"


def tox_variables(project: Project) -> dict[str, str]:
    """Variables that tox sets for every environment, without those that it does not state by itself."""
    base = project.ini("tox.ini")
    lines = _of_all("\n".join(base.get("testenv", key, fallback="") or "" for key in ("setenv", "set_env")))
    found = dict(each.split("=", 1) for each in lines if "=" in each)
    for document in (project.toml("tox.toml"), at(project.toml("pyproject.toml"), "tool", "tox")):
        if isinstance(table := at(document, "env_run_base", "set_env"), dict):
            found |= {name: each for name, each in table.items() if isinstance(each, str)}
    values = {name.strip(): _ROOT.sub("/workspace/repo", each.strip()) for name, each in found.items()}
    usable = [(name, each) for name, each in values.items() if _SETTING.fullmatch(name) and _VALUE.fullmatch(each)]
    return dict(usable[:_MOST_SETTINGS])


def _of_all(lines: str) -> list[str]:
    """Lines of a setting, without those that hold for some environments alone."""
    return [line for line in string_list(lines) if not re.match(r"[!\w.,{}-]+:\s", line)]


def _names(lines: list[str]) -> list[str]:
    return [name for line in lines for name in re.split(r"[\s,]+", line) if name]


def _of_project(extras: list[str]) -> list[str]:
    return [f".[{extra}]" for extra in extras if re.fullmatch(r"[\w.-]+", extra)]


def _nox_sessions(project: Project) -> Iterator[tuple[str, list[str]]]:
    """Sessions of nox with the strings they install; names and formatted strings are passed over."""
    for node in ast.walk(project.python("noxfile.py")):
        if isinstance(node, ast.FunctionDef):
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and _is_install(call)]
            words = [arg.value for call in calls for arg in call.args
                     if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]  # fmt: skip
            if words:
                yield node.name, _joined(words)


def _is_install(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "install"


def _joined(words: list[str]) -> list[str]:
    """Words of a command as lines: an option and its value belong together."""
    lines: list[str] = []
    for word in words:
        if lines and lines[-1] in {"-r", "-c", "-e", "--requirement", "--constraint", "--editable", "--group"}:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _pip_installs(line: str) -> list[str]:
    """What a line of a workflow installs with pip."""
    found = re.search(r"\bpip3? install\s+(.*)", re.sub(r"(^|\s)#.*", "", line))
    if not found or "$" in found[1] or "{{" in found[1]:
        return []
    try:
        words = shlex.split(re.split(r"&&|\|\||;|\|", found[1])[0])
    except ValueError:
        return []
    return [
        each for each in _joined(words) if each not in {"-U", "--upgrade", "pip", "setuptools", "wheel", "tox", "nox"}
    ]


def _installed(project: Project, words: list[str], own: str) -> RequirementLines:
    """Words and lines of an installation, with the files and groups they name read."""
    found = RequirementLines()
    groups = at(project.toml("pyproject.toml"), "dependency-groups")
    seen: set[str] = set()
    for word in dict.fromkeys(words):
        file = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", word)
        group = re.match(r"--group[ =](\S+)", word)
        if file:
            path = posixpath.normpath(re.sub(r"\{(toxinidir|tox_root)\}/?", "", file[1]))
            lines = read_lines(project, path, own, seen)
        elif group:
            lines = sort_lines(string_list(at(groups, group[1])), own)
        else:
            lines = sort_lines([] if "{" in word else [word], own)
        found.packages += lines.packages
        found.extras += lines.extras
        found.left += lines.left
    return found


_OPTION_PLUGINS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "-n": "pytest-xdist", "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist", "--timeout": "pytest-timeout", "--asyncio-mode": "pytest-asyncio",
    "--benchmark": "pytest-benchmark", "--flake8": "pytest-flake8", "--mypy": "pytest-mypy", "--black": "pytest-black",
    "--isort": "pytest-isort", "--pylint": "pytest-pylint", "--reruns": "pytest-rerunfailures",
    "--random-order": "pytest-random-order", "--randomly": "pytest-randomly", "--mpl": "pytest-mpl",
    "--doctest-plus": "pytest-doctestplus", "--doctest-rst": "pytest-doctestplus", "--remote-data": "pytest-remotedata",
    "--html": "pytest-html", "--sugar": "pytest-sugar", "--ds": "pytest-django", "--disable-socket": "pytest-socket",
    "--snapshot": "syrupy", "--nbval": "nbval", "--codspeed": "pytest-codspeed", "--checkdocs": "pytest-checkdocs",
}  # fmt: skip
_SETTING_PLUGINS = {
    "asyncio_mode": "pytest-asyncio", "timeout": "pytest-timeout", "DJANGO_SETTINGS_MODULE": "pytest-django",
    "mock_use_standalone_module": "pytest-mock", "env": "pytest-env", "xfail_strict": "",
}  # fmt: skip


def pytest_options(project: Project) -> tuple[dict[str, str], str, list[str]]:
    """Settings of pytest, the file they stand in, and the plug-ins that these settings cannot do without.

    As pytest itself, the first file with a section of it counts.
    """
    document = project.toml("pyproject.toml")
    for path, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("pyproject.toml", ""),
                          ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):  # fmt: skip
        settings: dict[str, str] = {}
        tables = (at(document, "tool", "pytest", "ini_options"), at(document, "tool", "pytest"))
        table = next(filter(None, tables), None)
        if not section and isinstance(table, dict):
            settings = {
                key: value if isinstance(value, str) else " ".join(string_list(value)) for key, value in table.items()
            }
        elif section and project.ini(path).has_section(section):
            settings = {key: value or "" for key, value in project.ini(path).items(section)}
        if settings or (path in {"pytest.ini", ".pytest.ini"} and project.has(path)):
            return settings, path, _plugins(settings)
    return {}, "", []


def _plugins(settings: dict[str, str]) -> list[str]:
    try:
        words = shlex.split(settings.get("addopts", ""))
    except ValueError:
        words = settings.get("addopts", "").split()
    found = [plugin for word in words for option, plugin in _OPTION_PLUGINS.items()
             if word == option or (option.startswith("--") and word.startswith(option))
             or (option == "-n" and re.fullmatch(r"-n(\d+|auto|logical)", word))]  # fmt: skip
    found += [plugin for setting, plugin in _SETTING_PLUGINS.items() if plugin and setting in settings]
    found += string_list(settings.get("required_plugins", "").replace(" ", "\n"))
    return list(dict.fromkeys(found))
