"""The observer as one program text, to be sent into the sandbox."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from repoassay.grading.hidden_tests.parsing import parse_anew

__all__ = ["observer_source"]

_PARTS = ("forms.py", "observer.py", "hook.py")


@functools.cache
def observer_source() -> str:
    """Source that defines `Hook`, `encode` and `describe_exception`, for Python 3.8 or newer and nothing else."""
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
