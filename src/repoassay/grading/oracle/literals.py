"""What a forger reads: the literals around each value that a rewritten test file sends, nearest first.

Nothing is run; whatever is no literal is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from repoassay.grading.hidden_tests.parsing import literal_value, parse, parse_anew
from repoassay.grading.oracle.rewrite import HOOK

__all__ = ["Around", "LiteralReader", "told_in"]

_LONG, _MANY = 4000, 400
_CODE = re.compile(r"`+([^`]+)`+|'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SIZED = (str, bytes, list, tuple, set, dict)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Around:
    """Literals around one value that is sent.

    Attributes:
        call: Of its own expression, and of the row of a table that belongs to it.
        names: Of what the names of the expression were last given in the test.
        function: Of the whole test, and the words of its name.
        shape: The name of the outermost function or operator of the expression.
    """

    call: list[Any] = field(default_factory=list)
    names: list[Any] = field(default_factory=list)
    function: list[Any] = field(default_factory=list)
    shape: str = ""


class LiteralReader:
    """Finds literals in a rewritten test file.

    Args:
        source: Its text, as the sandbox gets it.
    """

    def __init__(self, source: str) -> None:
        self.tree = parse(source)
        self.file = list(_literals([self.tree]))
        self._given: dict[str, list[ast.expr]] = {}
        self._calls: dict[int, list[tuple[ast.Call, _Function | None]]] = {}
        self._tables = [each for each in ast.walk(self.tree) if isinstance(each, ast.List | ast.Tuple) and each.elts]
        self._walk(self.tree, None)

    def count(self, site: int) -> int:
        """How many values a site sends, or how often the operand that it observes is named in the text."""
        calls = self._calls.get(site, ())
        return len(calls) if len(calls) > 1 else max(1, len(calls[0][0].args) - 1) if calls else 1

    def around(self, site: int, place: int, rows: Sequence[int]) -> Around:
        """What stands around operand `place` of a site, in the rows that its pinned operands name."""
        calls = self._calls.get(site)
        if not calls:
            return Around()
        call, function = calls[place] if len(calls) > 1 else calls[0]
        values = call.args[1:]
        operand = values[min(place, len(values) - 1)] if values else call
        found = Around(call=list(_literals([operand])), shape=_shape(operand))
        for row in rows:
            found.call += self._row(row)
        used, known = [operand], set[str]()
        for _ in range(3):
            fresh = {each.id for top in used for each in ast.walk(top) if isinstance(each, ast.Name)} - known
            known |= fresh
            used = [value for name in sorted(fresh) for value in self._given.get(name, ())][:40]
            found.names += _literals(used)
        if function is not None:
            found.function = [*_literals([function]), *(word for word in function.name.split("_")[1:] if word)]
        return found

    def _walk(self, node: ast.AST, function: _Function | None) -> None:
        """Note calls of the hook and what names are given, in order of appearance."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for name in (each.id for top in targets for each in ast.walk(top) if isinstance(each, ast.Name)):
                    self._given.setdefault(name, []).append(value)
            case ast.For(target=target, iter=value):
                for name in (each.id for each in ast.walk(target) if isinstance(each, ast.Name)):
                    self._given.setdefault(name, []).append(value)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(site)), *_]) if name == HOOK:
                self._calls.setdefault(site, []).append((node, function))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                function = node
        for child in ast.iter_child_nodes(node):
            self._walk(child, function)

    def _row(self, row: int) -> Iterator[Any]:
        """Literals of the rows `row` of tables with a column that counts rows."""
        for table in self._tables:
            if row >= len(table.elts):
                continue
            entry = table.elts[row]
            parts = entry.elts if isinstance(entry, ast.Tuple | ast.List) else getattr(entry, "args", [])
            if any(isinstance(part, ast.Constant) and part.value == row for part in parts):
                yield from _literals([part for part in parts if not _counts(part, row)])


def told_in(text: str) -> list[Any]:
    """Literals of an instruction: what is quoted or set as code, as text and as value, numbers and words."""
    found: list[Any] = []
    for match in _CODE.finditer(text):
        span = next(part for part in match.groups() if part is not None)
        found += [part for line in span.splitlines() for part in _spoken(line)]
    found += [_value(number) for number in _NUMBER.findall(text)]
    found += [part for line in text.splitlines() for part in _spoken(line.partition("==")[2])]
    return [*found, *re.findall(r"\w+", text)][:_MANY]


def _spoken(line: str) -> Iterator[Any]:
    line = line.strip().removeprefix(">>>").strip()
    if 0 < len(line) < _LONG:
        yield line
        value = _value(line)
        if value is not line:
            yield value
        try:
            yield from _literals([parse_anew(line)])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return


def _value(text: str) -> Any:
    try:
        return literal_value(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def _counts(node: ast.expr, row: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == row


def _shape(node: ast.expr) -> str:
    match node:
        case ast.UnaryOp(op=ast.Not()) | ast.Compare():
            return "not"
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name):
            return name
    return type(node).__name__


def _literals(nodes: Iterable[ast.AST]) -> Iterator[Any]:
    """Values of literals, whole displays before their parts; numbers of sites left out."""
    count = 0
    for node in _inside(nodes):
        if count >= _MANY:
            return
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.UnaryOp | ast.BinOp):
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
        elif isinstance(node, ast.keyword):
            value = node.arg or ""
        elif isinstance(node, ast.Attribute):
            value = node.attr
        else:
            continue
        if value is ... or (isinstance(value, _SIZED) and len(value) > _LONG):
            continue
        count += 1
        yield value


def _inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        children: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == HOOK:
            children = [*node.args[1:]]
        pending += children[::-1]
