"""What a build that failed printed, as one sentence; all of it goes to a file in the cache's folder `errors/`."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress

from repoassay.sandbox import Cache
from repoassay.text import one_line

__all__ = ["build_error"]

_LONGEST = 300
_BEFORE = re.compile(r"^(?:npm (?:error|ERR!|warn|WARN)|\s|[\u00d7\u2500-\u257f\u25b6>|])+\s*")
_NOISE = re.compile(r"^(?:at .+|\^+|[{}].*|Node\.js v.*|A complete log .*|(?:path|command|code|errno|syscall) \S.*|$)")
_TELLS = re.compile(r"(?i)^(?:\w*error|fatal|panic|no solution|[45]\d\d)\b.{4}")


def build_error(printed: str, cache: Cache) -> str:
    """The line of `printed` that tells why, with the place of the file that holds everything.

    The first line that begins with an error's word tells, with what it announces by a colon at its end; without one,
    the last line that is not noise.
    """
    lines = [_BEFORE.sub("", line).strip() for line in printed.splitlines()]
    lines = [line for line in lines if not _NOISE.match(line)]
    place = next((number for number, line in enumerate(lines) if _TELLS.match(line)), len(lines) - 1)
    told = one_line(" ".join(lines[place : place + 2 if place >= 0 and lines[place].endswith(":") else place + 1]),
                    _LONGEST) if lines else "it printed nothing"  # fmt: skip
    kept = _kept(printed, cache) if len(lines) > 1 else ""
    return f"{told.rstrip('.')}.{f' All it printed is in {kept}.' if kept else ''}"


def _kept(printed: str, cache: Cache) -> str:
    with suppress(OSError):  # a full disk; the line above is told all the same
        folder = cache.path / "errors"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=folder, prefix="build-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.write(printed)
        return file.name
    return ""
