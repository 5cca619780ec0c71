"""What is counted of a repository, each measure with its definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFINITIONS", "TOKENISER", "Measures", "SurveyProblem"]

TOKENISER = "python-tokenize"
"""Whose tokens are counted: those of Python's own `tokenize` module, not those of a language model."""

DEFINITIONS = {
    "files": "Files whose name ends in .py.",
    "lines": "Physical lines of these files, blank lines and comments included.",
    "code_lines": "Lines of code: physical lines that are neither blank nor only a comment. Docstrings count.",
    "classes": "Class definitions, nested ones included.",
    "functions": "Function definitions with def or async def; methods and nested ones included, lambdas not.",
    "imports": "Names imported by import and from ... import statements; a star is one name.",
    "internal_imports": "Pairs of two different .py files of the repository of which one imports the other.",
    "calls": "Call expressions. A decorator counts when it is written with brackets.",
    "tokens": "Lexical tokens of Python, without comments, line ends and indentation; an f-string is one token.",
    "model_tokens": "Tokens of a language model (cl100k_base), comments and indentation included.",
    "python_bytes": "Bytes of the .py files.",
    "bytes": "Bytes of all files.",
}
"""Measure -> its definition, in the order in which they are shown. docs/reference/survey.md says the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Counts over a whole repository; `DEFINITIONS` says what each of them is.

    `lines`, `code_lines` and `tokens` cover every .py file that could be read; `classes`, `functions`, `imports`,
    `internal_imports` and `calls` those that parse. `model_tokens` is None where they were not asked for.
    """

    files: int
    lines: int
    code_lines: int
    classes: int
    functions: int
    imports: int
    internal_imports: int
    calls: int
    tokens: int
    model_tokens: int | None
    python_bytes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SurveyProblem:
    """A .py file or a folder that could not be counted in full.

    `skipped`: nothing in it was counted, except that a file is one of `files`. `unparsed`: its lines and tokens were
    counted, its classes, functions, imports and calls were not.
    """

    path: str
    kind: Literal["skipped", "unparsed"]
    reason: str
