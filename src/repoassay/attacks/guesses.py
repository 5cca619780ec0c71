"""Guesses at what a function under test should return: expressions over its arguments, the nearest first.

Written in both languages; `given` are the arguments, `was()` what the function returned before the change.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from repoassay.attacks.target import Language
from repoassay.grading import literal_value, parse_anew

__all__ = ["guesses", "literals"]

_MOST = 400
_PYTHON = (
    "was()", "given[0]", "given[1]", "None", "True", "False", "0", "1", "-1", "2", "3", "''", "[]", "{}", "()",
    "refuse(ValueError)", "refuse(KeyError)", "refuse(TypeError)", "refuse(IndexError)", "list(given[0])",
    "len(given[0])", "str(given[0])", "sorted(given[0])", "tuple(given[0])", "set(given[0])", "dict(given[0])",
    "given[0].upper()", "given[0].lower()", "given[0].title()", "given[0].strip()", "given[0] + 's'", "given[0][0]",
    "given[0][-1]", "given[0][::-1]", "given[0][1:]", "given[0][:-1]", "sum(given[0])", "min(given[0])",
    "max(given[0])", "-given[0]", "given[0] + 1", "given[0] * 2", "given[0] + given[1]", "given[0] == given[1]",
    "list(was())", "dict(was())", "was().upper()", "was().lower()", "was()[0]", "str(was())", "4", "5", "10", "100",
    "0.0", "1.0", "0.5", "b''", "[None]", "' '", "'\\n'",
)  # fmt: skip
_JAVASCRIPT = (
    "was()", "given[0]", "given[1]", "undefined", "null", "true", "false", "0", "1", "-1", "2", "''", "[]", "({})",
    "NaN", "refuse(Error)", "refuse(TypeError)", "refuse(RangeError)", "[...given[0]]", "given[0].length",
    "String(given[0])", "Number(given[0])", "parseFloat(given[0])", "given[0].toUpperCase()", "given[0].trim()",
    "given[0] + 1", "given[0] * 2", "-given[0]", "was()[0]", "1024", "1000", "10", "100", "60000", "3600000",
)  # fmt: skip
_NUMBER_OR_TEXT = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)""")
_SPAN = re.compile(r"`([^`\n]{1,80})`")


def guesses(language: Language, near: str, *texts: str) -> list[str]:
    """Expressions to try, each once, the likeliest first.

    Args:
        language: What they are written in.
        near: The text of the test itself, where it is known: its literals come before all others.
        texts: Other texts whose literals may be answers.
    """
    fixed = _PYTHON if language == "python" else _JAVASCRIPT
    far = (found for text in texts for found in literals(text))
    return list(dict.fromkeys(islice((*fixed[:2], *literals(near), *fixed[2:], *far), _MOST)))


def literals(text: str) -> Iterator[str]:
    """Literals of a source, a message or an instruction, as expressions: lists and dicts where it parses as Python."""
    yield from _parsed(text)
    for found in _NUMBER_OR_TEXT.findall(text):
        yield from _evaluated([found])
    for span in _SPAN.findall(text):
        yield json.dumps(span)


def _parsed(text: str) -> Iterator[str]:
    try:
        tree = parse_anew(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Constant):
            yield from _evaluated([ast.unparse(node)])


def _evaluated(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        try:
            yield repr(literal_value(source))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
