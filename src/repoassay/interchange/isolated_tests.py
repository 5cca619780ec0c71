"""Tests that uvx runs: its environment has what the script names, and none of the packages of the image."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from repoassay.interchange.image_file import ImportRefusal
from repoassay.interchange.image_stages import package_of

__all__ = ["check_isolated"]

_RUNS = re.compile(
    r"(?m)^(?!\s*(?:#|echo\b|printf\b)).*?(?<![\w./-])(?P<uvx>uvx|uv tool run)?\b[^\n#|;&]*?\bpytest\b(?!\S*=)"
)
_NAMED = re.compile(r"(?:-w|--with)[= ]+[\"']?(?P<name>[\w.-]+)")
_OTHERWISE = {"yaml": "pyyaml", "sklearn": "scikit-learn", "PIL": "pillow", "bs4": "beautifulsoup4",
              "cv2": "opencv-python"}  # fmt: skip
"""Modules -> the package that has them, where its name is another."""


def check_isolated(script: str, programs: Mapping[str, str], packages: Iterable[str]) -> None:
    """Refuse tests which import a package that is in the image and not where they run, so that they pass nobody.

    Args:
        script: What runs them.
        programs: Programs of the tests by path below their folder.
        packages: What pip installs into the image.

    Raises:
        ImportRefusal: They do. Not where the script names a package beside pytest's own, which may bring it along.
    """
    joined = re.sub(r"\\\r?\n", " ", script)
    runs = [run for run in _RUNS.finditer(joined) if " install" not in run[0]]
    if not runs or not all(run["uvx"] for run in runs) or re.search(r"--with-(requirements|editable)|--from", joined):
        return
    if not all(re.match(r"pytest(-|$)", name) for name in _NAMED.findall(joined)):
        return
    for path, text in programs.items():
        for module, line in _imported(text) if path.endswith(".py") else ():
            package = _OTHERWISE.get(module, module).lower().replace("_", "-")
            if package in map(package_of, packages) and not package.startswith("pytest"):
                why = "Its tests import a package that is not in the environment which its script makes for them."
                raise ImportRefusal(why, f"tests/{path}", line, module)


def _imported(text: str) -> Iterator[tuple[str, int]]:
    """Modules that a program imports whatever happens, with their lines; none of one that is no Python."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError):
        return
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((name.name.partition(".")[0], node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0], node.lineno
        elif not isinstance(node, ast.Try | ast.If):
            waiting += ast.iter_child_nodes(node)
