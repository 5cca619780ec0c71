"""Where a hidden test can be altered so that it must fail, found by the forms that the rewriter knows.

Only what is compared by `==` or `is` with something spelt out is altered: no value equals two different literals, so an
altered test must fail with every solution, not the reference alone. Whatever else is asserted is inverted. For the same
reason only assertions count that no passing run leaves out: at the top level of a test, in blocks of `with`, in loops
over literal tables.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.grading.hidden_tests.parsing import parse_anew
from repoassay.grading.oracle.assertions import Raises, method
from repoassay.grading.oracle.bare_tests import HelperCalls, HelperFile
from repoassay.grading.oracle.likeness import Likeness, likeness
from repoassay.grading.oracle.names import Scope
from repoassay.grading.oracle.rewrite import AssertionPlace, Rewriting
from repoassay.grading.oracle.spelling import spellings
from repoassay.grading.oracle.text import Edits, Span

__all__ = ["Alterable", "alter", "alterables", "in_loops"]

_OPPOSITE = {
    "assertTrue": "assertFalse", "assertIn": "assertNotIn", "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone", "assertEqual": "assertNotEqual", "assertGreater": "assertLessEqual",
    "assertGreaterEqual": "assertLess", "assertRegex": "assertNotRegex", "assertAlmostEqual": "assertNotAlmostEqual",
}  # fmt: skip
_OPPOSITE |= {second: first for first, second in _OPPOSITE.items()}
_EQUALITIES = frozenset({
    "assertEqual", "assertEquals", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual",
    "assertSequenceEqual", "assertMultiLineEqual", "assertIs",
})  # fmt: skip
_OPERATORS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.Lt: ("<", ">="), ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="), ast.LtE: ("<=", ">"),
}  # fmt: skip
_LOOSE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)


@dataclass(frozen=True, slots=True)
class Alterable:
    """One thing in a test function that can be spelt otherwise.

    Attributes:
        test: The test function, `NAME` or `CLASS::NAME`, or `__script__`.
        spans: Where it stands, in bytes; several for the rows of a table, which are altered together.
        options: Every spelling, a text for each span, the real one first.
        telling: Whether a reader who does not know the answer has no reason to prefer one; an inverted assertion is
            usually recognised.
        statement: The line of the one assertion it belongs to; 0 when it may belong to several.
        ending: Whether it is a failure put at the test's end, which assures nothing of what the test asserts.
    """

    test: str
    spans: tuple[Span, ...]
    options: tuple[tuple[str, ...], ...]
    telling: bool = True
    statement: int = 0
    ending: bool = False


def alter(source: str, chosen: Mapping[Alterable, int]) -> str:
    """The source with an option of each alterable in its place, all else to the letter."""
    edits = Edits(source.encode())
    for one, option in chosen.items():
        for span, text in zip(one.spans, one.options[option], strict=True):
            edits.swap(*span, text)
    return edits.result()


def alterables(
    source: str, base: Path, *, tests: Collection[str] | None = None, most: int = 40,
    file: HelperFile | None = None,
) -> dict[str, list[Alterable]]:  # fmt: skip
    """Everything alterable of each test function of a file, or of these, literals of a function at most `most`.

    With `file`, of these functions also what calls of helpers surely compare.

    Raises:
        SyntaxError: When it is not Python.
    """
    finding = _Finding(source, base, most)
    found: dict[str, list[Alterable]] = {}
    for place in finding.rewriting.places:
        if tests is not None and place.test not in tests:
            continue
        if place.test and not place.fixed and place.test not in finding.doubled and id(place.node) in finding.sure:
            found.setdefault(place.test, []).extend(finding.at(place))
    helpers = HelperCalls(replace(file, tree=finding.rewriting.tree)) if file else None
    calls = list(helpers.compared(set(tests or ()) - finding.doubled, in_loops)) if helpers else []
    finding.consumed |= {id(argument) for _, _, arguments in calls for argument in arguments}
    for test, line, arguments in calls:
        found.setdefault(test, []).extend(finding.given(test, line, arguments))
    return {test: _disjoint(each) for test, each in found.items() if each}


def _disjoint(places: list[Alterable]) -> list[Alterable]:
    """Those that can be altered independently of each other."""
    taken: set[Span] = set()
    kept = []
    for place in places:
        if taken.isdisjoint(place.spans):
            taken.update(place.spans)
            kept.append(place)
    return kept


class _Finding:
    def __init__(self, source: str, base: Path, most: int) -> None:
        self.rewriting = Rewriting(source, {})
        self.edits, self.most = self.rewriting.edits, most
        self.source, self.base = source, base
        self._scores: dict[str, Likeness] = {}
        _, self.consumed, _ = self.rewriting.settle()
        self.doubled = _doubled(self.rewriting.tree)
        self.sure = {id(place.node) for place in self.rewriting.places if place.always}
        self.sure |= {id(each) for function in ast.walk(self.rewriting.tree) for each in in_loops(function)}
        self._count: Counter[str] = Counter()

    def at(self, place: AssertionPlace) -> Iterator[Alterable]:
        """What can be altered in one assertion."""
        if isinstance(place.node, Raises):
            return
        inverted = self._inverted(place.node)
        if inverted is not None:
            (start, end), text = inverted
            options = ((self.edits.source[start:end].decode(),), (text,))
            alterable = Alterable(place.test, ((start, end),), options, telling=False, statement=place.line)
            if self._parses(place.node, (start, end), text):
                yield alterable
        for compared in _compared(place.node):
            yield from self.given(place.test, place.line, compared)

    def given(self, test: str, line: int, arguments: Sequence[ast.expr]) -> Iterator[Alterable]:
        """What can be altered in what is compared: in one side alone, for with both altered they may be equal again."""
        for side in arguments:
            found = list(self._literals(side))
            for nodes in found:
                own = all(side.lineno <= node.lineno <= (side.end_lineno or 0) for node in nodes)
                yield from self._literal(test, line if own else 0, nodes)
            if found:
                break

    def _parses(self, node: ast.stmt, span: Span, text: str) -> bool:
        """Whether a statement, which may be one of thousands of its file, is one with a text in place of a span."""
        begin, end = self.edits.span(node)
        source = self.edits.source
        try:
            parse_anew((source[begin : span[0]] + text.encode() + source[span[1] : end]).decode())
        except SyntaxError:
            return False
        return True

    def _literal(self, test: str, statement: int, nodes: tuple[ast.Constant, ...]) -> Iterator[Alterable]:
        """A word of a literal, or of each literal of a column, in other spellings."""
        if self._count[test] >= self.most:
            return
        spelling_options = [spellings(self.edits.text(node), self._score(test)) for node in nodes]
        kept = [(self.edits.span(node)[0], each) for node, each in zip(nodes, spelling_options, strict=True) if each]
        for number in range(min((len(each) for _, each in kept), default=0)):
            there = [(start, each[number]) for start, each in kept]
            width = min(len(each.options) for _, each in there)
            spans = tuple((start + each.at, start + each.at + each.width) for start, each in there)
            options = tuple(zip(*(each.window(width) for _, each in there), strict=True))
            self._count[test] += 1
            telling = all(each.telling for _, each in there)
            yield Alterable(test, spans, options, telling, statement)

    def _score(self, test: str) -> Likeness:
        if test not in self._scores:
            body = self.rewriting.tree.body
            found: ast.AST = self.rewriting.tree
            for name in test.split("::"):
                found = next((each for each in body if getattr(each, "name", "") == name), found)
                body = getattr(found, "body", [])
            text = self.source if isinstance(found, ast.Module) else self.edits.text(found)
            self._scores[test] = likeness(self.base, self.source, text)
        return self._scores[test]

    def _literals(self, node: ast.expr) -> Iterator[tuple[ast.Constant, ...]]:
        """Literals of a compared side: those it spells out, those of a name that serves as expectation alone."""
        match node:
            case ast.Constant(value=str() | int() | float() | bytes()):
                yield (node,)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as inner):
                yield (inner,)
            case ast.List() | ast.Tuple():
                for each in node.elts:
                    yield from self._literals(each)
            case ast.Set():  # one alone: two that change places are the same set
                yield from self._literals(node.elts[0])
            case ast.Dict():
                for each in node.values:
                    yield from self._literals(each)
            case ast.Name() if id(node) in self.consumed:
                yield from self._literals_of_name(node)

    def _literals_of_name(self, node: ast.Name) -> Iterator[tuple[ast.Constant, ...]]:
        names = self.rewriting.names
        scope = names.scope_of.get(node, names.module).find(node.id)
        if scope is None or not all(id(use) in self.consumed for use in names.uses.get((scope, node.id), ())):
            return  # it is input too, and another input may honestly yield the same
        column = self.rewriting.columns.get((scope, node.id))
        if column is not None:
            first = [next(self._literals(entry), None) for entry in column.entries]
            nodes = tuple(each[0] for each in first if each)
            if nodes:
                yield nodes
        elif _local(scope):
            value = names.constant(scope, node.id)
            if value is not None:
                yield from self._literals(value)

    def _inverted(self, node: ast.stmt) -> tuple[Span, str] | None:
        """What to replace, and by what, so that a statement asserts the opposite."""
        call = method(node)
        if call is not None:
            assert isinstance(call.func, ast.Attribute)
            end = self.edits.span(call.func)[1]
            other = _OPPOSITE.get(call.func.attr)
            return ((end - len(call.func.attr), end), other) if other else None
        if not isinstance(node, ast.Assert):
            return None
        match node.test:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                start, end = self.edits.span(left)[1], self.edits.span(right)[0]
                spelt, other = _OPERATORS[type(op)]
                at = self.edits.source[start:end].decode().find(spelt)
                return ((start + at, start + at + len(spelt)), other) if at >= 0 else None
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return (self.edits.span(node.test)[0], self.edits.span(operand)[0]), ""
            case test if not isinstance(test, (*_LOOSE, ast.Compare)):
                start = self.edits.span(test)[0]
                return (start, start), "not "
        return None


def _compared(node: ast.stmt) -> Iterator[list[ast.expr]]:
    """Both sides of comparisons that fail when one side is altered; the one more often spelt out first."""
    if isinstance(node, ast.Assert):
        tests = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [
            node.test]  # fmt: skip
        for test in tests:
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
                yield [test.comparators[0], test.left]
    elif (call := method(node)) is not None and isinstance(call.func, ast.Attribute) and call.func.attr in _EQUALITIES:
        yield call.args[1::-1]


def in_loops(node: ast.AST, in_block: bool = False) -> Iterator[ast.stmt]:
    """Assertions in loops over literal tables in a test function, or in a script."""
    function = isinstance(node, ast.FunctionDef | ast.Module)
    leaves = (ast.Return, ast.Yield, ast.Break, ast.Continue)
    if function and any(isinstance(each, leaves) for each in ast.walk(node)):
        return
    if not function and not in_block:
        return
    for each in getattr(node, "body", []):
        loop = isinstance(each, ast.For) and _literal_table(each.iter)
        if loop or (isinstance(each, ast.With) and not any(_catching(item.context_expr) for item in each.items)):
            yield from in_loops(each, in_block=True)
        elif not function and isinstance(each, ast.Assert | ast.Expr | ast.If):
            yield each


def _catching(context: ast.expr) -> bool:
    return not (isinstance(context, ast.Call) and isinstance(context.func, ast.Attribute)
                and context.func.attr == "subTest")  # fmt: skip


def _literal_table(node: ast.expr) -> bool:
    """Whether a loop over it surely runs at least once."""
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return any(not isinstance(each, ast.Starred) for each in elts)
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="items"), args=[]):
            return bool(table.keys) and None not in table.keys
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            return _literal_table(inner)
    return False


def _local(scope: Scope) -> bool:
    return isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef)


def _doubled(tree: ast.Module) -> set[str]:
    """Names of tests that are defined twice, of which one is never run."""
    counts = Counter(_defined(tree.body, ""))
    twice = {name for name, count in counts.items() if count > 1}
    return {name for name in counts if any(name == each or name.startswith(f"{each}::") for each in twice)}


def _defined(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{node.name}"
            if isinstance(node, ast.ClassDef):
                yield from _defined(node.body, f"{prefix}{node.name}::")
