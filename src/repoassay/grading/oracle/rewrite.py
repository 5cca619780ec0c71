"""Rewrites hidden tests so that what is expected leaves them: each assertion sends values instead of comparing them.

The text is changed in place; lines stay. Names and forms are read from the tree alone, nothing of the file is run.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from repoassay.grading.hidden_tests.parsing import parse
from repoassay.grading.oracle.assertions import Raises, method, raises, unittest_check
from repoassay.grading.oracle.names import ClosedNames
from repoassay.grading.oracle.sites import AssertionSite, Rewritten, SiteMode
from repoassay.grading.oracle.split import Definitions, SplitCall
from repoassay.grading.oracle.tables import ParameterColumn, columns
from repoassay.grading.oracle.text import Edits

__all__ = ["HOOK", "SCRIPT", "AssertionPlace", "Rewriting", "own_nodes", "rewrite"]

HOOK = "ɵ"
"""The builtin by which a rewritten test sends values."""
SCRIPT = "__script__"
_SWALLOWS = frozenset({"AssertionError", "Exception", "BaseException"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class AssertionPlace:
    """An assertion where it was found; `fixed` when whatever fails in it may be caught, so that it must stay."""

    node: ast.stmt | Raises
    test: str
    line: int
    always: bool
    fixed: bool


def rewrite(source: str, modes: Mapping[int, SiteMode] | None = None) -> Rewritten:
    """Take the expected side out of every assertion of a test file that allows it.

    Args:
        source: The file's text.
        modes: Modes of sites, by number, that are not to be decided as far outside as they could be.

    Raises:
        SyntaxError: When it is not Python.
    """
    return Rewriting(source, modes or {}).result()


class Rewriting:
    """One test file on its way: its assertions, names and tables."""

    def __init__(self, source: str, modes: Mapping[int, SiteMode]) -> None:
        self.tree = parse(source)
        self.edits = Edits(source.encode())
        self.modes = modes
        self.names = ClosedNames(self.tree)
        self.places = list(_places(self.tree, self.names))
        self.columns = {(each.scope, each.name): each for each in columns(self.tree, self.names)}
        self.names.columns = set(self.columns)

    def result(self) -> Rewritten:
        """Settle which names leave, then write."""
        splits, consumed, definitions = self.settle()
        sites = tuple(self._write(number, *splits[number]) for number in range(len(self.places)))
        self._take_out(consumed, definitions)
        self._blank()
        source = self.edits.result()
        parse(source)  # a mistake of ours must not look like one of the submission's
        return Rewritten(source, sites, definitions.source())

    def settle(self) -> tuple[dict[int, tuple[SplitCall | None, ast.expr | None]], set[int], Definitions]:
        """Every assertion apart, the uses of names that serve as expectation alone, and what the judge must know."""
        for _ in range(50):
            definitions = self._definitions()
            splits = {number: self._split(number, place, definitions) for number, place in enumerate(self.places)}
            consumed = {id(name) for split, _ in splits.values() if split for name in split.consumed}
            if not self._reopen(consumed):
                break
        return splits, consumed, definitions

    def _definitions(self) -> Definitions:
        tables = {key: f"_t{number}" for number, key in enumerate(self.columns)}
        return Definitions(self.names, tables=tables)

    def _split(
        self, number: int, place: AssertionPlace, definitions: Definitions
    ) -> tuple[SplitCall | None, ast.expr | None]:
        """The assertion apart, and its check; nothing where it cannot or must not be withheld."""
        if place.fixed or self.modes.get(number, SiteMode.WITHHELD) is not SiteMode.WITHHELD:
            return None, None
        split = SplitCall(self.names, definitions)
        if isinstance(place.node, Raises):
            pattern = ast.Constant(None) if place.node.pattern is None else split.convert(place.node.pattern)
            return split, pattern
        if isinstance(place.node, ast.Assert):
            check = None if _bare(place.node.test, split) else split.truth(place.node.test)
        else:
            call = method(place.node)
            assert call is not None
            check = unittest_check(split, call)
        if check is None or not split.operands:
            return None, None
        try:
            ast.unparse(check)
        except ValueError:  # quotes within quotes, in an f-string
            return None, None
        return split, check

    def _reopen(self, consumed: set[int]) -> bool:
        """Give up names that are needed inside too; whether any was found."""
        before = len(self.names.open)
        for key, uses in self.names.uses.items():
            if all(id(use) in consumed for use in uses) or key in self.names.open:
                continue
            if key in self.columns:
                self.names.open.add(key)
            elif any(id(use) in consumed for use in uses):
                value = self.names.constant(*key)
                if value is not None and not self.names.immutable(value):
                    self.names.open.add(key)
        return len(self.names.open) > before

    # Writing

    def _write(self, number: int, split: SplitCall | None, check: ast.expr | None) -> AssertionSite:
        place = self.places[number]
        if split is not None and check is not None:
            if isinstance(place.node, Raises):
                return self._write_raises(number, place, place.node, check)
            self._write_call(number, place.node, split)
            pinned = tuple(split.pinned)
            return AssertionSite(
                number, place.test, place.line, SiteMode.WITHHELD, ast.unparse(check), pinned, place.always
            )
        operands = [] if place.fixed or self.modes.get(number) is SiteMode.LEFT else _compared(place.node)
        for operand in operands:
            start, end = self.edits.span(operand)
            self.edits.replace(start, start, f"{HOOK}({number},")
            self.edits.replace(end, end, ")")
        mode = SiteMode.OBSERVED if operands else SiteMode.LEFT
        return AssertionSite(number, place.test, place.line, mode, always=place.always and bool(operands))

    def _write_call(self, number: int, node: ast.stmt, split: SplitCall) -> None:
        """The statement as a call that sends its operands."""
        whole = self.edits.span(node)
        spelt = [_spelt(operand) for operand in split.operands]
        spans = [self.edits.span(inner) if inner else (0, 0) for _, inner, _ in spelt]
        ascending = all(first[1] <= second[0] for first, second in pairwise(spans))
        if split.respelled or not ascending:
            text = ", ".join(ast.unparse(operand) for operand in split.operands)
            self.edits.replace(*whole, f"{HOOK}({number},{text})")
            return
        done, text = whole[0], f"{HOOK}({number},"
        for (prefix, _, suffix), (start, end) in zip(spelt, spans, strict=True):
            self.edits.replace(done, start, text + prefix)
            done, text = end, f"{suffix},"
        self.edits.replace(done, whole[1], f"{text[:-1]})")

    def _write_raises(self, number: int, place: AssertionPlace, node: Raises, pattern: ast.expr) -> AssertionSite:
        start, end = self.edits.span(node.call)
        function = f"{HOOK}.{'calls' if node.called else 'raises'}({number},{node.owner or None}"
        if node.names:
            wide = "" if all(_ordinary(name) for name in node.names) else "BaseException"
            head = f"{function},{wide or 'Exception'},0"
            check = f"raised(_0, {list(node.names)!r}, {ast.unparse(pattern)})"
        else:
            kind = self.edits.span(node.kind)
            self.edits.replace(start, kind[0], f"{function},")
            start, head = kind[1], ",1"
            check = f"raised(_0, _1, {ast.unparse(pattern)})"
        if node.called:
            first = self.edits.span(node.called[0])[0]
            self.edits.replace(start, first, f"{head},")
        else:
            breaks = "\n" * self.edits.source[start:end].count(b"\n")  # inside the brackets, as they were
            self.edits.swap(start, end, f"{head}{breaks})")
        return AssertionSite(
            number, place.test, place.line, SiteMode.WITHHELD, check, () if node.names else (1,), place.always
        )

    def _take_out(self, consumed: set[int], definitions: Definitions) -> None:
        """Take constants and columns that only served as expectation out of the file."""
        for key, column in self.columns.items():
            if key not in self.names.open and self.names.uses.get(key):
                self._take_column(column, definitions)
        for (scope, name), uses in self.names.uses.items():
            if (scope, name) in self.columns or not all(id(use) in consumed for use in uses):
                continue
            value = self.names.constant(scope, name)
            if value is not None:
                self.edits.replace(*self.edits.span(value), "0")

    def _take_column(self, column: ParameterColumn, definitions: Definitions) -> None:
        split = SplitCall(self.names, definitions)
        entries = [ast.unparse(split.convert(entry)) for entry in column.entries]
        definitions.constants[definitions.tables[column.scope, column.name]] = f"[{', '.join(entries)}]"
        for row, entry in enumerate(column.entries):
            self.edits.replace(*self.edits.span(entry), str(row))

    def _blank(self) -> None:
        """Take out comments, and the documentation strings of tests; others may be what is tested."""
        self.edits.blank_comments()
        for node in [self.tree, *_tests(self.tree.body)]:
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str())) as text]:
                    start, end = self.edits.span(text)
                    breaks = "\n" * self.edits.source[start:end].count(b"\n")
                    self.edits.swap(start, end, f'"""{breaks}"""')


def _tests(body: list[ast.stmt]) -> Iterator[_Function]:
    """Test functions, also those of classes."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node


