"""Texts of issues and pull requests by number, from files: a folder of `NUMBER.md`, or JSON as forges export it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.tasks import read_regular
from repoassay.text import quote

__all__ = ["read_issues"]

_MOST_BYTES = 256 * 2**20
_MOST_TEXT = 2**18


def read_issues(place: Path | None) -> Mapping[int, str]:
    """Texts by number; none where no place is given.

    Args:
        place: A folder with `12.md`, `12.txt` or `12.rst`, or a file: a JSON list or JSON lines of objects with
            `number`, `title` and `body`.

    Raises:
        BadInput: When it cannot be read.
    """
    if place is None:
        return {}
    try:
        if place.is_dir():
            files = [path for path in sorted(place.iterdir()) if re.fullmatch(r"#?\d{1,9}\.(md|txt|rst)", path.name)]
            found = {
                int(path.stem.lstrip("#")): read_regular(path, _MOST_TEXT).decode(errors="replace") for path in files
            }
        else:
            found = dict(_of_json(read_regular(place, _MOST_BYTES).decode(errors="replace")))
    except OSError as error:
        raise BadInput(f"The issues {quote(place)} cannot be read: {error.strerror}.", "Correct --issues.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The issues {quote(place)} are neither a JSON list nor JSON lines.",
            "Write objects with number, title and body, or name a folder of files such as 12.md.",
        ) from error
    if not found:
        raise BadInput(
            f"There is no issue in {quote(place)}.",
            "Name a folder of files such as 12.md, or JSON of objects with number, title and body.",
        )
    return found


def _of_json(text: str) -> Iterator[tuple[int, str]]:
    if text.lstrip().startswith("["):
        rows: list[Any] = json.loads(text)
    else:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    for row in rows:
        number = row.get("number") if isinstance(row, dict) else None
        if isinstance(number, int):
            title, body = (str(row.get(key) or "").strip() for key in ("title", "body"))
            yield number, f"{title}\n\n{body}"[:_MOST_TEXT].strip()
