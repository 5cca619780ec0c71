"""Names: each public one stands once in the package, and none is a bare participle, adjective or preposition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from house_lists import assert_only, house_tree, read_list

REGISTRY_NAMES = {"main", "read"}
"""Names that several modules of a registry share by right."""
WORDS = frozenset(read_list("bare_words.txt"))
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_bare(name: str) -> bool:
    return name.strip("_").lower() in WORDS


def public_definitions() -> Iterator[str]:
    """Each public module, class, function and method, as `kind name`."""
    for module in house_tree().modules.values():
        if module.name:
            yield f"module {module.name.rpartition('.')[2]}"
        for name in module.public(ast.ClassDef):
            yield f"class {name}"
        for name in module.public(ast.FunctionDef, ast.AsyncFunctionDef):
            yield f"function {name}"


def parameters() -> Iterator[str]:
    """Each parameter of each public function and method, as `function(parameter)`."""
    for module in house_tree().modules.values():
        for node in ast.walk(module.syntax):
            if isinstance(node, _Function) and not node.name.startswith("_"):
                arguments = node.args
                for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    yield f"{node.name}({each.arg})"


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [("classes", (ast.ClassDef,)), ("functions", (ast.FunctionDef, ast.AsyncFunctionDef))],
)
def test_a_public_name_stands_once(kind: str, kinds: tuple[type[ast.ClassDef | _Function], ...]) -> None:
    repeated = house_tree().repeated(*kinds)
    assert_only(f"repeated_{kind}.txt", repeated.keys() - REGISTRY_NAMES, "Name it so that nothing else is called so.")


def test_no_module_class_or_function_is_a_bare_word() -> None:
    breaches = {entry for entry in public_definitions() if is_bare(entry.split()[1])}
    assert_only("bare_names.txt", breaches, "Name it by a noun, or a verb with its object.")


def test_no_parameter_is_a_bare_word() -> None:
    breaches = {entry for entry in parameters() if is_bare(re.split(r"[()]", entry)[1])}
    assert_only("bare_parameters.txt", breaches, "Name the parameter by what it is: progress, message, values.")


def test_the_words_are_found_in_whatever_case() -> None:
    assert is_bare("Kept") and is_bare("told") and is_bare("_given")
    assert not is_bare("kept_runs") and not is_bare("verdict")
