"""What a Python file does but for what no test should pin: docstrings, annotations, logs, messages, metadata."""

from __future__ import annotations

import ast

from repoassay.grading import parse_anew

__all__ = ["LOGS", "TOLD", "called_name", "is_metadata", "is_silent", "is_text", "python_meaning"]

LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
TOLD = frozenset({"help", "description", "epilog", "metavar", "doc", "msg"})
"""Keyword arguments that are read by people alone."""
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def python_meaning(source: bytes) -> str | None:
    """A text that two Python files share that do the same but for what no test should look at; None for no Python."""
    try:
        tree = _Plain().visit(parse_anew(source))
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Plain(ast.NodeTransformer):
    """Leaves out docstrings, annotations, logs, and the text of what is raised."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [each for each in body if not (is_silent(each) or is_metadata(each))])
        if isinstance(node, _Function):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        return ast.keyword(node.arg, ast.Constant("")) if node.arg in TOLD and is_text(node.value) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.exc, ast.Call):
            node.exc.args = [ast.Constant("") if is_text(each) else each for each in node.exc.args]
        return node


def is_silent(node: ast.AST) -> bool:
    """Whether a statement does nothing that a test should look at: docstrings, logs, imports for annotations."""
    if isinstance(node, ast.ImportFrom):
        return node.module in ("typing", "typing_extensions", "__future__")
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Constant):
        return True
    return (
        isinstance(node.value, ast.Call)
        and called_name(node.value) in LOGS
        and "log" in ast.dump(node.value.func).lower()
    )


def is_metadata(node: ast.AST) -> bool:
    """Whether a statement says what a module exports, or whose it is."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name.startswith("__") and name.endswith("__")
    return False


def called_name(node: ast.Call) -> str:
    """The last name of what a call calls."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_text(node: ast.AST) -> bool:
    """Whether an expression is a text, perhaps with values in it."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, op=ast.Mod() | ast.Add()):
            return is_text(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return is_text(value)
    return False
