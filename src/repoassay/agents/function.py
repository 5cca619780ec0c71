"""A Python function as an agent, and any object that has a `command`.

::

    def fixer(workspace, instruction):
        workspace.run("sed -i s/colour/color/ repo/README.md")

The function runs here, in a thread of its own; its commands run in the sandbox (see `session.py`).
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from repoassay.agents.plugin_agent import PluginAgent
from repoassay.agents.protocol import Agent, AgentKind, AsksModel, in_workspace
from repoassay.agents.scripts.first_imports import first_missing_of
from repoassay.agents.session import WorkspaceSession
from repoassay.errors import BadInput
from repoassay.sandbox import Command, SandboxSession
from repoassay.tasks import TaskFolder
from repoassay.types import Limits
from repoassay.workspace import PreparedTask

__all__ = [
    "CommandMaker", "FunctionAgent", "adapt_agent", "check_source", "import_agent", "python_kind",
    "source_digest",
]  # fmt: skip


_WHERE = "its module must lie in the current folder or be installed."


class CommandMaker(Protocol):
    """An agent as anybody may write one: a class with this one method.

    `name` (else the class's name is shown) and `needs_workspace(folder)` (else always) may be added.
    """

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command that does the task laid out in `layout` within `limits`."""


class FunctionAgent:
    """Calls `function(workspace, instruction)` once an attempt; what it returns is ignored.

    An exception is a failure of the agent: its traceback goes to the attempt's log, and what it left is graded.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self._function = function

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Always: nobody knows what a function looks at."""
        return True

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """A session in the sandbox, with which the function works."""
        folder = layout.folder

        def work(sandbox: SandboxSession) -> int:
            return self._call(WorkspaceSession(folder.task.id, folder.instruction, sandbox))

        return replace(in_workspace(layout, limits, ()), outside=work)

    def _call(self, session: WorkspaceSession) -> int:
        """Call the function; returns the exit code of its attempt."""
        try:
            result = self._function(session, session.instruction)
            if inspect.iscoroutine(result):
                import asyncio

                asyncio.run(result)
        except SystemExit as leaving:
            return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except BaseException as error:  # noqa: BLE001 - whatever a function raises ends its attempt, not the run
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next  # without this frame of ours
            session.sandbox.note("".join(traceback.format_exception(error)))
            return 1
        return 0

    def missing(self) -> str:
        """The module that the function imports before anything else and that is not there; empty where none is known.

        Nothing of it is run: see `scripts/first_imports.py`.
        """
        code: Any = self._function if hasattr(self._function, "__code__") else type(self._function).__call__
        try:
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(code))).body
            folder = str(Path(inspect.getsourcefile(code) or "").parent)
        except (OSError, TypeError, ValueError, SyntaxError):
            return ""
        if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
            return ""
        module = first_missing_of(definition.body, [folder], set())[0]
        return f"the Python module {module} is missing" if module else ""


def adapt_agent(thing: object) -> Agent:
    """Make an agent of a function, of an object with a `command`, or of a class of such objects.

    Raises:
        BadInput: It is none of these, or the function does not take a workspace and an instruction.
    """
    if inspect.isclass(thing):
        try:
            thing = thing()
        except Exception as error:  # whatever somebody's class raises while it is made
            why = f"{type(error).__name__}: {str(error)[:300]}"
            raise BadInput(f"The agent {_name(thing)} cannot be made ({why}).", "Hand over an object of it.") from error
    if callable(getattr(thing, "command", None)):
        complete = isinstance(thing, AsksModel) or isinstance(getattr(thing, "kind", None), AgentKind)
        return cast("Agent", thing) if complete else PluginAgent(_name(thing), thing)
    if not callable(thing):
        raise BadInput(
            f"{type(thing).__name__} is no agent.",
            "Give an agent's name, a function of (workspace, instruction), or an object with a method `command`.",
        )
    name = _name(thing)
    try:
        inspect.signature(thing).bind(None, "")
    except TypeError as error:
        raise BadInput(
            f"The agent {name} cannot be called with a workspace and an instruction: {error}.",
            f"Write it as: def {name}(workspace, instruction).",
        ) from error
    if not name.isidentifier():
        raise BadInput("An agent needs a name that reports can show, and a lambda has none.", "Write it with def.")
    return FunctionAgent(thing, name)


def _name(thing: object) -> str:
    own = getattr(thing, "name", None)
    return str(own or getattr(thing, "__name__", None) or type(thing).__name__)


def python_kind(thing: object) -> str:
    """Where an agent's code is, as plans have it: `package.module:name`."""
    code = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{code.__module__}:{code.__qualname__}"


def source_digest(thing: object) -> str:
    """The sha256 of a function's or a class's source; empty where there is none to read."""
    code: Any = thing if hasattr(thing, "__qualname__") else type(thing)
    try:
        return hashlib.sha256(inspect.getsource(code).encode()).hexdigest()
    except (OSError, TypeError):
        return ""


def import_agent(kind: str, digest: str = "") -> object:
    """What `package.module:name` names.

    Args:
        kind: The name.
        digest: What `source_digest` gave when the run was planned; empty for not known.

    Raises:
        BadInput: It cannot be imported, or is not what it was.
    """
    place, _, path = kind.partition(":")
    again = "Hand it over again: repoassay.resume(run, agent=...)." if digest or "<" in path else ""
    if "<" in path:
        raise BadInput(f"The agent {kind} is a Python function that no other program can import.", again)
    try:
        thing: object = sys.modules.get(place) or importlib.import_module(place)
        for part in path.split("."):
            thing = getattr(thing, part)
    except Exception as error:  # whatever somebody's module raises while it is imported
        why = f"{type(error).__name__}: {str(error)[:300]}"
        raise BadInput(
            f"The agent {kind} cannot be imported ({why}).", f"Check its name; {_WHERE} {again}".strip()
        ) from error
    check_source(kind, thing, digest)
    return thing


def check_source(kind: str, thing: object, digest: str) -> None:
    """Make sure that an agent's source is what it was when the run was planned.

    Raises:
        BadInput: It has changed.
    """
    now = source_digest(thing)
    if digest and now and now != digest:
        raise BadInput(
            f"The agent {kind} has changed since this run was planned.",
            "Start a new run; figures of different agents must not be mixed.",
        )
