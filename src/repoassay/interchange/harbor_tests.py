"""The tests of a Harbor task: pytest's own, by name, where its script does nothing else; else the script as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from repoassay.interchange.absent_programs import check_started
from repoassay.interchange.hidden_test_text import (
    absolute_paths,
    check_tests,
    constant_paths,
    names_of_tests,
    starts_servers,
)
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.isolated_tests import check_isolated
from repoassay.interchange.pytest_script import AGENTS_TESTS, check_reward, check_reward_place, read_test_script
from repoassay.interchange.verifier_script import as_own_programs, read_verifier
from repoassay.tasks import read_regular

__all__ = ["TaskTests", "read_tests", "task_text"]

_MOST_TEXT = 2**20
_PROGRAMS = (".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".pl", ".R")
_BY_EXIT_CODE = """\
bash /tests/{name}
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""


@dataclass(slots=True)
class TaskTests:
    """How a task's tests are run here.

    Attributes:
        runner: `pytest`, or `script`.
        ids: Of the tests.
        text: What the tests say, for places that they name.
        looked_at: Absolute paths that they look at.
        pip, apt: Packages they install.
        files: What is written in place of published files, by path below tests/.
    """

    runner: str
    ids: tuple[str, ...]
    text: str
    looked_at: list[str]
    pip: list[str] = field(default_factory=list)
    apt: list[str] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)


def read_tests(
    tests: Path, script: Path | None, image: ImageRecipe, *, rewards: bool, asks: bool = False,
    own: str = "", before: str = "",
) -> TaskTests:  # fmt: skip
    """Understand a task's tests.

    Args:
        tests: The folder.
        script: What runs them; None where pytest runs `test_*.py`.
        image: What they run in.
        rewards: Whether the script writes a reward, or its exit code says the result.
        asks: Whether they ask a model, which a script alone is let to.
        own: What lays files that they bring, or sets variables that are theirs; a script alone can begin with it.
        before: What a script begins with in an image of the tests' own: its variables and folder.

    Raises:
        ImportRefusal: They cannot be run here.
    """
    found = ""
    looked_at: list[str] = []
    theirs = [path for path in sorted(tests.rglob("*")) if path.is_file() and path != script]
    if not theirs and not rewards:
        raise ImportRefusal("It has no tests.", "tests")
    programs = {
        name: task_text(tests, name)
        for path in sorted(tests.rglob("*"))
        if path.suffix in _PROGRAMS and path.is_file() and (name := path.relative_to(tests).as_posix())
    }
    started = starts_servers(programs.values())
    for name, text in programs.items():
        check_tests(text, f"tests/{name}", server_started=started)
        found += f"{text}\n"
        looked_at += constant_paths(text) if name.endswith(".py") else _system_paths(text)
    check_started(programs, task_text(script.parent, script.name) if script else "", image)
    if script is not None and rewards:
        check_isolated(task_text(script.parent, script.name), programs, image.pip)
    refusal = None
    if not (asks or own or "cd /" in before):  # by name they would stand where the agent does
        try:
            named = _by_name(tests, script, image, found, looked_at)
            if rewards and script is not None:
                check_reward(_script_text(script, image), _script_name(script))
        except ImportRefusal as error:
            refusal = error
        else:
            return named
    shown = _shown_tests(tests, image.files)
    if refusal is not None and (script is None or (refusal.why == AGENTS_TESTS and not shown)):
        raise refusal
    assert script is not None
    _check_own(_script_text(script, image), _script_name(script), image.work, {*image.files, *shown})
    scripted = _by_script(script, image, found, shown, looked_at, rewards=rewards)
    text = before + own + scripted.files[script.name]
    if rewards and not text.startswith("#!"):  # it is run by what its first line names, which need not be bash
        text = "".join(re.findall(r"\A#!.*\n", task_text(script.parent, script.name))) + text
    return replace(scripted, files={**scripted.files, script.name: text})


def _script_text(script: Path, image: ImageRecipe) -> str:
    """A script, whose Python environments are the task's own: those of the image are the agent's to change."""
    text = task_text(script.parent, script.name)
    if "\r\n" in text:
        raise ImportRefusal("Its test script has carriage returns, which belong to its words.", _script_name(script))
    for folder in image.venvs:
        programs = rf"{re.escape(folder)}/bin/(?=(python[\d.]*|pip3?|pytest|uv)\b)"
        text = re.sub(rf"(?m)(^|&&|;|\bif|!|\bexec)(\s*){programs}", r"\1\2", text)
        text = re.sub(rf"(?<![\w./-]){programs}", "/env/bin/", text)
    return text


_IF_THERE = re.compile(r"(?m)^(?:if )?\[ -[fre] (?P<file>/[\w./-]+) \](; then\b| &&).*(\.|source) (?P=file)\b.*$")
"""A line that reads the settings of a machine where there are some, as there are none here."""


def _system_paths(text: str) -> list[str]:
    """Paths in a program that is no Python below the folders where a machine keeps its own settings and state."""
    plain = _IF_THERE.sub("", text)
    return [path for path in absolute_paths(plain) if path.startswith(("/etc/", "/var/")) and "/apt/" not in path]


