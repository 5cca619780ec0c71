"""What can be altered in tests that assert nothing themselves: what they compare by calling a helper, and their end.

A helper is a function of the test file, or of a file of the test set-up that it imports. As for assertions, only calls
and comparisons count that no passing run leaves out, so that no solution passes with two different arguments.

No solution passes a test with a failure at its end, and whoever makes every test pass does. Who spoils what the test
asserts by is not caught by it, so that it assures nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from repoassay.grading.hidden_tests.parsing import parse
from repoassay.grading.oracle.assertions import COMPARISONS, method
from repoassay.grading.oracle.rewrite import own_nodes
from repoassay.grading.oracle.text import Edits, Span

__all__ = ["HelperCalls", "HelperFile", "endings", "origins_of"]

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

    def function(self, name: str) -> tuple[HelperFile, ast.FunctionDef] | None:
        """The one function that a name at the top stands for, and its file."""
        found = self._defined(name)
        return found if found and not found[1].decorator_list else None

    def fixture(self, name: str) -> tuple[HelperFile, ast.FunctionDef] | None:
        """The function that a fixture gives, of this file or of the next `conftest.py` above it that has one."""
        above = [str(folder / "conftest.py") for folder in PurePosixPath(self.path).parents]
        for path in (self.path, *above):
            file = self if path == self.path else self._at(path)
            if file is None:
                continue
            if any(isinstance(node, ast.keyword) and node.arg == "name" for node in ast.walk(file.tree)):
                return None  # one may be called otherwise than its function
            if any(name in _bound(node) for node in file.tree.body):
                found = file._defined(name)
                return _inner_function(*found) if found else None
        return None

    def _defined(self, name: str, depth: int = _DEPTH) -> tuple[HelperFile, ast.FunctionDef] | None:
        """The same, whatever decorates it."""
        bound = [node for node in self.tree.body if name in _bound(node)]
        match bound:
            case [ast.FunctionDef() as function]:
                return self, function
            case [ast.ImportFrom() as imported] if depth:
                real = next(each.name for each in imported.names if name in (each.asname, each.name))
                other = self._file(imported.level, imported.module or "")
                return other._defined(real, depth - 1) if other else None
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
        found = [path for path in paths if self.read(path) is not None]
        return self._at(found[0]) if len(found) == 1 else None

    def _at(self, path: str) -> HelperFile | None:
        text = self.read(path)
        try:
            return HelperFile(path, parse(text), self.read) if text is not None else None
        except (SyntaxError, ValueError, RecursionError):
            return None


class HelperCalls:
    """Calls of helpers in a test file."""

    def __init__(self, file: HelperFile) -> None:
        self._file = file

    def compared(
        self, tests: Collection[str], in_loops: Callable[[ast.AST], Iterator[ast.stmt]]
    ) -> Iterator[tuple[str, int, list[ast.expr]]]:
        """Each statement that surely compares without an assertion: the test function, the line, what is compared.

        `in_loops` finds statements of a function that are surely reached besides those at its top.
        """
        for owner in (None, *(node for node in self._file.tree.body if isinstance(node, ast.ClassDef))):
            for function in (owner or self._file.tree).body:
                if not isinstance(function, ast.FunctionDef) or not _straight(function):
                    continue
                name = f"{owner.name}::{function.name}" if owner else function.name
                surely = {id(each): each for each in (*function.body, *in_loops(function))} if name in tests else {}
                for node in surely.values():
                    sides = _raising(node)
                    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and method(node) is None:
                        sides += _sides(_Place(self._file, owner, function, test=True), node.value, _DEPTH)
                    if sides:
                        yield name, node.lineno, [side for side, array in sides if not array or _filled(side)]


_Side = tuple[ast.expr, bool]
"""A compared expression, and whether it is compared as an array, when an empty one equals any number."""


def _filled(side: ast.expr) -> bool:
    return isinstance(side, ast.List | ast.Tuple) and bool(side.elts)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a call stands: in a function of a file, and the class that has both, if any."""

    file: HelperFile
    owner: ast.ClassDef | None
    function: ast.FunctionDef
    test: bool = False

    def called(self, name: str) -> tuple[HelperFile, ast.FunctionDef] | None:
        """The function that is called by a name; of a test's parameters what the fixture gives."""
        if name in _parameters(self.function):
            decorators = (*self.function.decorator_list, *(self.owner.decorator_list if self.owner else ()))
            words = (node.value for each in decorators for node in ast.walk(each) if isinstance(node, ast.Constant))
            hidden = any(name in str(word) for word in words) or any(
                name in _bound(node) for node in (*self.function.body, *(self.owner.body if self.owner else ()))
            )
            inherits = self.owner is not None and self.owner.bases  # a fixture of the same name, perhaps
            return self.file.fixture(name) if self.test and not hidden and not inherits else None
        own = any(name in _bound(node) for node in self.function.body)
        return None if own else self.file.function(name)


