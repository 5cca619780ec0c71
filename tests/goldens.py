"""Recorded answers, and the one switch that records them anew: `REPOASSAY_GOLDEN=write pytest TEST`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["FROZEN", "GOLDEN", "WRITING", "assert_covers", "assert_text", "differences"]

GOLDEN = Path(__file__).parent / "golden"
FROZEN = GOLDEN / "v0.1"
"""What version 0.1.0 read in its own files: recorded once, and never anew."""
WRITING = os.environ.get("REPOASSAY_GOLDEN") == "write"


def assert_text(path: Path, text: str) -> None:
    """Compare a text with its recording, to the letter."""
    if _recording(path):
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode(), f"{path} differs; if that is meant: REPOASSAY_GOLDEN=write"


def assert_covers(path: Path, data: Any, but: str = "") -> None:
    """Compare JSON data with its recording: every recorded value is there and equal; keys may have come to objects.

    `but` is a pattern of the places of values that are another on purpose; each call says why.
    """
    if _recording(path):
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    found = list(differences(json.loads(path.read_text("utf-8")), json.loads(json.dumps(data))))
    meant = [line for line in found if but and re.match(but, line.partition(": ")[0])]
    assert bool(meant) == bool(but), f"{path} has nothing at {but} that differs; leave the exception out"
    found = [line for line in found if line not in meant]
    assert not found, f"{path} differs in {len(found)} places:\n" + "\n".join(found[:20])


def differences(recorded: Any, now: Any, at: str = "$") -> Iterator[str]:
    """Yield a line for each recorded value that is gone or another."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key, value in recorded.items():
            if key in now:
                yield from differences(value, now[key], f"{at}.{key}")
            else:
                yield f"{at}.{key}: is gone"
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for number, (one, other) in enumerate(zip(recorded, now, strict=True)):
            yield from differences(one, other, f"{at}[{number}]")
    elif type(recorded) is not type(now) or recorded != now:
        yield f"{at}: {recorded!r:.200} was recorded, {now!r:.200} is read"


def _recording(path: Path) -> bool:
    if not WRITING or (path.is_relative_to(FROZEN) and path.exists()):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    return True
