"""Choosing a sandbox by name, and refusing with a remedy where it cannot be had."""

from __future__ import annotations

from repoassay.errors import BadInput, InfraFault, NoIsolation
from repoassay.workspace.cache import Cache
from repoassay.workspace.protocol import Command, Sandbox

__all__ = ["ISOLATIONS", "open_sandbox"]

ISOLATIONS = ("namespaces", "none")
"""The kinds of isolation, safest first."""


def open_sandbox(kind: str = "namespaces", cache: Cache | None = None) -> Sandbox:
    """Return a sandbox that was seen to work.

    Raises:
        NoIsolation: When this machine cannot give the kind asked for.
    """
    from repoassay.workspace.namespaces import NamespaceSandbox
    from repoassay.workspace.none import NoSandbox

    cache = cache or Cache()
    if kind == "none":
        return NoSandbox()
    if kind != "namespaces":
        raise BadInput(f"There is no isolation called {kind!r}.", f"Choose one of: {', '.join(ISOLATIONS)}.")
    sandbox = NamespaceSandbox(cache)
    try:
        _try(sandbox)
    except InfraFault as fault:
        raise NoIsolation(
            f"This machine gives no sandbox: {fault.message}",
            "Run `repoassay doctor` for the remedy, or accept that agents and their code run unprotected"
            " as your own account with --isolation none.",
        ) from fault
    return sandbox


def _try(sandbox: Sandbox) -> None:
    done = sandbox.run(Command(argv=("true",)))
    if done.exit.code != 0:
        raise InfraFault(f"a command in it ended with {done.exit.code}: {done.stderr.decode(errors='replace')}.")
