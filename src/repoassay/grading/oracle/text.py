"""Edits of a source text in place: spans are replaced, every line stays where it is."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, field

__all__ = ["Edits", "Span"]

Span = tuple[int, int]
"""Start and end offset in bytes."""


@dataclass(slots=True)
class Edits:
    """Replacements in a source text, applied all at once.

    Args:
        source: The text, UTF-8.
    """

    source: bytes
    _lines: list[int] = field(default_factory=list)
    _made: list[tuple[int, int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = [0]
        for line in self.source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: ast.AST) -> Span:
        """Where a node of the tree stands."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]  # every node asked for has a place

    def at(self, line: int, column: int) -> int:
        """The offset of a line (from 1) and a column in bytes."""
        return self._lines[line - 1] + column

    def text(self, node: ast.AST) -> str:
        """A node's own spelling."""
        start, end = self.span(node)
        return self.source[start:end].decode()

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of a span, followed by the line breaks the span held."""
        self._made.append((start, end, text.encode() + b"\n" * self.source[start:end].count(b"\n")))

    def swap(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of a span; the line breaks are the caller's care."""
        self._made.append((start, end, text.encode()))

    def blank_comments(self) -> None:
        """Take every comment out, save a declaration of the encoding or the interpreter at the top."""
        for token in tokenize.tokenize(io.BytesIO(self.source).readline):
            if token.type == tokenize.COMMENT and token.start[0] > 2:
                start = self._lines[token.start[0] - 1]
                line = self.source[start : self._lines[token.start[0]]].decode()
                start += len(line[: token.start[1]].encode())
                self._made.append((start, start + len(token.string.encode()), b""))

    def result(self) -> str:
        """The text with every replacement made; one that lies within another is dropped."""
        parts: list[bytes] = []
        done = 0
        for start, end, text in sorted(self._made, key=lambda edit: (edit[0], -edit[1])):
            if start < done:
                continue
            parts += [self.source[done:start], text]
            done = end
        return b"".join([*parts, self.source[done:]]).decode()
