"""What the caller knows of a Ray cluster: jobs that were given, machines, and the actor that each of them has."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from repoassay.executors.placement import NodeLoad
from repoassay.executors.protocol import NodeJob

__all__ = ["NodeMember", "NodeState", "Ticket"]


@dataclass(slots=True)
class Ticket:
    """A job that was given and has no answer yet."""

    number: int
    job: NodeJob
    cancel: threading.Event | None
    future: Future[Any]
    told: bool = False  # whether its node heard that it is given up


@dataclass(slots=True, eq=False)
class NodeMember:
    """The actor of a node."""

    name: str
    node: str
    actor: Any
    load: NodeLoad
    opened: bool = False


@dataclass(slots=True)
class NodeState:
    """A machine of the cluster: how often its actors died without an answer, and when it may have another one."""

    deaths: int = 0
    after: float = 0.0
    member: NodeMember | None = None
