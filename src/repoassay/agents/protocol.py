"""What an agent is: a name, and a command for every workspace; and what one is given that asks a model.

How a run uses an agent that asks a model::

    agent.prepare(cache, sandbox)                # once a run: installs it, or says why it cannot be
    placed = agent.at(access, attempt_folder)    # once an attempt, with a fresh session at the model proxy
    command = placed.command(layout, limits)     # its `collect` has transcripts already: add to it, do not replace it
    trajectory = placed.read(sandbox.run(command))
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from repoassay.sandbox import Cache, Command, Completed, Mount, PortForward, Sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Limits, TaskKind, Trajectory
from repoassay.workspace import DESCRIPTION, PreparedTask

__all__ = [
    "AccessPoint",
    "Agent",
    "AgentKind",
    "AsksModel",
    "PlacedAgent",
    "in_workspace",
    "plain_name",
    "script_agent",
]


@dataclass(frozen=True, slots=True)
class AgentKind:
    """What a plan may say of agents of one class, which has it as its attribute `kind`.

    Attributes:
        options: Names of the settings that are particular to it.
        takes_model: Whether it may be given a model; without, only its time can be limited.
    """

    options: tuple[str, ...] = ()
    takes_model: bool = True


class Agent(Protocol):
    """Anything that can be set to work in a workspace."""

    @property
    def name(self) -> str:
        """As reports show it."""

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Whether it looks at more of the task than instruction and inputs, and needs all of these to be there."""

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command that does the task laid out in `layout` within `limits`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPoint:
    """What one attempt's agent is given of the world outside its workspace.

    Attributes:
        model: The model's name without the provider; the model proxy sends every call to the attempt's model anyway.
        key: The pass's key, worthless elsewhere and afterwards.
        urls: The base URL of each dialect, as the command reaches it: `AttemptSession.urls("http://127.0.0.1:PORT")`.
        doors: The port forwards behind these URLs, and any other the network policy opens.
        env: What the network policy adds to the environment, such as proxies.
        calls: The most model calls, told to agents that can be told; the model proxy enforces it anyway.
    """

    model: str
    key: str
    urls: Mapping[str, str]
    doors: tuple[PortForward, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    calls: int | None = None


class PlacedAgent(Agent, Protocol):
    """An agent with the access point of one attempt."""

    def read(self, done: Completed) -> Trajectory:
        """Keep what it printed beside its transcripts, and read these into one format; never fails on their content."""


@runtime_checkable
class AsksModel(Agent, Protocol):
    """An agent that needs a model, and so an access point, before it has a command."""

    @property
    def dialect(self) -> str:
        """The model proxy's dialect it speaks: chat, responses, messages or gemini."""

    def prepare(self, cache: Cache, sandbox: Sandbox) -> None:
        """Install it, unless it is in the cache; thread-safe.

        Raises:
            Unavailable: This machine lacks something it needs; says what and the remedy.
            InfraFault: It could not be installed.
        """

    def at(self, access: AccessPoint, into: Path) -> PlacedAgent:
        """The agent for one attempt, whose folder is `into`: it gets `prompt.md`, `transcript/`, `trajectory.json`."""


def in_workspace(
    layout: PreparedTask,
    limits: Limits,
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    mounts: tuple[Mount, ...] = (),
    edits: Mapping[str, FileEdit | None] | None = None,
) -> Command:
    """A command that sees the task's workspace and stands in it."""
    return Command(
        argv=argv,
        env={**layout.env, **(env or {})},
        cwd=layout.work,
        stdin=stdin,
        mounts=(*layout.mounts, *mounts),
        scratch=layout.scratch,
        edits={**layout.edits, **(edits or {})},
        limits=limits,
    )


def plain_name(pattern: str) -> str:
    """A name that satisfies an entry of `outputs.files`: the first pattern with its first choices, `*` as 01."""
    first = pattern.partition(" | ")[0].replace("*", "01")
    return re.sub(r"\{([^,}]*)[^}]*\}", r"\1", first)


def script_agent(layout: PreparedTask, limits: Limits, script: Path, *, fill: str = "") -> Command:
    """A command that runs one of our own scripts in the workspace, told what the task expects by standard input."""
    task = layout.folder.task
    facts = {
        "edit": task.kind.changes_repository,
        "repository": layout.repository,
        "inputs": list(task.inputs.files),
        "outputs": [DESCRIPTION] if task.kind is TaskKind.PULL_REQUEST else list(map(plain_name, task.outputs.files)),
        "task": task.id,
        "fill": fill,
    }
    return in_workspace(
        layout,
        limits,
        ("/env/bin/python", "-I", "-B", "/run/agent.py"),
        stdin=json.dumps(facts).encode(),
        edits={
            "/run/agent.py": FileEdit(script.read_bytes()),
            # A script may come in parts: vandal.py with vandal_submission.py, say.
            **{f"/run/{part.name}": FileEdit(part.read_bytes()) for part in script.parent.glob(f"{script.stem}_*.py")},
        },
    )
