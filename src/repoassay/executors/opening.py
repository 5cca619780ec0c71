"""Executors by the name a user gives: `local`, `ray[://HOST:PORT]`, `slurm://NODES`, or a plug-in's."""

from __future__ import annotations

from typing import cast

from repoassay.errors import BadInput
from repoassay.executors.protocol import Executor
from repoassay.plugins import bundled_plugins, find, installed_plugins, is_dotted, offers, resolve
from repoassay.text import quote, suggest

__all__ = ["find_executor", "is_executor"]

_GROUP = "repoassay.executors"


def is_executor(name: str) -> bool:
    """Whether a name, with or without an address, is that of an executor; imports nothing."""
    kind = name.partition("://")[0]
    return offers(_GROUP, kind) or is_dotted(kind)


def find_executor(name: str) -> Executor:
    """The executor of a name.

    Raises:
        BadInput: There is none of that name.
        Unavailable: What it needs is not installed.
    """
    kind, mark, address = name.partition("://")
    if not is_executor(name) or (mark and not address):
        known = [*bundled_plugins(_GROUP), *installed_plugins(_GROUP)]
        raise BadInput(f"There is no executor {quote(name)}.", suggest(kind, known))
    return cast("Executor", resolve(find(_GROUP, kind, dotted=True))(address))
