"""Runs in the sandbox: print the functions of files named on standard input and their complexity, as JSON lines."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Measure each file with lizard; one that it cannot read has no functions."""
    sys.path.insert(0, sys.argv[1])
    import lizard

    for path in json.loads(sys.argv[2]):
        try:
            functions = lizard.analyze_file(path).function_list
        except Exception:  # noqa: BLE001, S112 - a hostile file may make its parser raise anything
            continue
        for each in functions:
            row = [path, each.name, each.start_line, each.end_line, each.cyclomatic_complexity]
            print(json.dumps(row))  # noqa: T201 - this is how it reports


main()
