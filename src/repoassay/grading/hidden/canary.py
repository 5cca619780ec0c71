"""Changed copies of hidden tests that an honest solution must fail.

Two kinds of change to one assertion at the top level of a test function: *inverted* (`assert e` becomes
`assert not (e)`) and *altered* (a constant it compares with is another). Code that makes tests pass by touching the
test machinery makes these pass too; an object equal to everything passes the altered one.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

__all__ = ["Site", "mutate", "sites"]


@dataclass(frozen=True, slots=True)
class Site:
    """One assertion that can be changed: its place among the test function's top-level statements, and how."""

    test: str
    line: int
    kind: str


def sites(source: str, test: str) -> list[Site]:
    """Every way to change the test `NAME` or `CLASS::NAME` (parameters left out) of a test file."""
    function = _find(ast.parse(source), test.partition("[")[0].split("::"))
    if function is None:
        return []
    found = []
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            found.append(Site(test, statement.lineno, "inverted"))
            if _constants(statement.test):
                found.append(Site(test, statement.lineno, "altered"))
    return found


def mutate(source: str, site: Site, chance: random.Random) -> str:
    """The source with one assertion changed; all else stays to the letter, line for line."""
    tree = ast.parse(source)
    function = _find(tree, site.test.partition("[")[0].split("::"))
    assert function is not None
    statement = next(s for s in function.body if isinstance(s, ast.Assert) and s.lineno == site.line)
    if site.kind == "inverted":
        return _replace(source, statement.test, f"not ({ast.unparse(statement.test)})")
    constant = chance.choice(_constants(statement.test))
    return _replace(source, constant, repr(_other(constant.value)))


def _find(tree: ast.Module, path: list[str]) -> ast.FunctionDef | None:
    body: list[ast.stmt] = tree.body
    for name in path[:-1]:
        inner = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        if not inner:
            return None
        body = inner[-1].body
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == path[-1]]
    return found[-1] if found else None


def _constants(test: ast.expr) -> list[ast.Constant]:
    """Constants on one side of a single `==`, whose change must make it false."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return []
    for side in (test.comparators[0], test.left):
        found = [side] if isinstance(side, ast.Constant) else _elements(side)
        usable = [item for item in found if isinstance(item.value, str | int | float | bytes)]
        if usable:
            return usable
    return []


def _elements(side: ast.expr) -> list[ast.Constant]:
    if isinstance(side, ast.List | ast.Tuple):
        return [item for item in side.elts if isinstance(item, ast.Constant)]
    if isinstance(side, ast.Dict):
        return [item for item in side.values if isinstance(item, ast.Constant)]
    return []


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, bytes):
        return value + b"x"
    return f"{value}x"


def _replace(source: str, node: ast.expr, text: str) -> str:
    """Put `text` where `node` stands, keeping every line where it was."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    content = source.encode()
    padding = b"\n" * content[start:end].count(b"\n")
    if padding:  # keep the lines that follow where they were: inside brackets a line break changes nothing
        return (content[:start] + b"(" + text.encode() + padding + b")" + content[end:]).decode()
    return (content[:start] + text.encode() + content[end:]).decode()
