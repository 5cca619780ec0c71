"""Compiles of a changed module only what was changed, in a branch of a prefork server. Runs inside the sandbox.

The base commit's module is held as one piece of code for each statement at its top. Where such a statement stands in a
submission's text as it does in the base's, its piece is taken, with other line numbers; the text between is compiled.
Names at the top of a module are global, so that its statements may be run one by one, and a text between that is whole
by itself, as the compiler sees, makes neither neighbour longer. Equal constants are one object, as they are in a whole
module: code may compare them by `is`. What could be told apart from the whole text is compiled as a whole: errors,
other encodings, imports from `__future__`, warnings of the compiler.
"""

from __future__ import annotations
import __future__

import ast
import importlib.machinery
import importlib.util
import os
import re
import sys
import types
import warnings
from typing import Any

__all__ = ["hold_pieces"]

_external: Any = sys.modules[importlib.machinery.FileFinder.__module__]
_SourceLoader: Any = importlib.machinery.SourceFileLoader
_features = (getattr(__future__, name) for name in __future__.all_feature_names)
_FUTURE = sum({feature.compiler_flag for feature in _features} - {__future__.nested_scopes.compiler_flag})
_ENCODED = re.compile(rb"(?:[^\n]*\n)?[^\n]*coding[:=](?![ \t]*utf-?8[ \t\n-])|\xef\xbb\xbf", re.IGNORECASE)
_LEAST = 64
"""Bytes of a statement that is not rather compiled with its neighbours."""
_LATEST = (3, 12)
"""From 3.13 on a class has the number of its line among its constants, which pieces that moved would keep; from 3.14 on
the annotations of a module are a function of all its statements."""


class _Module:
    """A module of the base commit in pieces; raises ValueError where it cannot be had so."""

    def __init__(self, path: str, text: bytes, stamp: bytes, flags: int) -> None:
        self.path, self.stamp, self.flags = path, stamp, flags & _FUTURE
        self.constants: dict[Any, Any] = {}
        if _is_foreign(text):
            raise ValueError(path)
        groups = _groups(self.parsed(text))
        self.imports = [_imported(group) for group in groups]
        every = set().union(*self.imports)
        lines = [0, *(match.end() for match in re.finditer(rb"\n", text)), len(text)]
        self.lines = [_start(group[0]) for group in groups]
        self.texts = [text[lines[start - 1] : lines[group[-1].end_lineno]] for start, group in zip(self.lines, groups)]  # noqa: B905 - older Pythons
        self.pieces = [self.compiled(group, every, first=group is groups[0]) for group in groups]
        fixed = [place for place, group in enumerate(groups) if not place or any(map(_is_future, group))]
        self.fixed = fixed[-1] + 1 if fixed else 0  # the first may be what documents the module
        self.head = text[: lines[groups[fixed[-1]][-1].end_lineno]] if fixed else b""

    def parsed(self, text: bytes) -> list[Any]:
        """The statements at the top of a text."""
        tree: Any = compile(text, self.path, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        return list(tree.body)

    def compiled(self, body: list[Any], imported: set[str], *, first: bool = False) -> Any:
        """Code of some statements; a text among them documents the module only where it is the first of all.

        The compiler calls methods of imported modules in another way than others, so it is told of all imports, in a
        branch that is never taken.
        """
        while body and not first and _is_text(body[0]):
            body = body[1:]
        if not body:
            return None
        if imported and not any(map(_is_future, body)):
            names = [ast.alias(name) for name in sorted(imported)]
            line = _start(body[0])
            imports = ast.If(ast.Constant(0), [ast.Import(names)], [], lineno=line, col_offset=0, end_lineno=line)
            body = [*body[: _is_text(body[0])], ast.fix_missing_locations(imports), *body[_is_text(body[0]) :]]
        return self.shared(compile(ast.Module(body, []), self.path, "exec", self.flags, dont_inherit=True))

    def shared(self, code: types.CodeType) -> types.CodeType:
        """Code whose constants are the objects that equal ones of this module are already."""
        return code.replace(co_consts=tuple(map(self.constant, code.co_consts)))

    def constant(self, value: Any) -> Any:
        """The one object for a constant, and for all that is in it."""
        if type(value) is types.CodeType:
            return self.shared(value)
        if type(value) in (tuple, frozenset):
            inner = list(map(self.constant, value))
            if any(one is not other for one, other in zip(inner, value)):  # noqa: B905 - older Pythons
                value = type(value)(inner)
        return self.constants.setdefault(_key(value), value)

    def changed(self, text: bytes) -> list[Any] | None:
        """The pieces of a changed text in order, or nothing where it is to be compiled as a whole."""
        if not self.head.endswith(b"\n") or not text.startswith(self.head) or _is_foreign(text):
            return None
        at, between, kept = len(self.head), [], []
        for place in range(self.fixed, len(self.pieces)):
            own = self.texts[place]
            if len(own) >= _LEAST and own.endswith(b"\n") and not own.endswith(b"\\\n"):
                found = text.find(own, at)
                if found >= 0 and text[found - 1 : found] == b"\n":
                    between.append((at, found))
                    kept.append(place)
                    at = found + len(own)
        between.append((at, len(text)))
        if sum(end - start for start, end in between) > len(text) // 2:
            return None  # as quick as a whole
        try:
            return self._joined(text, between, kept)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # whoever compiles it as a whole will see

    def _joined(self, text: bytes, between: list[tuple[int, int]], kept: list[int]) -> list[Any]:
        parsed, line, at = [], 1, 0
        for start, end in between:
            line, at = line + text.count(b"\n", at, start), start
            parsed.append(self.parsed(b"\n" * (line - 1) + text[start:end]) if text[start:end].strip() else [])
        new = [node for body in parsed for node in body]
        imported = _imported(new).union(*self.imports[: self.fixed], *(self.imports[place] for place in kept))
        for name in imported.symmetric_difference(set().union(*self.imports)):
            if any(re.search(rb"\b%s\s*\." % name.encode(), self.texts[place]) for place in kept):
                raise ValueError(name)  # it is called in another way now
        if any(map(_is_future, new)):
            raise ValueError(self.path)
        pieces, line, at = self.pieces[: self.fixed], 1, 0
        for body, (_, end), place in zip(parsed, between, [*kept, -1]):  # noqa: B905 - older Pythons
            pieces.append(self.compiled(body, imported))
            if place >= 0:
                line, at = line + text.count(b"\n", at, end), end
                moved = line - self.lines[place]
                pieces.append(_moved(self.pieces[place], moved) if moved and self.pieces[place] else self.pieces[place])
        return pieces


def _is_foreign(text: bytes) -> bool:
    """Whether lines of a text could be others than they look, or its encoding."""
    return b"\r" in text or b"\f" in text or _ENCODED.match(text) is not None


def _groups(body: list[Any]) -> list[list[Any]]:
    """Statements at the top of a module, those that share a line together."""
    groups: list[list[Any]] = []
    last = 0
    for node in body:
        if _start(node) > last:
            groups.append([])
        groups[-1].append(node)
        last = node.end_lineno
    return groups


def _start(node: Any) -> int:
    return int(min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]))


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imported(body: list[Any]) -> set[str]:
    """Names that statements import into their module."""
    names, pending = set(), list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.name != "*"}
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr)]
    return names


