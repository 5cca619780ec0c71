"""How patches are made: of code at the end of a module, of files, of bytes."""

from __future__ import annotations

import base64
import difflib
import hashlib
import re
import zlib
from collections.abc import Mapping

from repoassay.attacks.target import Target

__all__ = ["appended", "binary", "created", "diff"]


def diff(path: str, old: str | None, new: str) -> bytes:
    """A unified diff of one file as Git writes it; `old` is None for a new file."""
    before = [] if old is None else _lines(old)
    lines = difflib.unified_diff(before, _lines(new), "/dev/null" if old is None else f"a/{path}", f"b/{path}")
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    mode = "new file mode 100644\n" if old is None else ""
    return f"diff --git a/{path} b/{path}\n{mode}{text}".encode("utf-8", "surrogateescape")


def appended(target: Target, code: str) -> bytes:
    """Code at the end of the module that the tests load first, run when it is loaded."""
    old = (target.base / target.module).read_bytes().decode("utf-8", "surrogateescape")
    return diff(target.module, old, f"{old}\n\n{code.strip()}\n")


def created(target: Target, files: Mapping[str, str]) -> bytes:
    """Files that the repository does not have yet, or has with other content."""
    diffs = []
    for path, content in files.items():
        place = target.base / path
        old = place.read_bytes().decode("utf-8", "surrogateescape") if place.is_file() else None
        diffs.append(b"" if old == content else diff(path, old, content))
    return b"".join(diffs)


def _lines(text: str) -> list[str]:
    """Lines as Git has them: a form feed ends none."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def binary(path: str, content: bytes) -> bytes:
    """A Git binary patch that makes a file."""
    packed = zlib.compress(content, 9)
    lines = []
    for start in range(0, len(packed), 52):
        piece = packed[start : start + 52]
        letter = chr(64 + len(piece)) if len(piece) <= 26 else chr(70 + len(piece))
        lines.append(letter + base64.b85encode(piece + bytes(-len(piece) % 4)).decode())
    name = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{name}\nGIT binary patch\n"
    return (head + f"literal {len(content)}\n" + "\n".join(lines) + "\n\nliteral 0\nHcmV?d00001\n\n").encode()
