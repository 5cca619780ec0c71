"""What a row's script makes of its task: the environment, the hidden tests and the files that hold them."""

from __future__ import annotations

import re

from repoassay.benchmarks.resq.javascript_tests import javascript_tests, script_name
from repoassay.benchmarks.resq.node_environment import check_node_environment
from repoassay.benchmarks.resq.parametrized_tests import Unlisted
from repoassay.benchmarks.resq.script_tests import script_tests
from repoassay.errors import BadInput
from repoassay.formats import REQUIREMENTS, TaskParts, import_path_of
from repoassay.text import printable
from repoassay.types import Environment, HiddenTests

__all__ = ["javascript_parts", "python_parts"]

_FAMILY = "RES-Q"
_SCRIPT = "test_script.py"
_PYTHON = re.compile(r"(?:^|[^0-9.])([23])\.([0-9]{1,2})(?:[^0-9]|$)")


def python_parts(script: str, environment: str, requirements: str, patch: str) -> TaskParts:
    """Return the parts of a task whose script is in Python.

    Args:
        script: The source that decides.
        environment: The version of Python, such as `python 3.11`.
        requirements: What the tests need, as pip reads it.
        patch: The solution, which shows where packages lie.

    Raises:
        BadInput: When the tests of the script cannot be listed.
    """
    try:
        tests = script_tests(script)
    except Unlisted as error:
        raise _unlisted(error) from error
    found = _PYTHON.search(environment)
    python = Environment(
        python=f">={found[1]}.{found[2]}" if found else Environment().python,
        resolve=REQUIREMENTS,  # even where it names nothing: resolving is what brings pytest
        path=import_path_of(patch),
    )
    hidden = HiddenTests(fail_to_pass=tuple(f"{_SCRIPT}::{test}" for test in tests), cwd="repository")
    files = {f"tests/{_SCRIPT}": script.encode(), REQUIREMENTS: requirements.encode()}
    return TaskParts(_FAMILY, python, hidden, files)


def javascript_parts(script: str, environment: str, requirements: str) -> TaskParts:
    """Return the parts of a task whose script is for node, which needs no environment of its own.

    Raises:
        BadInput: When the row asks for packages or another runtime, or the tests of the script cannot be listed.
    """
    check_node_environment(environment, requirements)
    try:
        tests = javascript_tests(script)
    except Unlisted as error:
        raise _unlisted(error) from error
    name = script_name(script)
    hidden = HiddenTests(fail_to_pass=tuple(f"{name}::{test}" for test in tests), cwd="repository", runner="node")
    return TaskParts(_FAMILY, Environment(), hidden, {f"tests/{name}": script.encode()})


def _unlisted(error: Unlisted) -> BadInput:
    what, _, remedy = str(error).partition("; ")
    return BadInput(f"its test_script {printable(what, 300)}.", f"{remedy[:1].upper()}{remedy[1:]}.")
