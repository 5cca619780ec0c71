"""How each assertion of a JavaScript test is decided outside: what stays, and what the judge asks of the values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repoassay.grading.oracle.javascript_assertions import COMPARED, ENDINGS, Assertion
from repoassay.grading.oracle.javascript_closed import CLASSES, ClosedBindings
from repoassay.grading.oracle.javascript_scopes import JavaScriptBinding, JavaScriptScopes
from repoassay.grading.oracle.javascript_tree import arguments_of, called, named, text_of, walk
from repoassay.grading.oracle.sites import SiteMode

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["NAME", "AssertionForm", "Forms"]

NAME = "__repoassay"
"""What the observer is called inside; it says nothing of what is expected."""
_COMPARISONS = frozenset({"===", "!==", "==", "!=", "<", ">", "<=", ">="})
_ASKED = frozenset({"includes", "startsWith", "endsWith", "has", "test"})
"""Methods of builtins that the judge can ask a value that was sent."""
_PLAIN = frozenset(
    {"Array.isArray", "Number.isInteger", "Number.isNaN", "Number.isFinite", "Number.isSafeInteger", "Object.is"}
)
_ACTING = frozenset({"await_expression", "yield_expression", "assignment_expression", "augmented_assignment_expression",
                     "update_expression"})  # fmt: skip
_ROW = re.compile("\0(\\d+)\0")


@dataclass(slots=True)
class AssertionForm:
    """What becomes of one assertion.

    Attributes:
        mode: How it is decided.
        start: What its text begins with inside.
        operands: Parts of its text that stay, in order.
        rows: Names of table columns, sent as numbers of rows.
        check: For the judge.
        after: Whether rows come after the operand in the text inside.
    """

    mode: SiteMode
    start: str = ""
    operands: list[Node] = field(default_factory=list)
    rows: list[JavaScriptBinding] = field(default_factory=list)
    check: str = ""
    after: bool = False

    def settle(self) -> AssertionForm:
        """With operands in the numbers of the check behind the rows, which are sent first."""
        shift = len(self.rows)
        check = re.sub("\1(\\d+)\1", lambda found: f"_{int(found[1]) + shift}", self.check)
        self.check = _ROW.sub(lambda found: f"_{found[1]}", check)
        return self


class Forms:
    """Finds the form of an assertion, given what is closed."""

    def __init__(self, scopes: JavaScriptScopes, closed: ClosedBindings) -> None:
        self._scopes, self._closed = scopes, closed

    def of(self, found: Assertion) -> AssertionForm:
        """The form of an assertion; `left` where nothing better is certain."""
        if any(each.type == "spread_element" for each in found.given):
            return AssertionForm(SiteMode.LEFT)
        if found.method == "fail":  # stays, but whether it was reached is told
            return AssertionForm(SiteMode.OBSERVED, f"observed(0, {text_of(found.callee)}", list(found.given))
        if not found.given:
            return AssertionForm(SiteMode.LEFT)
        if found.method in COMPARED:
            form = self._compared(found) if len(found.given) > 1 else AssertionForm(SiteMode.LEFT)
            used = 2
        elif found.method in ENDINGS:
            form, used = self._ending(found)
        else:
            form, used = self._truth(found), 1
        messages = found.given[used:]
        if any(part.type in _ACTING for message in messages for part in walk(message)):
            return AssertionForm(SiteMode.LEFT)
        return form.settle()

    def _compared(self, found: Assertion) -> AssertionForm:
        rows: list[JavaScriptBinding] = []
        texts = [self._closed.text(each, rows) for each in found.given[:2]]
        operands = [each for each, text in zip(found.given, texts, strict=False) if text is None]
        if len(operands) < 2:  # with none it is told that it was reached
            arguments = ", ".join("\1" + "0\1" if text is None else text for text in texts)
            check = f'(require("node:assert").{found.method}({arguments}), true)'
            return AssertionForm(SiteMode.WITHHELD, "seen", operands, rows, check)
        return AssertionForm(SiteMode.OBSERVED, f"observed(2, {text_of(found.callee)}", operands)

    def _ending(self, found: Assertion) -> tuple[AssertionForm, int]:
        """Functions and promises: how they end is sent, and judged as if it were to end so again."""
        arguments, method = found.given, found.method
        rows: list[JavaScriptBinding] = []
        expected = (
            arguments[1] if len(arguments) > 1 and arguments[1].type not in ("string", "template_string") else None
        )
        text = "" if expected is None else self._closed.text(expected, rows, classes=True)
        waits = method in ("rejects", "doesNotReject")
        used = 1 + (expected is not None)
        if text is not None:
            judged = "doesNotThrow" if method.startswith("doesNot") else "throws"
            check = f'(require("node:assert").{judged}(\0010\001{", " + text if text else ""}), true)'
            return AssertionForm(
                SiteMode.WITHHELD, "rejected" if waits else "threw", [arguments[0]], rows, check, after=True
            ), used
        observer = "observedReject" if waits else "observedThrow"
        return AssertionForm(SiteMode.OBSERVED, f"{observer}({text_of(found.callee)}", list(arguments[:2])), used

    def _truth(self, found: Assertion) -> AssertionForm:
        operands: list[Node] = []
        rows: list[JavaScriptBinding] = []
        if found.method == "ifError":
            return AssertionForm(
                SiteMode.WITHHELD, "seen", [found.given[0]], [], '(require("node:assert").ifError(\0010\001), true)'
            )
        inside = [False]
        check = self._condition(found.given[0], operands, rows, inside)
        if inside[0]:  # two values of the code's own are compared: that stays, with both sent
            if rows or any(self._takes(each) for each in operands):
                return AssertionForm(SiteMode.OBSERVED, f"observed(1, {text_of(found.callee)}", [found.given[0]])
            names = ", ".join(f"_{at}" for at in range(len(operands)))
            compare = re.sub("\1(\\d+)\1", r"_\1", check)
            return AssertionForm(SiteMode.OBSERVED, f"compared(({names}) => {compare}", operands)
        return AssertionForm(SiteMode.WITHHELD, "seen", operands, rows, f"Boolean({check})")

    @staticmethod
    def _takes(node: Node) -> bool:
        return node.type == "sequence_expression"

    def _condition(self, node: Node, operands: list[Node], rows: list[JavaScriptBinding], inside: list[bool]) -> str:
        """A condition as the judge asks it, its open parts as operands."""

        def part(each: Node) -> str:
            return self._condition(each, operands, rows, inside)

        closed = self._closed.text(node, rows)
        if closed is not None:
            return closed
        if node.type == "parenthesized_expression" and len(named(node)) == 1 and not self._takes(named(node)[0]):
            return f"({part(named(node)[0])})"
        if node.type == "unary_expression" and node.children[0].type == "!":
            return f"!{part(node.children[-1])}"
        if node.type == "binary_expression":
            return self._binary(node, operands, rows, inside)
        if called(node) is not None:
            return self._call(node, operands, rows) or self._operand(node, operands)
        return self._operand(node, operands)

    @staticmethod
    def _operand(node: Node, operands: list[Node]) -> str:
        operands.append(node)
        return f"\1{len(operands) - 1}\1"

    def _binary(self, node: Node, operands: list[Node], rows: list[JavaScriptBinding], inside: list[bool]) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))  # type: ignore[arg-type]
        assert left is not None
        assert right is not None
        if operator == "&&":
            return (
                f"{self._condition(left, operands, rows, inside)} && {self._condition(right, operands, rows, inside)}"
            )
        if operator == "instanceof":
            name = self._closed.text(right, rows, classes=True) if text_of(right) in CLASSES else None
            return (
                self._operand(node, operands) if name is None else f"{self._operand(left, operands)} instanceof {name}"
            )
        sides = [self._closed.text(each, rows) for each in (left, right)]
        if operator == "in" and sides[0] is not None:
            return f"{sides[0]} in {self._operand(right, operands)}"
        if operator not in _COMPARISONS:
            return self._operand(node, operands)
        inside[0] |= sides == [None, None]
        texts = [self._operand(each, operands) if text is None else text
                 for each, text in zip((left, right), sides, strict=True)]  # fmt: skip
        return f"{texts[0]} {operator} {texts[1]}"

    def _call(self, node: Node, operands: list[Node], rows: list[JavaScriptBinding]) -> str:
        """A question to a builtin of a value, or to the language itself; empty when it is another."""
        function, arguments = called(node), arguments_of(node) or []
        assert function is not None
        if function.type != "member_expression" or function.child_by_field_name("optional_chain"):
            return ""
        owner, name = function.child_by_field_name("object"), function.child_by_field_name("property")
        assert owner is not None
        method = text_of(name) if name else ""
        texts = [self._closed.text(each, rows) for each in arguments]
        whose = self._closed.text(owner, rows)
        if whose is None and method in _ASKED - {"test"} and texts and None not in texts:
            if owner.type == "identifier" and self._scopes.of(owner) is None:
                return ""
            return f"{self._operand(owner, operands)}.{method}({', '.join(text or '' for text in texts)})"
        if whose is None:
            is_global = owner.type == "identifier" and self._scopes.of(owner) is None
            asks = is_global and f"{text_of(owner)}.{method}" in _PLAIN
        else:
            asks = method in _ASKED
        if not asks or texts.count(None) != 1:
            return ""
        arguments_text = [
            self._operand(each, operands) if text is None else text for each, text in zip(arguments, texts, strict=True)
        ]
        return f"{text_of(owner) if whose is None else whose}.{method}({', '.join(arguments_text)})"
