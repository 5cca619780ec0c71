"""A sandbox in which a run of hidden tests is traced: the run's own command, started below the tracer."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.sandbox import (
    WARM_ENV,
    Command,
    Completed,
    Sandbox,
    SandboxSession,
    SandboxSetup,
    compile_path_filter,
    path_calls,
)
from repoassay.types import FileEdit, Record

__all__ = ["PathNotes", "TraceSandbox"]

_PROGRAMS = {
    "/run/trace.py": Path(__file__).with_name("program.py"),
    "/run/importer.py": Path(__file__).with_name("importer.py"),
}
_SPARED = 4000
"""`SPARED` of the program."""
_ROOT = "/workspace/repo"
_MOST_OUTPUT = 64 * 2**20
_SLOWER, _START = 10.0, 60.0
"""A traced run may take so many times as long, and so many seconds more."""


class PathNotes(Record):
    """What one run looked at below the repository.

    Attributes:
        looked: Paths that were looked up, found or not, relative to the repository, through links.
        listed: Folders whose names were read; "" is the repository itself.
        unread: What was done in a way that is not followed, so that there may be more; empty when nothing was.
    """

    looked: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    unread: str = ""


class TraceSandbox:
    """Runs the command of `run_hidden` for Python's tests below the tracer; see `Sandbox`.

    Args:
        sandbox: Where it runs.

    Attributes:
        notes: What the last run looked at.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.notes = PathNotes(unread="nothing was run")

    @property
    def name(self) -> str:
        """See `Sandbox.name`."""
        return self._sandbox.name

    @property
    def network_is_private(self) -> bool:
        """See `Sandbox.network_is_private`."""
        return self._sandbox.network_is_private

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """See `Sandbox.open`; nothing is traced."""
        return self._sandbox.open(setup, cancel)

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """See `Sandbox.run`."""
        limits = command.limits.model_copy(
            update={"seconds": _SLOWER * command.limits.seconds + _START, "output": _MOST_OUTPUT}
        )
        done = self._sandbox.run(
            replace(
                command,
                argv=("/env/bin/python", "-I", "-B", "/run/trace.py"),
                stdin=json.dumps(_job(json.loads(command.stdin))).encode(),
                edits={**command.edits, **{place: FileEdit(file.read_bytes()) for place, file in _PROGRAMS.items()}},
                limits=limits,
            ),
            cancel,
        )
        try:
            self.notes = PathNotes.model_validate_json(done.stdout)
        except ValidationError:
            self.notes = PathNotes(unread="the tracer did not come to its end")
        return done


def _job(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "facts": facts,
        "filter": compile_path_filter(_SPARED).hex(),
        "calls": path_calls(),
        "root": _ROOT,
        "env": {**WARM_ENV, "PYTHONPATH": ":".join(facts["path"])},
    }
