"""Runs pytest for a test script, among files of a submission: none of them takes the place of what is installed.

Sent into the sandbox as text. Modules, plug-ins and their metadata come from where Python found them at its start; the
folder that `python -m pytest` stands in follows, and so does what pytest puts before them for the tests it collects.
With `alone` before its arguments it is the program `pytest`, which does not look into the folder.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

_installed = [place for place in sys.path if place]
_here = [place for place in sys.path if not place]
if sys.argv[1:2] == ["alone"]:
    _here, sys.argv[1:2] = [], []
sys.path[:] = _installed

import pytest  # noqa: E402 - once nothing of the folder can be it

_TESTS = ("test", "tests")


class InstalledFirst:
    """A finder in front of all others, and a plug-in of pytest."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Called by Python: an installed module before one beside the tests, unless the tests lie in that package."""
        around = Path(sys.path[0] if sys.path else "", name).absolute()
        within = any(around in (each, *each.parents) for each in (Path(word).absolute() for word in sys.argv[1:]))
        own = any(Path("/tests", f"{name}{end}").exists() for end in ("", ".py"))
        if path is not None or name in _TESTS or within or own:
            return None
        found = PathFinder.find_spec(name, list(_installed))
        return found if found and found.has_location else None

    @staticmethod
    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests() -> None:
        """Called by pytest once it has looked for plug-ins: from here on, as `python -m pytest` has it."""
        sys.path.extend(_here)


sys.meta_path.insert(0, InstalledFirst)
raise SystemExit(pytest.main(plugins=[InstalledFirst]))
