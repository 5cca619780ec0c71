"""The observer as one program text, to be sent into the sandbox."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from repoassay.grading.hidden_tests.parsing import parse_anew

__all__ = ["observer_source", "without_annotations"]

_PARTS = ("forms.py", "observer.py", "hook.py")


@functools.cache
def observer_source() -> str:
    """Source that defines `Hook`, `encode` and `describe_exception`, for Python 3.6 or newer and nothing else."""
    parts = ["from __future__ import annotations\n"]
    for name in _PARTS:
        source = Path(__file__).with_name(name).read_text()
        lines = source.splitlines()
        for statement in parse_anew(source).body:
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(
                ("__future__", "repoassay")
            ):
                assert statement.end_lineno
                for number in range(statement.lineno - 1, statement.end_lineno):
                    lines[number] = ""
        parts.append("\n".join(lines))
    return "\n".join(parts)


class _Bare(ast.NodeTransformer):
    """Leaves out annotations, and what only they need."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return ast.Pass()
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "__future__" else node


@functools.lru_cache(maxsize=8)
def without_annotations(source: str) -> str:
    """The same program for interpreters older than its annotations."""
    return ast.unparse(ast.fix_missing_locations(_Bare().visit(parse_anew(source))))
