"""The module that a Python program cannot do without and lacks, found without running the program.

Told by arguments: the program's file, or `-c` and its text; then the folders of PYTHONPATH. Imports that stand before
everything else are looked up; into modules beside the program it goes on in the same way, and ends at the first
statement that is no import, since what follows is the program's own doing. Run with the task's Python, 3.8 or newer.
"""

from __future__ import annotations

import ast
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path


def first_missing(text: str | bytes, folders: list[str], looked_up: set[str]) -> tuple[str, bool]:
    """The missing module, and whether only imports that succeed were met."""
    try:
        return first_missing_of(ast.parse(text).body, folders, looked_up)
    except (SyntaxError, ValueError, RecursionError):
        return "", False


def first_missing_of(body: list[ast.stmt], folders: list[str], looked_up: set[str]) -> tuple[str, bool]:
    """The same of a program's or a function's statements."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names = [statement.module]
        else:
            return "", False
        for name in names:
            missing, on = look_up(name.partition(".")[0], folders, looked_up)
            if missing or not on:
                return missing, False
    return "", True


def look_up(name: str, folders: list[str], looked_up: set[str]) -> tuple[str, bool]:
    """The same of the import of one module."""
    if name in looked_up or name in sys.builtin_module_names:
        return "", True
    looked_up.add(name)
    own = PathFinder.find_spec(name, folders)
    if own is None:
        return ("", True) if find_spec(name) is not None else (name, False)
    if not own.origin or not own.origin.endswith(".py"):
        return "", False
    return first_missing(Path(own.origin).read_bytes(), folders, looked_up)


def main(arguments: list[str]) -> None:
    """Print the module's name; nothing where none can be named for sure."""
    if arguments[0] == "-c":
        text: str | bytes = arguments[1]
        folders = arguments[2:]
    else:
        text = Path(arguments[0]).read_bytes()
        folders = [str(Path(arguments[0]).absolute().parent), *arguments[1:]]
    sys.stdout.write(first_missing(text, folders, set())[0])


if __name__ == "__main__":
    main(sys.argv[1:])
