"""What a build that failed printed, as one sentence; all of it goes to a file in the cache's folder `errors/`."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress

from repoassay.sandbox import Cache
from repoassay.text import one_line

__all__ = ["build_error"]

_LONGEST, _MOST_LINES = 400, 6
_BEFORE = re.compile(r"^(?:npm (?:error|ERR!|warn|WARN)|\s|[\u00d7\u2500-\u257f\u25b6>|])+\s*")
_NOISE = re.compile(r"^(?:at .+|\^+|[{}].*|Node\.js v.*|A complete log .*|(?:path|command|code|errno|syscall) \S.*|$)")
_GOES_ON = re.compile(r"(?i)^(?:caused? by:|cause:|because)")
_BECAUSE = re.compile(r"(?:cause: )?(Because )")
_TELLS = re.compile(r"(?i)^(?:\w*error|fatal|panic|no solution|[45]\d\d)\b.{4}")


def build_error(printed: str, cache: Cache) -> str:
    """The line of `printed` that tells why, with the place of the file that holds everything.

    The first line that begins with an error's word tells, with the sentence that gives its cause or that it announces
    by a colon at its end; without one, the last line that is not noise.
    """
    lines = [_BEFORE.sub("", line).strip() for line in printed.splitlines()]
    lines = [line for line in lines if not _NOISE.match(line)]
    place = next((number for number, line in enumerate(lines) if _TELLS.match(line)), len(lines) - 1)
    reason = one_line(" ".join(_sentence(lines[place:])), _LONGEST) if lines else "it printed nothing"
    kept = _save_log(printed, cache) if len(lines) > 1 else ""
    return f"{reason.rstrip('.')}.{f' All it printed is in {kept}.' if kept else ''}"


def _sentence(lines: list[str]) -> list[str]:
    """The first line, and the following ones as far as they say what it announces or came from.

    Of a solver, which says that it found no solution *because* of something, this alone is told.
    """
    taken, causing = lines[:1], False
    for line in lines[1:_MOST_LINES]:
        causing = bool(_GOES_ON.match(line)) or (causing and not taken[-1].endswith("."))
        if not (causing or taken[-1].endswith(":")):
            break
        reason = _BECAUSE.match(line)
        taken = [line[reason.start(1) :]] if reason else [*taken, line]
    return taken


def _save_log(printed: str, cache: Cache) -> str:
    with suppress(OSError):  # a full disk; the line above is told all the same
        folder = cache.path / "errors"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=folder, prefix="build-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.write(printed)
        return file.name
    return ""