def _spelt(operand: ast.expr) -> tuple[str, ast.expr | None, str]:
    """An operand as text before, an expression of the file, text after."""
    if isinstance(operand, ast.UnaryOp) and not hasattr(operand, "lineno"):
        return "not(", operand.operand, ")"
    return "", operand, ""


def _ordinary(name: str) -> bool:
    return issubclass(getattr(builtins, name.partition(".")[2]), Exception)


def _bare(test: ast.expr, split: SplitCall) -> bool:
    """Whether a condition is a comparison with nothing to withhold."""
    return isinstance(test, ast.Compare) and not split.comparable(test)


def _compared(node: ast.stmt | Raises) -> list[ast.expr]:
    """The operands of a comparison, to be observed; constants tell nothing."""
    found: list[ast.expr] = []
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        found = [node.test.left, *node.test.comparators]
    elif isinstance(node, ast.stmt) and (call := method(node)) is not None:
        found = [each for each in call.args[:2] if not isinstance(each, ast.Starred)]
    return [each for each in found if not isinstance(each, ast.Constant)]


# Finding assertions


def _places(tree: ast.Module, names: ClosedNames) -> Iterator[AssertionPlace]:
    yield from _in_body(tree.body, SCRIPT, names, always=True, fixed=False, prefix="")


