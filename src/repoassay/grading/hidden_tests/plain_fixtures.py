"""Gives simple tests their fixtures without a pytest session; `test_form.py` says which. Runs inside the sandbox.

Those are `capsys`, `monkeypatch` and `tmp_path`, made of pytest's own parts, and functions of the test's own file under
a plain `pytest.fixture`. Each is made once a test, as it is first asked for, and undone in the other order.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import _pytest.capture
import _pytest.monkeypatch
import _pytest.tmpdir

__all__ = ["TestFixtures"]

_NAME = 30
"""Characters of a test's name in that of its folder."""


class TestFixtures:
    """The fixtures of one test.

    Args:
        module: The test's module.
        test: The test's name, with its row.
        stack: Undoes what is made.
    """

    def __init__(self, module: Any, test: str, stack: Any) -> None:
        self._module, self._test, self._stack = module, test, stack
        self._made: dict[str, Any] = {}

    def arguments(self, function: Any, row: dict[str, Any]) -> dict[str, Any]:
        """All arguments of a function, of which its row of `parametrize` gives some."""
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return {name: row[name] if name in row else self._value(name) for name in names}

    def _value(self, name: str) -> Any:
        if name not in self._made:
            known = {"capsys": self._capsys, "monkeypatch": self._monkeypatch, "tmp_path": self._tmp_path}
            self._made[name] = known[name]() if name in known else self._own(name)
        return self._made[name]

    def _own(self, name: str) -> Any:
        marked = vars(self._module)[name]
        wrapped = getattr(marked, "__pytest_wrapped__", None)  # pytest before 8.4
        function = wrapped.obj if wrapped is not None else marked._get_wrapped_function()
        return function(**self.arguments(function, {}))

    def _capsys(self) -> Any:
        fixture: Any = _pytest.capture.CaptureFixture(_pytest.capture.SysCapture, None, _ispytest=True)  # type: ignore[arg-type]
        fixture._start()
        self._stack.callback(fixture.close)
        return fixture

    def _monkeypatch(self) -> Any:
        fixture = _pytest.monkeypatch.MonkeyPatch()
        self._stack.callback(fixture.undo)
        return fixture

    def _tmp_path(self) -> Path:
        top = _folder_of_all()
        name, number = re.sub(r"[\W]", "_", self._test)[:_NAME], 0
        while (top / f"{name}{number}").exists():
            number += 1
        (top / f"{name}{number}").mkdir(mode=0o700)
        return top / f"{name}{number}"


@functools.lru_cache(maxsize=None)  # noqa: UP033 - older Pythons
def _folder_of_all() -> Path:
    """Found once, as in a session: code under test may change who the user is said to be."""
    user = _pytest.tmpdir.get_user() or "unknown"
    top = Path(os.path.realpath(tempfile.gettempdir()), f"pytest-of-{user}", "pytest-0")
    top.mkdir(mode=0o700, parents=True, exist_ok=True)
    return top
