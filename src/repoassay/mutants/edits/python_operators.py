"""Mutation operators of Python: replacements in the lines that a solution adds or changes, found in its syntax tree.

Text that no test should pin is left alone: docstrings, annotations, messages of exceptions, warnings, assertions and
logs, help texts, names of the module's metadata. So are f-strings, whose parts CPython places only since 3.12, and
imports, whose absence any test notices.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from repoassay.grading import parse_anew
from repoassay.mutants.edits.mutant import Replacement
from repoassay.mutants.edits.python_meaning import LOGS, TOLD, called_name, is_metadata, is_silent, is_text
from repoassay.types import MutantKind

__all__ = ["python_replacements"]

_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)), ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")), ast.GtE: (">=", (">", "<")), ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)), ast.In: ("in", ("not in",)), ast.NotIn: (r"not\s+in", ("in",)),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "+"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
_SHORT = 3
"""Lines of a statement that is changed as a whole when a line of it is."""


def python_replacements(source: bytes, lines: frozenset[int]) -> list[Replacement]:
    """Every replacement in some lines (numbers from 1) of a Python file; none where it cannot be read as UTF-8.

    Lines are those of the file as `ast` counts them.
    """
    try:
        tree = parse_anew(source)
        source.decode()
        finder = _Finder(source, _of_statements(tree, lines))
        finder.statements(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return finder.found


def _of_statements(tree: ast.Module, lines: frozenset[int]) -> frozenset[int]:
    """Lines with those of the conditions and short statements of which they are a part, for that changes the whole."""
    found = set(lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While):
            whole = range(node.lineno, max(node.lineno, node.body[0].lineno - 1) + 1)
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            whole = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if len(whole) > _SHORT:
                continue  # one argument or entry of many says nothing of the others
        else:
            continue
        if not lines.isdisjoint(whole):
            found.update(whole)
    return frozenset(found)


@dataclass
class _Finder:
    """Collects replacements of one file."""

    source: bytes
    lines: frozenset[int]
    found: list[Replacement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self.source))]
        if self.source.startswith(b"\xef\xbb\xbf"):
            self._starts[0] = 3

    # Places

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """First and last byte of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        """SolutionFile of a node."""
        start, end = self.span(node)
        return self.source[start:end]

    def touched(self, node: ast.expr | ast.stmt) -> bool:
        """Whether a node has one of the lines."""
        return any(line in self.lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def whole(self, node: ast.stmt) -> bool:
        """Whether all lines of a node are among the lines."""
        return all(line in self.lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def put(self, kind: MutantKind, node: ast.expr | ast.stmt, *texts: bytes) -> None:
        """Note replacements of a whole node."""
        start, end = self.span(node)
        self.found += [Replacement(kind, start, end, text) for text in texts if text != self.source[start:end]]

    def between(self, kind: MutantKind, first: ast.expr, second: ast.expr, pattern: str, texts: Sequence[str]) -> None:
        """Note replacements of an operator that stands between two operands."""
        start, end = self.span(first)[1], self.span(second)[0]
        if b"#" in self.source[start:end]:
            return
        match = re.compile(pattern.encode()).search(self.source, start, end)
        if match:
            self.found += [Replacement(kind, match.start(), match.end(), text.encode()) for text in texts]

    # Statements

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Look at a block."""
        for node in body:
            if not self.touched(node) or is_silent(node) or _untold(node):
                continue
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """Look at a statement."""
        removed = _removable(node) and self.whole(node)
        if removed:
            self.put(MutantKind.STATEMENT, node, b"pass")
        match node:
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                self.put(MutantKind.RETURN, value, b"None")
            case ast.Raise(exc=ast.expr() as raised):
                self.exception(raised)
            case ast.Break():
                self.put(MutantKind.STATEMENT, node, b"continue")
            case ast.Continue():
                self.put(MutantKind.STATEMENT, node, b"break")
            case ast.AugAssign(op=op) if type(op) in _OPERATORS:
                was, now = _OPERATORS[type(op)]
                self.between(MutantKind.OPERATOR, node.target, node.value, re.escape(f"{was}="), (f"{now}=",))
            case ast.If(test=test) | ast.While(test=test) if self.touched(test):
                self.condition(test, b"" if isinstance(node, ast.While) else b"True" if removed else b"True False")
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.decorators(node.decorator_list)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.arguments(node.value)  # the call itself is left out as a statement
            self.inside(node.value)
        else:
            self.inside(node)

    def decorators(self, nodes: Sequence[ast.expr]) -> None:
        """Leave each decorator out."""
        for node in nodes:
            start, end = self.span(node)
            if self.touched(node):
                at = self.source.rindex(b"@", 0, start)
                self.found.append(Replacement(MutantKind.DECORATOR, at, end, b""))

    def exception(self, error: ast.expr) -> None:
        """Raise something else."""
        kind = error.func if isinstance(error, ast.Call) else error
        if isinstance(kind, ast.Name | ast.Attribute) and self.touched(kind) and self.text(kind)[:1].isalpha():
            other = b"KeyError" if self.text(kind) == b"RuntimeError" else b"RuntimeError"
            if isinstance(error, ast.Call) or self.text(kind).rpartition(b".")[2][:1].isupper():
                self.put(MutantKind.EXCEPTION, kind, other)

    def condition(self, test: ast.expr, forced: bytes) -> None:
        """Turn a condition round, and take a branch always or never."""
        self.put(MutantKind.CONDITION, test, b"not (" + self.text(test) + b")")
        if not isinstance(test, ast.Constant):
            self.put(MutantKind.CONDITION, test, *forced.split())

    # Expressions

    def inside(self, node: ast.AST) -> None:
        """Look at everything below a node."""
        for child in _children(node):
            if isinstance(child, list):
                self.statements(child)
            elif isinstance(child, ast.expr):
                self.expression(child)
            else:
                if (
                    isinstance(child, ast.ExceptHandler)
                    and isinstance(child.type, ast.Name)
                    and child.lineno in self.lines
                ):
                    other = b"KeyError" if child.type.id == "ZeroDivisionError" else b"ZeroDivisionError"
                    self.put(MutantKind.EXCEPTION, child.type, other)
                self.inside(child)

    def expression(self, node: ast.expr) -> None:
        """Look at an expression."""
        if not self.touched(node) or isinstance(node, ast.JoinedStr):
            return
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                for one, op, other in zip([left, *others], ops, others, strict=False):
                    pattern, texts = _COMPARISONS[type(op)]
                    self.between(MutantKind.COMPARISON, one, other, pattern, texts)
            case ast.BoolOp(op=op, values=values):
                was, now = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for one, other in pairwise(values):
                    self.between(MutantKind.CONDITION, one, other, rf"\b{was}\b", (now,))
                for value in values:
                    self.left_out(value, b"True" if isinstance(op, ast.And) else b"False")
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATORS and not _formats(node):
                was, now = _OPERATORS[type(op)]
                self.between(MutantKind.OPERATOR, left, right, re.escape(was), (now,))
            case ast.UnaryOp(operand=operand) if not isinstance(node.op, ast.UAdd):
                self.put(MutantKind.OPERATOR, node, b"(" + self.text(operand) + b")")
            case ast.IfExp(test=test):
                self.condition(test, b"True False")
            case ast.Constant():
                self.put(MutantKind.CONSTANT, node, *_other_constants(node))
            case ast.Call():
                self.arguments(node)
                if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
                    self.put(MutantKind.ARGUMENT, node, b"(" + self.text(node.args[0]) + b")")
        self.inside(node)

    def left_out(self, value: ast.expr, neutral: bytes) -> None:
        """Leave an operand out of a condition."""
        if self.touched(value) and not isinstance(value, ast.Constant):
            self.put(MutantKind.CONDITION, value, neutral)

    def arguments(self, call: ast.Call) -> None:
        """Leave each keyword argument out of a call."""
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in TOLD or keyword.lineno not in self.lines:
                continue
            if isinstance(keyword.value, ast.Constant) and keyword.value.value in (None, False):
                continue  # mostly what it is by default
            start = self._starts[keyword.lineno - 1] + keyword.col_offset
            end = self.span(keyword.value)[1]
            rest = re.compile(rb"\s*,\s*|(?=\s*\))").match(self.source, end)
            if rest:
                self.found.append(Replacement(MutantKind.ARGUMENT, start, rest.end(), b""))


def _children(node: ast.AST) -> Iterator[ast.AST | list[ast.stmt]]:
    """What below a node is looked at: blocks as lists, without annotations and what people alone read."""
    text = isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and called_name(node) in ("warn", *LOGS))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "type_comment") or (
            isinstance(node, ast.Assert) and name == "msg"
        ):
            continue
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword):
                if child.arg not in TOLD:
                    yield child.value
            elif isinstance(child, ast.AST) and not (text and is_text(child)):
                if isinstance(node, ast.Raise) and isinstance(child, ast.Call):
                    yield from (each for each in _children(child) if not (isinstance(each, ast.AST) and is_text(each)))
                else:
                    yield child


def _other_constants(node: ast.Constant) -> tuple[bytes, ...]:
    value = node.value
    if isinstance(value, bool):
        return (b"False" if value else b"True",)
    if isinstance(value, int):
        return (str(value + 1).encode(), f"({value - 1})".encode() if value < 1 else str(value - 1).encode())
    if isinstance(value, float):
        return (f"{value + 1!r}".encode(),)
    if isinstance(value, str):
        return (b'"mutant"',) if value == "" else (b'""',)
    if isinstance(value, bytes):
        return (b'b"mutant"',) if value == b"" else (b'b""',)
    return ()


def _removable(node: ast.stmt) -> bool:
    """Whether a statement can be removed so that only a test would tell."""
    if isinstance(node, ast.If):
        return not node.orelse
    if isinstance(node, ast.Assign):
        return any(not isinstance(target, ast.Name) for target in node.targets)  # a name without a value is no riddle
    return isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.For | ast.While | ast.Assert)


def _untold(node: ast.stmt) -> bool:
    """Whether a statement holds nothing that runs, or only the module's metadata."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.Pass():
            return True
        case ast.If(test=test):
            return ast.dump(test).find("'TYPE_CHECKING'") >= 0
        case ast.AnnAssign(value=None):
            return True
        case ast.FunctionDef(decorator_list=found) | ast.AsyncFunctionDef(decorator_list=found):
            return any("'overload'" in ast.dump(each) for each in found)
    return is_metadata(node)


def _formats(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Mod | ast.Add) and is_text(node.left)
