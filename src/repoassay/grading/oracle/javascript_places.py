"""Where in a JavaScript test an assertion stands: in which test, whether always reached, and whether its failure is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from repoassay.grading.hidden_tests.javascript_script import SCRIPT
from repoassay.grading.oracle.javascript_tree import FUNCTIONS, arguments_of, called, plain_text, text_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from tree_sitter import Node

__all__ = ["JavaScriptPlace", "place_of"]

_TESTS, _SUITES, _ONCE = frozenset({"test", "it"}), frozenset({"describe", "suite"}), frozenset({"before", "after"})


@dataclass(frozen=True, slots=True)
class JavaScriptPlace:
    """Where an assertion stands.

    Attributes:
        test: `NAME` or `SUITE::NAME`; `__script__`; empty where it serves any test.
        always: Whether every passing run reaches it exactly once.
        usable: Whether a failure can only come to the test it stands in.
    """

    test: str
    always: bool
    usable: bool


def place_of(call: Node, assertions: AbstractSet[int], script: bool) -> JavaScriptPlace:
    """Where an assertion stands, given the ids of all calls that are assertions."""
    names: list[str | None] = []
    body: Node | None = None
    usable, functions, owner = True, 0, ""
    at: Node | None = call.parent
    below = call
    while at is not None:
        if at.id in assertions:
            usable = False  # within another: what it throws is judged there
        elif (
            at.type == "try_statement" and at.child_by_field_name("handler") and at.child_by_field_name("body") == below
        ):
            usable = False
        elif at.type in FUNCTIONS:
            functions += 1
            kind, name = _declared(at)
            owner = owner or kind
            if kind in ("test", "suite"):
                names.insert(0, name)
                body = body or (at.child_by_field_name("body") if kind == "test" else None)
        below = at
        at = at.parent
    if script:
        return JavaScriptPlace(SCRIPT, functions == 0 and _at_top(call, None), usable)
    usable = usable and functions > 0 and owner not in ("suite", "once")
    tested = body is not None and None not in names
    test = "::".join(name or "" for name in names) if tested else ""
    return JavaScriptPlace(test, tested and _at_top(call, body), usable)


def _declared(function: Node) -> tuple[str, str | None]:
    """What a function is given to, `test`, `suite`, `once` or nothing, and under which name."""
    arguments = function.parent
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    callee = None if call is None else called(call)
    if call is None or callee is None:
        return "", None
    word = text_of(callee).split(".")
    words = [each for each in word if each not in ("only", "skip", "todo")]
    parameters = arguments_of(call) or []
    if words[-1] in _TESTS | _SUITES and len(words) <= 2 and parameters:
        return "test" if words[-1] in _TESTS else "suite", plain_text(parameters[0])
    return ("once", None) if words[-1] in _ONCE else ("", None)


def _at_top(call: Node, body: Node | None) -> bool:
    """Whether a call is a statement of its own at the top of a body, or of the file, that nothing leaves before."""
    at = call
    while at.parent is not None and at.parent.type in ("await_expression", "parenthesized_expression"):
        at = at.parent
    statement = at.parent
    if statement is None:
        return False
    if body is not None and at == body:  # the value of an arrow function
        return True
    top = statement.parent
    if statement.type not in ("expression_statement", "return_statement") or top is None:
        return False
    if (top.type != "program") if body is None else (top != body):
        return False
    before = [child for child in top.children if child.end_byte <= statement.start_byte]
    return not any(_leaves(child) for child in before)


def _leaves(node: Node) -> bool:
    """Whether a statement may end the function it stands in, other than by an error."""
    stack = [node]
    while stack:
        found = stack.pop()
        if found.type == "return_statement":
            return True
        if found.type not in FUNCTIONS:
            stack.extend(found.children)
    return False
