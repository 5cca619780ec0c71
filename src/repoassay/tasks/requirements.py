"""Requirements files: nothing but exact versions with digests, so that an environment is the same for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repoassay.errors import Problem
from repoassay.text import quote

__all__ = ["check_requirements"]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\s*\[[A-Za-z0-9._, -]*\])?")
_VERSION = re.compile(r"\s*==\s*[A-Za-z0-9][A-Za-z0-9.!+_-]*(?=\s|;|$)")
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
_COMMENT = re.compile(r"(^|\s)#.*$")
_REMEDY = "Make the file with: uv pip compile --generate-hashes --only-binary :all:"


def check_requirements(content: bytes, file: str) -> Iterator[Problem]:
    """Yield a problem for each line that is not `NAME==VERSION --hash=sha256:...`.

    Options are refused too: a task must not choose where packages come from.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield Problem(file, "", "is not UTF-8.", _REMEDY)
        return
    for number, line in _logical_lines(text):
        what = _wrong(line)
        if what:
            yield Problem(file, f"line {number}", what, _REMEDY)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, without comments; the number is that of the first."""
    parts: list[str] = []
    first = 1
    for number, raw in enumerate([*text.splitlines(), ""], 1):
        if not parts:
            first = number
        line = _COMMENT.sub("", raw)
        if line.rstrip().endswith("\\"):
            parts.append(line.rstrip()[:-1])
            continue
        whole = " ".join([*parts, line]).strip()
        parts = []
        if whole:
            yield first, whole


def _wrong(line: str) -> str:
    if line.startswith("-"):
        return f"{quote(line.split(maxsplit=1)[0])} is an option; only pinned packages belong here."
    name = _NAME.match(line)
    if name is None:
        return f"{quote(line)} does not start with the name of a package."
    version = _VERSION.match(line, name.end())
    if version is None:
        return f"{quote(name[0])} is not pinned to one version with '=='."
    marker, *hashes = re.split(r"\s(?=--)", line[version.end() :])
    if marker.strip() and not marker.lstrip().startswith(";"):
        return f"{quote(name[0])} is followed by {quote(marker.strip())}, which cannot be understood."
    if not hashes:
        return f"{quote(name[0])} has no --hash=sha256:..."
    bad = next((text for text in hashes if not _HASH.fullmatch(text.strip())), None)
    return f"{quote(name[0])} has {quote(bad.strip())}, which is no sha256 digest." if bad else ""