def _shown_tests(tests: Path, files: Mapping[str, Path]) -> dict[str, str]:
    """Places in the image that hold a file of the tests as it is -> its path below tests/.

    Of files that are no programs these are those beside or below such a program alone: other data is the agent's to
    change, and tests may ask whether it did.
    """
    sizes: dict[tuple[str, int], Path] = {}
    for path in sorted(tests.rglob("*")):
        if path.is_file() and path.stat().st_size:
            sizes[path.name, path.stat().st_size] = path
    found = {}
    for place, file in files.items():
        hidden = sizes.get((PurePosixPath(place).name, file.stat().st_size))
        if hidden is not None and hidden.read_bytes() == file.read_bytes():
            found[place] = hidden.relative_to(tests).as_posix()
    folders = {str(PurePosixPath(place).parent) for place in found if place.endswith(_PROGRAMS)}
    return {
        place: name
        for place, name in found.items()
        if place.endswith(_PROGRAMS) or folders & set(map(str, PurePosixPath(place).parents))
    }


_SETTINGS = frozenset({"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"})
_SKIPS = re.compile(r"pytest\.(skip|importorskip|xfail)|mark\.(skip|xfail)|skipTest\(|unittest\.(skip|expectedFailure)")
_COLLECTED = re.compile(r"test_.*\.py|.*_test\.py")
"""Files in which pytest looks for tests."""


def _by_name(tests: Path, script: Path | None, image: ImageRecipe, text: str, looked_at: list[str]) -> TaskTests:
    for path in sorted(tests.rglob("*")):
        if path.name in _SETTINGS:
            raise ImportRefusal("Its tests have settings of their own.", f"tests/{path.relative_to(tests).as_posix()}")
    if script is not None and (skips := _SKIPS.search(text)):
        raise ImportRefusal("Its tests may be skipped, which its script passes.", "tests", 0, skips[0])
    files, pip = ["."], []
    if script is not None:
        reading = read_test_script(_script_text(script, image), _script_name(script), image.work)
        files, pip = reading.files, reading.pip
    if "." in files:
        files = [
            path.relative_to(tests).as_posix() for path in sorted(tests.rglob("*.py")) if _COLLECTED.match(path.name)
        ]
    ids: list[str] = []
    for file in dict.fromkeys(files):
        names, many = names_of_tests(task_text(tests, file), file)
        if many:
            raise ImportRefusal("Its tests have names that are known only when they run.", file)
        ids += names
    return TaskTests("pytest", tuple(ids), text, looked_at, pip)


_AGENTS = re.compile(r"\bpytest\b[^;&|]*?\s((?:[\w-]+/)*test_?\w*\.py)\b")


def _check_own(script: str, name: str, work: str, placed: Collection[str]) -> None:
    """Refuse a script that runs tests which nobody has put where it looks for them."""
    before = ""
    for number, line in enumerate(script.replace("\\\n", "  ").splitlines(), 1):
        for path in _AGENTS.findall("" if line.lstrip().startswith("#") else line):
            named = re.escape(path.rpartition("/")[2])
            put = re.search(rf"\b(cp|mv|ln|install|rsync|cat|cd)\b.*({named}|tests|TEST_DIR)",
                            before + line.partition("pytest")[0])  # fmt: skip
            if put is None and str(PurePosixPath(work, path)) not in placed:
                raise ImportRefusal(AGENTS_TESTS, name, number, line)
        before += f"{line}\n"


def _by_script(
    script: Path, image: ImageRecipe, text: str, shown: Mapping[str, str], looked_at: list[str], *, rewards: bool
) -> TaskTests:
    source = _script_text(script, image)
    if image.work == "/":
        raise ImportRefusal("It works in the root folder.", "environment/Dockerfile")
    source, inline, newest = as_own_programs(source, script.parent)
    reading = read_verifier(source, _script_name(script))
    reading.pip += inline
    reading.python = max(reading.python, newest, key=lambda version: int(version[2:] or 0))
    if reading.python and _is_older(image.python or reading.python, reading.python):
        why = "Its tests need a newer Python than its image has."
        raise ImportRefusal(why, _script_name(script), 0, f"{reading.python} or newer")
    image.python = image.python or reading.python or None
    # Tests that agents have too are run as they were published.
    again = [
        f"mkdir -p {shlex.quote(str(PurePosixPath(place).parent))}"
        f" && cp --remove-destination {shlex.quote(f'/tests/{name}')} {shlex.quote(place)}\n"
        for place, name in shown.items()
    ]
    reading.text = "".join((*_places_of_the_reward(image, source), *again)) + reading.text
    if rewards:
        check_reward_place(f"{reading.text}\n{text}", _script_name(script))
        files = {script.name: reading.text}
        name = script.name
    else:
        name = "by-exit-code.sh"
        files = {script.name: reading.text, name: _BY_EXIT_CODE.format(name=script.name)}
    return TaskTests(
        "script", (f"{name}::__script__",), f"{text}\n{reading.text}", looked_at, reading.pip, reading.apt, files
    )


def _places_of_the_reward(image: ImageRecipe, script: str) -> list[str]:
    """Take variables that name where rewards are written out of the image: the script alone is to know that place."""
    named = [name for name, value in image.variables.items() if re.match(r"/logs/verifier(/|$)", value)]
    values = {name: image.variables.pop(name) for name in named}
    return [f"{name}={shlex.quote(values[name])}\n" for name in named if re.search(rf"\b{name}\b", script)]


def _is_older(one: str, other: str) -> bool:
    return [int(part) for part in one.split(".")] < [int(part) for part in other.split(".")]


def _script_name(script: Path) -> str:
    return f"tests/{script.name}" if script.parent.name == "tests" else script.name


def task_text(folder: Path, name: str) -> str:
    """A regular file's text; raises `ImportRefusal` where there is none that can be read."""
    try:
        return read_regular(folder / name, _MOST_TEXT).decode("utf-8", "replace")
    except OSError as error:
        raise ImportRefusal(f"It has no {name[:80]} that can be read.", name) from error
