"""What rewritten tests call: it sends values of the code under test. Runs in the hostile process.

Shipped with the observer as one program text (`sandbox_code.py`), of which `encode` and `describe_exception` are part.
"""

from __future__ import annotations

from typing import Any

from repoassay.grading.oracle.forms import is_ascii, name_of
from repoassay.grading.oracle.observer import describe_exception, encode

__all__ = ["Hook"]

_ROOM = 6 * 2**20
"""Characters of values that one run sends at most; what comes after is named by its type alone."""


class Hook:
    """Observations of the test that runs: `[site, [operand, ...]]` in order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self._room = _ROOM

    def start(self) -> None:
        """Begin a test."""
        self.seen = []

    def __call__(self, site: int, *values: Any) -> Any:
        """Send operands; the first is returned, so that a comparison can stay where it is."""
        self.note(site, [encode(value) for value in values])
        return values[0]

    def note(self, site: int, nodes: list[Any]) -> None:
        """Keep one observation."""
        for place, node in enumerate(nodes):
            if type(node) in (str, list):
                text = str(node)
                self._room -= len(text) if is_ascii(text) else 6 * len(text)  # as JSON spells it
                if self._room < 0:
                    nodes[place] = ["?", "too much"]
        self._room -= 16
        self.seen.append([site, nodes])

    def raises(self, site: int, owner: Any, kind: Any, tells: int) -> Any:
        """A context that expects an exception; `owner` is the test case in unittest's form."""
        return _Expected(self, site, owner, kind, tells)

    def calls(self, site: int, owner: Any, kind: Any, tells: int, function: Any, *args: Any, **options: Any) -> Any:
        """The same around one call."""
        with self.raises(site, owner, kind, tells) as caught:
            function(*args, **options)
        return caught


class _Expected:
    """The framework's own context, with what was raised sent before it is judged."""

    def __init__(self, hook: Hook, site: int, owner: Any, kind: Any, tells: int) -> None:
        self._hook, self._site, self._kind, self._tells = hook, site, kind, tells
        if owner is None:
            import pytest

            self._inner: Any = pytest.raises(kind)
        else:
            self._inner = owner.assertRaises(kind)  # noqa: PT027 - the test is in unittest's form

    def __enter__(self) -> Any:
        return self._inner.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if error is not None:
            nodes = [describe_exception(error)]
            if self._tells:
                expected = self._kind if isinstance(self._kind, tuple) else (self._kind,)
                nodes.append(["list", *map(name_of, expected)])
            self._hook.note(self._site, nodes)
        return self._inner.__exit__(kind, error, trace)