def _in_body(
    body: list[ast.stmt], test: str, names: ClosedNames, *, always: bool, fixed: bool, prefix: str
) -> Iterator[AssertionPlace]:
    for node in body:
        yield from _in_statement(node, test, names, always, fixed, prefix)


def _in_statement(
    node: ast.stmt, test: str, names: ClosedNames, always: bool, fixed: bool, prefix: str
) -> Iterator[AssertionPlace]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outer = test == SCRIPT
            own = (f"{prefix}{node.name}" if node.name.startswith("test") else "") if outer else test
            straight = outer and not any(isinstance(each, ast.Return | ast.Yield) for each in own_nodes(node))
            yield from _in_body(node.body, own, names, always=straight, fixed=False, prefix="")
        case ast.ClassDef():
            inner = f"{prefix}{node.name}::" if test == SCRIPT else ""
            yield from _in_body(node.body, test, names, always=False, fixed=False, prefix=inner)
        case ast.With() | ast.AsyncWith():
            found = [raises(item.context_expr, names) for item in node.items]
            for each in filter(None, found):
                yield AssertionPlace(each, test, node.lineno, always and isinstance(node, ast.With), fixed)
            if any(_catches(item.context_expr) and each is None for item, each in zip(node.items, found, strict=True)):
                yield AssertionPlace(node, test, node.lineno, always=False, fixed=True)
            catches = [item.context_expr for item in node.items if _catches(item.context_expr)]
            loose = any(_swallows(each) for each in catches)
            yield from _in_body(node.body, test, names, always=always and not catches, fixed=fixed or loose, prefix="")
        case ast.Try():
            loose = any(handler.type is None or _swallows(handler.type) for handler in node.handlers)
            yield from _in_body(node.body, test, names, always=always and not node.handlers, fixed=fixed or loose,
                                prefix="")  # fmt: skip
            for part in (*(handler.body for handler in node.handlers), node.orelse):
                yield from _in_body(part, test, names, always=False, fixed=fixed, prefix="")
            yield from _in_body(node.finalbody, test, names, always=always, fixed=fixed, prefix="")
        case ast.Assert():
            yield AssertionPlace(node, test, node.lineno, always, fixed or _unsafe(node))
        case ast.Expr(value=value) if method(node) is not None:
            yield AssertionPlace(node, test, node.lineno, always, fixed or _unsafe(node))
        case ast.Expr(value=value) if (found_ := raises(value, names)) is not None and found_.called:
            yield AssertionPlace(found_, test, node.lineno, always, fixed)
        case ast.Expr() | ast.Raise() if _asserts(node):
            yield AssertionPlace(node, test, node.lineno, always, fixed=True)
        case _:
            for block in ("body", "orelse"):
                inner_body: list[ast.stmt] = getattr(node, block, [])
                yield from _in_body(inner_body, test, names, always=False, fixed=fixed, prefix="")
            for case in getattr(node, "cases", []):
                yield from _in_body(case.body, test, names, always=False, fixed=fixed, prefix="")


def own_nodes(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _asserts(node: ast.Expr | ast.Raise) -> bool:
    """Whether a statement asserts in a way that is not understood here."""
    called = node.value if isinstance(node, ast.Expr) else node.exc
    name = called.func if isinstance(called, ast.Call) else called
    spelt = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return spelt.startswith("assert") or spelt in {"fail", "AssertionError"}


def _catches(context: ast.expr) -> bool:
    """Whether a context may keep an exception from its test."""
    name = context.func if isinstance(context, ast.Call) else context
    spelt = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return spelt in {"raises", "assertRaises", "assertRaisesRegex", "suppress", "warns"}


def _swallows(node: ast.expr) -> bool:
    """Whether what is caught may be a failed assertion."""
    return any(isinstance(each, ast.Name) and each.id in _SWALLOWS for each in ast.walk(node))


def _unsafe(node: ast.stmt) -> bool:
    """Whether an assertion does more than assert."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom | ast.NamedExpr) for each in ast.walk(node))
