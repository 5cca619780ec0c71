"""What runs in the judge's sandbox: test authors' expressions meet values an attacker may have chosen.

The expressions are trusted, the values are plain data (`values.py`). What this program is confined in bounds what one
can do to the other: patterns that never end, numbers and texts without measure.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import resource
import sys
import types
from typing import Any

__all__ = ["PLACE", "prepare", "work"]

PLACE = "/run/judge"
"""Where the package's files are, which the judge decodes and compares with."""
_MEMORY = 512 * 2**20
_MODULES = (
    "base64", "binascii", "bisect", "calendar", "cmath", "collections", "collections.abc", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "html", "inspect",
    "io", "ipaddress", "itertools", "json", "math", "numbers", "operator", "os", "os.path", "pathlib", "posixpath",
    "random", "re", "statistics", "string", "struct", "sys", "textwrap", "types", "typing", "unicodedata",
    "urllib.parse", "uuid", "zoneinfo",
)  # fmt: skip
"""What definitions may import. The defence is the sandbox; this only keeps meanings."""
_ALLOWED = {name.partition(".")[0] for name in _MODULES if "." not in name} | set(_MODULES) | {"__future__", "urllib"}


def prepare() -> None:
    """Import once what every job needs."""
    sys.path.insert(0, PLACE)
    ours = sys.modules.get("repoassay")
    if ours is not None:
        ours.__path__ = [f"{PLACE}/repoassay", *ours.__path__]  # the launcher's own package is hidden in here
    importlib.import_module("repoassay.grading.oracle.comparing")
    for name in _MODULES:
        importlib.import_module(name)


def work(job: dict[str, Any], channel: int) -> None:
    """Decide the checks of one job, in order, and tell each answer at once."""
    facts = job["facts"]
    for limit, value in (
        (resource.RLIMIT_CPU, facts["seconds"]),
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(limit, (value, value + 1 if limit == resource.RLIMIT_CPU else value))
    space = _namespace()
    broken = _run(facts["definitions"], space)
    for expression, nodes in json.loads(facts["checks"]):
        _tell(channel, broken or _decide(expression, nodes, space))


def _tell(channel: int, answer: str) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(channel, data) :]


def _namespace() -> dict[str, Any]:
    from repoassay.grading.oracle import comparing

    pytest = types.ModuleType("pytest")
    vars(pytest)["approx"] = comparing.approx
    inner = types.ModuleType("builtins")
    vars(inner).update(vars(builtins))

    def restricted(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "pytest":
            return pytest
        if name not in _ALLOWED:
            raise ImportError(f"the judge has no module {name}")
        return builtins.__import__(name, *arguments, **named)

    vars(inner)["__import__"] = restricted
    functions = {name: getattr(comparing, name) for name in comparing.__all__}
    return {"__builtins__": vars(inner), "__name__": "__judge__", "pytest": pytest, **functions}


def _run(definitions: str, space: dict[str, Any]) -> str:
    try:
        exec(compile(definitions, "<definitions>", "exec"), space)  # noqa: S102 - the test author's, confined
    except MemoryError:
        return "error: memory"
    except BaseException as error:  # noqa: BLE001 - whatever the definitions raised
        return _error_text(error, "definitions: ")
    return ""


def _decide(expression: str, nodes: list[Any], space: dict[str, Any]) -> str:
    from repoassay.grading.oracle.values import decode

    try:
        values = {f"_{number}": decode(node) for number, node in enumerate(nodes)}
        found = eval(expression, {**space, **values})  # noqa: S307 - the test author's, confined
        answer = "holds" if found else "fails"
    except MemoryError:
        return "error: memory"
    except BaseException as error:  # noqa: BLE001 - whatever the expression raised
        return _error_text(error)
    return answer


def _error_text(error: BaseException, before: str = "") -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception that cannot be shown
        text = "?"
    return f"error: {before}{type(error).__name__}: {text}"[:300]
