"""What can be altered in tests that assert nothing themselves: what they compare by calling a helper, and their end.

A helper is a function of the test file, or of a file of the test set-up that it imports. As for assertions, only calls
and comparisons count that no passing run leaves out, so that no solution passes with two different arguments.

No solution passes a test with a failure at its end, and whoever makes every test pass does. Who spoils what the test
asserts by is not caught by it, so that it assures nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from repoassay.grading.hidden_tests.parsing import parse
from repoassay.grading.oracle.assertions import COMPARISONS, method
from repoassay.grading.oracle.rewrite import own_nodes
from repoassay.grading.oracle.text import Edits, Span

__all__ = ["HelperCalls", "HelperFile", "endings"]

_DEPTH = 4
_FAILURE = "raise AssertionError"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ARRAYS = frozenset({"assert_array_equal", "assert_equal"})
"""Functions of numpy.testing, by whatever name they are imported from: equal in every element, and in shape."""


@dataclass(frozen=True, slots=True)
class HelperFile:
    """A Python file: its path in the repository, its tree, and how others of the test set-up are read.

    `read` returns the text of a path; None where there is no such file, or it is a submission's to change.
    """

    path: str
    tree: ast.Module
    read: Callable[[str], str | None]

    def function(self, name: str, depth: int = _DEPTH) -> tuple[HelperFile, ast.FunctionDef] | None:
        """The one function that a name at the top stands for, and its file."""
        bound = [node for node in self.tree.body if name in _bound(node)]
        match bound:
            case [ast.FunctionDef(decorator_list=[]) as function]:
                return self, function
            case [ast.ImportFrom() as imported] if depth:
                real = next(each.name for each in imported.names if name in (each.asname, each.name))
                other = self._file(imported.level, imported.module or "")
                return other.function(real, depth - 1) if other else None
        return None

    def module(self, name: str) -> HelperFile | None:
        """The file that a name at the top stands for."""
        match [node for node in self.tree.body if name in _bound(node)]:
            case [ast.ImportFrom(level=level, module=module) as imported]:
                real = next(each.name for each in imported.names if name in (each.asname, each.name))
                return self._file(level, f"{module}.{real}" if module else real)
            case [ast.Import(names=names)]:
                real = next((each.name for each in names if name in (each.asname, each.name)), "")
                return self._file(0, real) if real else None
        return None

    def _file(self, level: int, module: str) -> HelperFile | None:
        """The only file that an import may mean."""
        above = [*PurePosixPath(self.path).parents]
        folders = above[level - 1 : level] if level else [*above, PurePosixPath("src")]
        places = [folder.joinpath(*module.split(".")) for folder in folders]
        paths = [f"{place}.py" for place in places if module] + [str(place / "__init__.py") for place in places]
        found = {path: text for path in paths if (text := self.read(path)) is not None}
        if len(found) != 1:
            return None
        [(path, text)] = found.items()
        try:
            return HelperFile(path, parse(text), self.read)
        except (SyntaxError, ValueError, RecursionError):
            return None


class HelperCalls:
    """Calls of helpers in a test file."""

    def __init__(self, file: HelperFile) -> None:
        self._file = file

    def compared(self, tests: Collection[str]) -> Iterator[tuple[str, int, list[ast.expr]]]:
        """Each call with arguments that are surely compared: the test function, the line, the arguments."""
        for owner in (None, *(node for node in self._file.tree.body if isinstance(node, ast.ClassDef))):
            for function in (owner or self._file.tree).body:
                if not isinstance(function, ast.FunctionDef) or not _straight(function):
                    continue
                name = f"{owner.name}::{function.name}" if owner else function.name
                for node in function.body if name in tests else ():
                    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and method(node) is None:
                        sides = _sides(self._file, owner, node.value, _DEPTH)
                        yield name, node.lineno, [side for side, array in sides if not array or _filled(side)]


_Side = tuple[ast.expr, bool]
"""A compared expression, and whether it is compared as an array, when an empty one equals any number."""


def _filled(side: ast.expr) -> bool:
    return isinstance(side, ast.List | ast.Tuple) and bool(side.elts)


def _sides(file: HelperFile, owner: ast.ClassDef | None, call: ast.Call, depth: int) -> Iterator[_Side]:
    """Arguments of a call that are surely compared."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return
    called = call.func
    last = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if last in _ARRAYS:
        yield from ((each, True) for each in call.args[1::-1])
        return
    found: tuple[HelperFile, ast.FunctionDef] | None = None
    skip = 0
    match called:
        case ast.Name(id=name):
            found = file.function(name)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if owner is not None:
            methods = [each for each in owner.body if attr in _bound(each)]
            match methods:
                case [ast.FunctionDef(decorator_list=[]) as function]:
                    found, skip = (file, function), 1
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            module = file.module(name)
            found = module.function(attr) if module else None
    if found is None or not depth:
        return
    home, function = found
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][skip:]
    given = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
    for name, array in _compared(home, owner if skip else None, function, depth):
        if name in given:
            yield given[name], array


def _compared(
    file: HelperFile, owner: ast.ClassDef | None, function: ast.FunctionDef, depth: int
) -> Iterator[tuple[str, bool]]:
    """Parameters that a function surely compares by `==` with something else, and uses nowhere else."""
    if not _straight(function):
        return
    told = [node.msg for node in function.body if isinstance(node, ast.Assert) and node.msg]  # by what has failed
    in_messages = {id(node) for each in told for node in ast.walk(each)}
    uses = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and id(node) not in in_messages]
    sides: list[_Side] = []
    for node in function.body:
        match node:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                sides += [(right, False), (left, False)]
            case ast.Expr(value=ast.Call() as call):
                real = method(node)
                if real is not None and isinstance(real.func, ast.Attribute):
                    equal = COMPARISONS.get(real.func.attr) is ast.Eq
                    sides += [(each, False) for each in real.args[1::-1] if equal]
                else:
                    sides += _sides(file, owner, call, depth - 1)
    for side, array in sides:
        if isinstance(side, ast.Name) and uses.count(side.id) == 1:
            yield side.id, array


def _straight(function: _Function) -> bool:
    return not any(isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) for each in own_nodes(function))


def _bound(node: ast.AST) -> set[str]:
    """Names that a statement binds where it stands, or in blocks of its own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return names.union(*(_bound(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)))


def endings(source: str, tests: Collection[str]) -> dict[str, tuple[Span, str, int]]:
    """Where test functions of a file, `NAME` or `CLASS::NAME`, end in every passing run: the place for a failure, the
    failure, and the line of the last statement."""  # fmt: skip
    edits = Edits(source.encode())
    functions = [each for each in _functions(parse(source).body, "") if each[0] in tests]
    once = Counter(name for name, _ in functions)  # of two of a name one is never run
    found = {}
    for name, function in functions:
        first, last = function.body[0], function.body[-1]
        indent = edits.source[edits.at(first.lineno, 0) : edits.at(first.lineno, first.col_offset)].decode()
        if once[name] == 1 and indent.isspace() and _straight(function):
            end = edits.span(last)[1]
            found[name] = ((end, end), f"\n{indent}{_FAILURE}", last.lineno)
    return found


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in body:
        if isinstance(node, _Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}::")
