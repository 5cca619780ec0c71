"""File names in a patch: how they are quoted, and which of them are safe."""

from __future__ import annotations

import re
import unicodedata

from repoassay.diffs.model import PatchError

__all__ = ["is_git_name", "safe_path", "unquote"]

MAX_PATH_BYTES = 1024
MAX_COMPONENT_BYTES = 255
_MAX_QUOTED_BYTES = 16_384
MAX_DEPTH = 64
"""Components of a path: with hundreds, writing its folders takes minutes."""

_ESCAPES = {
    b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\",
}  # fmt: skip
_QUOTED = re.compile(rb'"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*)"')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
# NTFS drops trailing dots and spaces, reads `name:stream` as the file, and knows .git as git~1 too.
_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.DOTALL)


def unquote(text: bytes, line: int) -> tuple[bytes, bytes]:
    """Split a C-quoted name, which `text` starts with, from the rest.

    Raises:
        PatchError: When the quotes do not end or hold an escape that Git does not write.
    """
    match = _QUOTED.match(text) if len(text) <= _MAX_QUOTED_BYTES else None  # letter by letter: much time and memory
    if match is None:
        raise PatchError("a quoted file name is not well formed", line=line)
    return _ESCAPE.sub(_plain, match[1]), text[match.end() :]


def _plain(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return _ESCAPES[code] if len(code) == 1 else bytes([int(code, 8)])


def safe_path(raw: bytes, line: int) -> str:
    """Return a name as a relative POSIX path that cannot leave the tree or reach into its `.git`.

    Raises:
        PatchError: When it is empty, absolute, too long, not UTF-8, or has a component that is refused.
    """
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        raise PatchError("the file name is not valid UTF-8", raw.decode(errors="backslashreplace"), line=line) from None
    reason = _refusal(path, raw)
    if reason:
        raise PatchError(reason, path[:200], line=line)
    return path


def _refusal(path: str, raw: bytes) -> str:
    if not path:
        return "the file name is empty"
    if path.startswith("/"):
        return "the path is absolute"
    if len(raw) > MAX_PATH_BYTES:
        return f"the path is longer than {MAX_PATH_BYTES} bytes"
    if path.count("/") >= MAX_DEPTH:
        return f"the path has more than {MAX_DEPTH} components"
    if "\\" in path:
        return "the path has a backslash"
    if _CONTROL.search(path):
        return "the path has a control character"
    for component in path.split("/"):
        if component == "..":
            return "the path has a '..' component"
        if component in {"", "."}:
            return "the path has an empty or '.' component"
        if len(component.encode()) > MAX_COMPONENT_BYTES:
            return f"the path has a component longer than {MAX_COMPONENT_BYTES} bytes"
    if any(is_git_name(component) for component in path.split("/")):
        return "the path reaches into .git"
    return ""


def is_git_name(component: str) -> bool:
    """Whether some file system takes a name for `.git`."""
    return any(_GIT.fullmatch(part) for part in _folded(component).split("/"))


def _folded(path: str) -> str:
    """Return the path as a careless file system may read it."""
    if not path.isascii():
        # HFS+ ignores format characters such as ZERO WIDTH JOINER, and both it and NTFS ignore case.
        shown = "".join(character for character in path if unicodedata.category(character) != "Cf")
        path = unicodedata.normalize("NFKC", shown)
    return path.casefold()