def _sides(place: _Place, call: ast.Call, depth: int) -> list[_Side]:
    """Arguments of a call that are surely compared."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return []
    called = call.func
    last = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if last in _ARRAYS:
        return [(each, True) for each in call.args[1::-1]]
    found: tuple[HelperFile, ast.FunctionDef] | None = None
    skip = 0
    match called:
        case ast.Name(id=name):
            found = place.called(name)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if place.owner is not None:
            methods = [each for each in place.owner.body if attr in _bound(each)]
            match methods:
                case [ast.FunctionDef(decorator_list=[]) as function]:
                    found, skip = (place.file, function), 1
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            module = place.file.module(name)
            found = module.function(attr) if module else None
    if found is None or not depth:
        return []
    home, function = found
    names = _parameters(function)[skip:]
    arguments = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
    compared = _compared(_Place(home, place.owner if skip else None, function), depth)
    return [(arguments[name], array) for name, array in compared if name in arguments]


def _compared(place: _Place, depth: int) -> Iterator[tuple[str, bool]]:
    """Parameters that a function surely compares by `==` with something else, and uses nowhere else."""
    function = place.function
    if not _straight(function):
        return
    messages: list[ast.AST] = [node.msg for node in function.body if isinstance(node, ast.Assert) and node.msg]
    messages += [each for node in function.body if isinstance(node, ast.If) and _raising(node) for each in node.body]
    in_messages = {id(node) for each in messages for node in ast.walk(each)}  # by what has failed
    uses = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and id(node) not in in_messages]
    sides: list[_Side] = []
    for node in function.body:
        sides += _raising(node)
        match node:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                sides += [(right, False), (left, False)]
            case ast.Expr(value=ast.Call() as call):
                real = method(node)
                if real is not None and isinstance(real.func, ast.Attribute):
                    equal = COMPARISONS.get(real.func.attr) is ast.Eq
                    sides += [(each, False) for each in real.args[1::-1] if equal]
                else:
                    sides += _sides(place, call, depth - 1)
    for side, array in sides:
        if isinstance(side, ast.Name) and uses.count(side.id) == 1:
            yield side.id, array


def _raising(node: ast.stmt) -> list[_Side]:
    """Both sides of what is compared by a statement that raises where they differ."""
    match node:
        case ast.If(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]), body=[*_, ast.Raise()]):
            return [(right, False), (left, False)]
    return []


def _inner_function(file: HelperFile, fixture: ast.FunctionDef) -> tuple[HelperFile, ast.FunctionDef] | None:
    """The function within a fixture that it gives."""
    if len(fixture.decorator_list) != 1 or "fixture" not in ast.unparse(fixture.decorator_list[0]).partition("(")[0]:
        return None
    match fixture.body[-1]:
        case ast.Return(value=ast.Name(id=name)) | ast.Expr(value=ast.Yield(value=ast.Name(id=name))):
            inner = [node for node in fixture.body if name in _bound(node)]
            match inner:
                case [ast.FunctionDef(decorator_list=[]) as function]:
                    return file, function
    return None


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


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


def origins_of(tree: ast.Module, tests: Sequence[str]) -> dict[str, str]:
    """Tests, `CLASS::NAME`, that a class has from another of the file, each with the name they have there.

    Of several classes that have one test the first alone, since what is altered in it is altered for all of them.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    methods = {name: {name for name, _ in _functions(node.body, "")} for name, node in classes.items()}
    found = {_origin(classes, methods, *test.split("::")): test for test in reversed(tests) if test.count("::") == 1}
    known = {"", *tests}
    return {test: origin for origin, test in found.items() if origin not in known}


def _origin(classes: Mapping[str, ast.ClassDef], methods: Mapping[str, set[str]], owner: str, name: str) -> str:
    waiting, seen = [owner], set[str]()
    while waiting:
        node = classes.get(waiting.pop())
        if node is None or node.name in seen:
            continue
        seen.add(node.name)
        if name in methods[node.name]:
            return f"{node.name}::{name}"
        waiting += [base.id for base in reversed(node.bases) if isinstance(base, ast.Name)]
    return ""


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in body:
        if isinstance(node, _Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}::")
