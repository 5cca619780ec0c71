"""Runs pytest for a test script, among files of a submission: none of them takes the place of what is installed.

Sent into the sandbox as text, for `python -I`. Modules, plug-ins and their metadata come from where Python is
installed; what PYTHONPATH names and the folder that `python -m pytest` stands in follow, and so does what pytest puts
before them for the tests it collects. With `alone` before its arguments it is the program `pytest`, which does not look
into the folder.
"""

from __future__ import annotations

import os
import sys
from dis import opmap
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

_installed = list(sys.path)
_here = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
if sys.argv[1:2] == ["alone"]:
    del sys.argv[1]
else:
    _here = ["", *_here]

_TESTS = ("test", "tests")


def _asked_by_installed() -> bool:
    """Whether an installed module's own `import` asks: for what is not installed either, and it can do without."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    statement = frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_NAME"]  # pytest calls a function for tests
    return statement and any(frame.f_code.co_filename.startswith(f"{place}{os.sep}") for place in _installed)


class InstalledFirst:
    """A finder in front of all others, and a plug-in of pytest."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Called by Python: an installed module before one beside the tests, unless the tests lie in that package."""
        around = Path(sys.path[0] if sys.path else "", name).absolute()
        within = any(around in (each, *each.parents) for each in (Path(word).absolute() for word in sys.argv[1:]))
        own = any(Path("/tests", f"{name}{end}").exists() for end in ("", ".py"))
        if path is not None or name in (*_TESTS, *sys.builtin_module_names) or within or own:
            return None
        found = PathFinder.find_spec(name, list(_installed))
        if found is None and PathFinder.find_spec(name) and _asked_by_installed():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found if found and found.has_location else None

    @staticmethod
    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests() -> None:
        """Called by pytest once it has looked for plug-ins: from here on, as `python -m pytest` has it."""
        sys.path.extend(_here)


sys.meta_path.insert(0, InstalledFirst)
raise SystemExit(pytest.main(plugins=[InstalledFirst]))
