"""Which tests a script holds, read off its syntax; nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping

from repoassay.benchmarks.resq.parametrized_tests import Unlisted, case_ids
from repoassay.grading import parse_anew

__all__ = ["SCRIPT", "script_tests"]

SCRIPT = "__script__"
"""The one test of a script without tests: that it runs to its end."""
_FIXTURES = frozenset(
    {"tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory", "capsys", "capsysbinary", "capfd", "capfdbinary",
     "caplog", "monkeypatch", "recwarn", "request", "record_property", "pytestconfig", "self"}
)  # fmt: skip

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def script_tests(source: str) -> tuple[str, ...]:
    """List the tests of a script as `NAME` and `CLASS::NAME`, in its order.

    Tests are functions `test_*` at the top level, and methods `test*` of classes at the top level that inherit from a
    `*TestCase` or are named `Test*`, with those inherited from classes of the same file. Parametrised tests stand there
    case by case; what is marked to be skipped is left out. A script without any, or whose functions take what only the
    script itself hands them, has the one test `SCRIPT`.

    Raises:
        Unlisted: When the source does not parse, or the names of its tests are known only by running it.
    """
    module = _parsed(source)
    try:
        return _tests(module)
    except RecursionError:
        raise Unlisted("has names that stand for themselves; write its cases out") from None


def _tests(module: ast.Module) -> tuple[str, ...]:
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    names = _names(module)
    fixtures = _FIXTURES | _own_fixtures(module)
    found: list[str] = []
    for node in module.body:
        if isinstance(node, _Function) and node.name.startswith("test_") and node.name not in fixtures:
            cases = _cases(node, names, fixed=False)
            if cases == [node.name] and not _arguments(node) <= fixtures:
                return (SCRIPT,)
            found += cases
        elif isinstance(node, ast.ClassDef) and _holds_tests(node, classes):
            found += [f"{node.name}::{method}" for method in _methods(node, classes, names)]
    return tuple(dict.fromkeys(found)) or (SCRIPT,)


def _parsed(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: ast.Module = parse_anew(source)
            return tree
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        raise Unlisted(f"is not Python that can be read: {line}{error.msg}; correct it") from None
    except UnicodeEncodeError:
        raise Unlisted("holds half of a surrogate pair; replace it") from None
    except (ValueError, RecursionError, MemoryError):
        raise Unlisted("is not Python that can be read: it is nested too deeply or holds a NUL; correct it") from None


def _marks(node: _Function | ast.ClassDef) -> Iterator[ast.expr]:
    """Decorators, without their calls."""
    return map(_uncalled, node.decorator_list)


def _uncalled(mark: ast.expr) -> ast.expr:
    return mark.func if isinstance(mark, ast.Call) else mark


def _is(mark: ast.expr, name: str) -> bool:
    return (isinstance(mark, ast.Name) and mark.id == name) or (isinstance(mark, ast.Attribute) and mark.attr == name)


def _names(module: ast.Module) -> dict[str, ast.stmt]:
    """What the top level defines, by name; what is defined more than once is left out."""
    found: dict[str, ast.stmt] = {}
    twice: set[str] = set()
    for node in module.body:
        names: list[str] = []
        if isinstance(node, _Function | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        twice |= found.keys() & names
        found |= dict.fromkeys(names, node)
    return {name: node for name, node in found.items() if name not in twice}


def _own_fixtures(module: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in module.body:
        if not isinstance(node, _Function):
            continue
        for mark in node.decorator_list:
            if _is(_uncalled(mark), "fixture"):
                if isinstance(mark, ast.Call) and any(keyword.arg == "params" for keyword in mark.keywords):
                    raise Unlisted(f"has the fixture {node.name} with parameters; parametrise the tests instead")
                found.add(node.name)
    return found


def _cases(node: _Function, names: Mapping[str, ast.stmt], *, fixed: bool) -> list[str]:
    """A test, or its cases; nothing when it is to be skipped.

    Args:
        node: The test.
        names: What the script defines.
        fixed: Whether it is a method of a unittest class, whose name pytest neither changes nor refuses.
    """
    if any(_is(mark, "skip") for mark in _marks(node)):
        return []
    if fixed:
        return [node.name]
    if isinstance(node, ast.AsyncFunctionDef):
        raise Unlisted(f"has the test {node.name}, which is asynchronous; call asyncio.run inside a plain one")
    marks = [mark for mark in node.decorator_list if _is(_uncalled(mark), "parametrize")]
    if not marks:
        return [node.name]
    return [f"{node.name}[{case}]" for case in case_ids(marks, names, node.name)]


def _arguments(node: _Function) -> set[str]:
    """Names of what a function must be given."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    needed = plain[: len(plain) - len(arguments.defaults)]
    needed += [
        argument for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is None
    ]
    return {argument.arg for argument in needed}


def _is_unittest(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    return any(
        (isinstance(base, ast.Attribute) and base.attr.endswith("TestCase"))
        or (isinstance(base, ast.Name) and base.id.endswith("TestCase") and base.id not in classes)
        for ancestor in _line(node, classes)
        for base in ancestor.bases
    )


def _holds_tests(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    for item in node.body:
        if isinstance(item, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == "__test__" for to in item.targets
        ):
            return isinstance(item.value, ast.Constant) and bool(item.value.value)
    if any(_is(mark, "skip") for mark in _marks(node)):
        return False
    if _is_unittest(node, classes):
        return True
    line = _line(node, classes)
    own_start = any(isinstance(item, _Function) and item.name == "__init__" for part in line for item in part.body)
    return node.name.startswith("Test") and not own_start  # pytest passes over classes with a constructor


def _line(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """A class and its ancestors in the same file, itself first."""
    found = {node.name: node}
    pending = [node]
    while pending:
        for base in pending.pop().bases:
            if isinstance(base, ast.Name) and base.id in classes and base.id not in found:
                found[base.id] = classes[base.id]
                pending.append(classes[base.id])
    return list(found.values())


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef], names: Mapping[str, ast.stmt]) -> Iterator[str]:
    fixed = _is_unittest(node, classes)
    if any(_is(mark, "parametrize") for mark in _marks(node)):
        raise Unlisted(f"has the parametrised class {node.name}; parametrise its methods instead")
    seen: set[str] = set()
    for part in _line(node, classes):
        for item in part.body:
            if isinstance(item, _Function) and item.name.startswith("test") and item.name not in seen:
                seen.add(item.name)
                yield from _cases(item, names, fixed=fixed)
