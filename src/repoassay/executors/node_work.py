"""Making a node's work from its setup, and what a node says of itself."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Mapping
from typing import Any, cast

import repoassay
from repoassay.errors import Unavailable
from repoassay.executors.protocol import NodePlace, NodeWork
from repoassay.types import Record

__all__ = ["NodeFacts", "check_facts", "make_work", "node_facts"]


class NodeFacts(Record):
    """What must be alike on the caller's machine and on a node, and what the node is called."""

    host: str
    repoassay: str
    python: str
    machine: str


def node_facts() -> NodeFacts:
    """The facts of this process."""
    return NodeFacts(
        host=platform.node(), repoassay=repoassay.__version__, python=platform.python_version(),
        machine=platform.machine(),
    )  # fmt: skip


def check_facts(node: NodeFacts) -> None:
    """Raise `Unavailable` when a node has another version of RepoAssay or of Python, or another processor."""
    own = node_facts()
    for what, theirs, ours in (
        ("RepoAssay", node.repoassay, own.repoassay),
        ("Python", node.python, own.python),
        ("the processor", node.machine, own.machine),
    ):
        if theirs != ours:
            raise Unavailable(
                f"On the node {node.host[:100]!a}, {what} is {theirs[:40]!a}; here it is {ours!a}.",
                "Install the same on every machine of the cluster.",
            )


def make_work(path: str, data: Mapping[str, Any], place: NodePlace) -> NodeWork:
    """Call the function that a setup names by its dotted path.

    Raises:
        RepoAssayError: The work cannot be done here.
    """
    module, _, name = path.partition(":")
    return cast("NodeWork", getattr(importlib.import_module(module), name)(data, place))
