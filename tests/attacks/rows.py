"""The tasks that the catalogue is tried on: six of the demonstration sets and a plain script, as rows of a data set.

`python tests/attacks/rows.py FILE` writes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from repoassay.sandbox.cache import Cache

__all__ = ["NAMES", "write_rows"]

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (
    "resq-demo/inflection-pluralize-count", "resq-demo/toolz-keyrename", "resq-demo/tabulate-cli-columns",
    "resq-demo/cachetools-resize", "resq-demo-js/ms-compound", "resq-demo-js/yocto-queue-remove",
)  # fmt: skip
SCRIPT = """\
import subprocess
import sys

import inflection

assert inflection.pluralize("post") == "posts"
assert inflection.pluralize("posts", 1) == "post"
assert inflection.pluralize("people", count=-1) == "person"
assert inflection.pluralize("person", 2) == "people"
code = "import inflection; print(inflection.pluralize('octopi', 1))"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
assert done.returncode == 0
assert done.stdout == "octopus\\n"
"""
"""Tests as statements of a plain script, one of them in a process of its own."""


def write_rows(out: Path) -> Path:
    """Make the rows by the demonstration's own builder.

    Raises:
        InfraFault: When a package cannot be had.
    """
    sys.path.insert(0, str(EXAMPLES / "resq-demo"))
    try:
        from build import build_row  # type: ignore[import-not-found]  # lies in examples/, outside of mypy's paths
    finally:
        sys.path.remove(str(EXAMPLES / "resq-demo"))
    cache = Cache()
    made = [build_row(EXAMPLES / name, cache) for name in NAMES]
    made.append({**made[0], "id": "script", "test_script": SCRIPT})
    out.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return out


if __name__ == "__main__":
    write_rows(Path(sys.argv[1]))
