"""What a `.dockerignore` keeps out of an image: files of the context that COPY does not see."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from repoassay.tasks import read_regular

__all__ = ["leave_out_ignored"]

_MOST_TEXT, _MOST_PATTERNS = 2**16, 1000


def leave_out_ignored(files: dict[str, Path], dockerfile: Path, context: Path) -> None:
    """Take out of an image's files, by their places, what the last pattern that matches it, or its folder, keeps out.

    Args:
        files: Place in the image -> file of the context.
        dockerfile: Whose own patterns, as `Dockerfile.dockerignore`, go before those of the context.
        context: The folder that COPY takes files from.
    """
    try:
        own = dockerfile.with_name(f"{dockerfile.name}.dockerignore")
        text = read_regular(own if own.is_file() else context / ".dockerignore", _MOST_TEXT).decode("utf-8", "replace")
    except OSError:
        return
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    patterns = [(line[0] == "!", _pattern(line.lstrip("!").strip())) for line in lines[:_MOST_PATTERNS]]
    for place, file in list(files.items()):
        if not file.is_relative_to(context):
            continue
        path, kept = file.relative_to(context).as_posix(), True
        for again, pattern in patterns:
            if kept is not again and pattern.fullmatch(path):
                kept = again
        if not kept:
            del files[place]


def _pattern(line: str) -> re.Pattern[str]:
    """A pattern as Docker reads it: `*` within a name, `**` across folders, and whatever lies in what it matches."""
    path = "/".join(part for part in PurePosixPath("/", line).parts[1:] if part != ".")
    found, at = "", 0
    while at < len(path):
        if path.startswith("**/", at):
            found, at = found + "(?:.*/)?", at + 3
        elif path.startswith("**", at):
            found, at = found + ".*", at + 2
        elif path[at] in "*?":
            found, at = found + ("[^/]*" if path[at] == "*" else "[^/]"), at + 1
        elif path[at] == "[" and (end := path.find("]", at + 2)) > 0:
            inner = path[at + 1 : end].replace("\\", "").replace("[", "\\[")
            found, at = f"{found}[{inner}]", end + 1
        else:
            found, at = found + re.escape(path[at]), at + 1
    try:
        return re.compile(f"{found}(/.*)?")
    except re.error:
        return re.compile(f"{re.escape(path)}(/.*)?")