def _is_future(node: Any) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _key(constant: Any) -> Any:
    """What tells a constant from all that are not the same to the compiler: 1 from 1.0 and True, 0.0 from -0.0."""
    if type(constant) in (tuple, frozenset):
        return type(constant), type(constant)(map(_key, constant))
    return type(constant), repr(constant) if type(constant) in (float, complex) else constant


def _moved(code: types.CodeType, lines: int) -> types.CodeType:
    inner = tuple(_moved(each, lines) if type(each) is types.CodeType else each for each in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + lines, co_consts=inner)


def hold_pieces(sources: list[Any], stamp: Any) -> None:
    """Take modules by path, text, the stamp in their byte code and flags of their code; `stamp` tells one of a file."""
    held: dict[str, Any] = {}
    for path, text, *known in sources if sys.version_info[:2] <= _LATEST else []:
        with warnings.catch_warnings(record=True) as notices:
            warnings.simplefilter("always")
            try:
                module = _Module(path, text, *known)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        if not notices:  # else whoever compiles it is to be warned
            held[path] = module
    plain, run = _SourceLoader.exec_module, _external._bootstrap._call_with_frames_removed
    steps = [(name, getattr(_SourceLoader, name)) for name in ("get_code", "get_data", "path_stats", "source_to_code")]

    def exec_module(self: Any, module: Any) -> Any:
        known: Any = held.get(self.path)
        if known is None or type(self) is not _SourceLoader:
            return plain(self, module)
        if any(getattr(getattr(self, name), "__func__", None) is not step for name, step in steps):
            return plain(self, module)  # somebody else wants a say in it
        try:
            text = None if stamp(os.stat(self.path)) == known.stamp else self.get_data(self.path)  # noqa: PTH116
        except OSError:
            text = None
        pieces = text and known.changed(text)
        if not pieces:
            return plain(self, module)
        for piece in pieces:
            if piece is not None:
                run(exec, piece, module.__dict__)
        return None

    # As the import system's own frames, which no traceback shows and no warning is told of.
    exec_module.__code__ = exec_module.__code__.replace(co_filename=plain.__code__.co_filename)
    setattr(_SourceLoader, "exec_module", exec_module)  # noqa: B010 - its type is nobody's business
