"""Whether withheld assertions hold: plain comparisons here, everything else in the confined judge.

A comparison of plain values with a literal runs no code of anybody, so it needs no sandbox; it spares most submissions
the way there.
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from repoassay.grading.hidden_tests.parsing import parse_anew
from repoassay.grading.oracle.judge import OracleJudge, WithheldCheck
from repoassay.grading.oracle.nodes import check, is_plain
from repoassay.grading.oracle.sites import AssertionSite
from repoassay.grading.oracle.values import decode

__all__ = ["DecisionQuestion", "decide"]

_SMALL = 4096
"""Characters of a node that may be decoded here: equal hashes, chosen by an attacker, make large ones slow."""
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


@dataclass(frozen=True, slots=True)
class DecisionQuestion:
    """Whether a withheld assertion holds for these operands."""

    site: AssertionSite
    nodes: Sequence[Any]


def decide(questions: Sequence[DecisionQuestion], definitions: str, judge: OracleJudge) -> list[str]:
    """Answer each: `holds`, `fails`, or `error: TEXT`.

    Raises:
        InfraFault: When the judge cannot be started.
    """
    answers = [_here(question, definitions) for question in questions]
    left = [place for place, answer in enumerate(answers) if answer is None]
    if left:
        checks = [WithheldCheck(questions[place].site.check, list(questions[place].nodes)) for place in left]
        for place, answer in zip(left, judge.decide(definitions, checks), strict=True):
            answers[place] = answer
    return [answer or "error: no answer" for answer in answers]


def _here(question: DecisionQuestion, definitions: str) -> str | None:
    """The answer where it takes nothing but plain values and literals."""
    holds = _raised(question)
    if holds is not None:
        return "holds" if holds else "fails"
    if not all(isinstance(node, str) or (_small(node) and is_plain(node)) for node in question.nodes):
        return None
    try:
        values = [decode(node) for node in question.nodes]
        holds = _holds(_parsed(question.site.check), values, _literals(definitions))
    except _NotPlain:
        return None
    except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        return f"error: {type(error).__name__}"
    return "holds" if holds else "fails"


def _raised(question: DecisionQuestion) -> bool | None:
    """Whether an exception is of an expected type, where its text does not matter; None for any other question."""
    match _parsed(question.site.check):
        case ast.Call(func=ast.Name(id="raised"), args=[ast.Name(id="_0"), expected, ast.Constant(value=None)]):
            node = question.nodes[0] if question.nodes else None
            try:
                check(node)
            except ValueError:
                return False
            if not (isinstance(node, list) and node[0] == "exc"):
                return False
            if isinstance(expected, ast.List):
                return any(name in node[2] for name in ast.literal_eval(expected))
            kinds = question.nodes[1] if len(question.nodes) > 1 else None
            return isinstance(kinds, list) and any(isinstance(kind, str) and kind in node[2] for kind in kinds[1:])
    return None


def _small(node: object) -> bool:
    try:
        return len(json.dumps(node)) < _SMALL
    except RecursionError:
        return False


class _NotPlain(Exception):
    """The check needs the judge."""


def _holds(node: ast.expr, values: Sequence[Any], literals: dict[str, Any]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And()):
            return all(_holds(each, values, literals) for each in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not _holds(node.operand, values, literals)
        case ast.Compare():
            sides = [_value(each, values, literals) for each in (node.left, *node.comparators)]
            return all(
                _OPERATORS[type(op)](first, second)
                for op, first, second in zip(node.ops, sides, sides[1:], strict=False)
            )
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" as name), args=[argument], keywords=[]):
            assert isinstance(node.func, ast.Attribute)
            text = _value(node.func.value, values, literals)
            if type(text) is not str:
                raise _NotPlain
            return bool(getattr(str, name)(text, _value(argument, values, literals)))
        case ast.Name():
            return bool(_value(node, values, literals))
    raise _NotPlain


def _value(node: ast.expr, values: Sequence[Any], literals: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        if node.id.startswith("_") and node.id[1:].isdecimal():
            return values[int(node.id[1:])]
        if node.id in literals:
            return literals[node.id]
        raise _NotPlain
    if isinstance(node, ast.Subscript):
        return _value(node.value, values, literals)[_value(node.slice, values, literals)]
    return _literal(node)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _NotPlain from None


@functools.lru_cache(maxsize=4096)
def _parsed(check: str) -> ast.expr:
    tree: ast.Expression = parse_anew(check, "eval")
    return tree.body


@functools.lru_cache(maxsize=256)
def _literals(definitions: str) -> dict[str, Any]:
    """Constants of the definitions that are literals."""
    found = {}
    for node in parse_anew(definitions).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = _literal(node.value)
            except _NotPlain:
                continue
    return found
