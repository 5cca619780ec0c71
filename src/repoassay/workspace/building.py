"""Building from packages is hostile work: their `setup.py` and install scripts run whatever their authors like.

A build has a sandbox, a cache of downloads and a loopback of its own. Its only ways out are the relay of the configured
indexes and the proxy to public ones; nothing it can write is seen by anybody else but as the tree it leaves.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from pathlib import Path

from repoassay.errors import DiskFull, InfraFault
from repoassay.package_proxy import Indexes, PackageProxy, Visit
from repoassay.sandbox import (
    SANDBOX_UID,
    Access,
    Cache,
    Command,
    Mount,
    Sandbox,
    SandboxNetwork,
    open_door,
    remove_tree,
)
from repoassay.types import Ended
from repoassay.workspace.build_errors import build_error
from repoassay.workspace.build_index.relay import Relay
from repoassay.workspace.build_index.rules import IndexRules
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from repoassay.workspace.disk_limit import MOST_FILES, Growth

__all__ = ["run_build"]

_RELAY, _PROXY = 4711, 4712
_DOWNLOADS = ".downloads"
"""Folder of the tree for the tools' caches: in one mount with what they install, so that they can link to it."""
_MOST_BYTES = 32 * 2**30
_LEAST_ROOM = 64 * 2**20
"""Bytes. A tool removes what it could not write whole, so that a little room is left where a disk ran full."""


def run_build(
    what: str,
    tree: Path,
    at: str,
    command: Command,
    cache: Cache,
    sandbox: Sandbox,
    *,
    rules: IndexRules | None = None,
    most_bytes: int = _MOST_BYTES,
) -> None:
    """Run a build that fills the folder `tree`, which it knows as `at`.

    Args:
        what: The beginning of the sentence that says that it failed.
        tree: An empty folder, or a copy of what is to be added to.
        at: Its place inside.
        command: The build; its environment's `DOWNLOADS` will name an empty folder for caches. Its writable mounts
            count as the tree does.
        cache: Where packages are kept by digest.
        sandbox: Where it runs.
        rules: What the indexes hold back, such as files newer than a day (`IndexRules(newest=...)`); a build that is
            held to a day reaches them through the relay alone.
        most_bytes: What tree and writable mounts may come to.

    Raises:
        DiskFull: It failed, and next to nothing is left of the disk that it wrote to.
        InfraFault: It failed; the reason is its own, the index's or the proxy's.
    """
    if os.geteuid() == 0:
        os.chown(tree, SANDBOX_UID, SANDBOX_UID)
    indexes = Indexes.configured()
    refused: list[str] = []

    def note(visit: Visit) -> None:
        if not visit.allowed and visit.host:
            refused[:] = [f"{visit.why} REPOASSAY_PACKAGE_HOSTS names further hosts that may be reached."]

    with contextlib.ExitStack() as ends:
        relay = Relay(indexes, Store(cache, IndexUpstream(dict(indexes.logins), indexes.bundle)), rules)
        ends.callback(relay.close)
        beside = indexes.public_rules() if rules is None else indexes.extra  # a tunnel to an index knows no dates
        visitor = ends.enter_context(PackageProxy()).admit(beside, note)
        doors = (
            open_door(sandbox, SandboxNetwork.NONE, _RELAY, relay.serve),
            open_door(sandbox, SandboxNetwork.NONE, _PROXY, visitor.serve, visitor.close),
        )
        env = {**indexes.env(doors[1].port), **relay.env(doors[0].port), **command.env}
        env |= {"DOWNLOADS": f"{at}/{_DOWNLOADS}", "UV_CACHE_DIR": f"{at}/{_DOWNLOADS}/uv", "UV_NO_CONFIG": "1"}
        env["npm_config_cache"] = f"{at}/{_DOWNLOADS}/npm"
        written = [mount.source for mount in command.mounts if mount.access is Access.WRITE]
        mounts = (Mount(tree, at, Access.WRITE), *command.mounts, *indexes.mounts())
        growth = ends.enter_context(Growth(tree, most_bytes, *written))
        whole = dataclasses.replace(command, env=env, mounts=mounts, doors=doors, network=SandboxNetwork.NONE)
        done = sandbox.run(whole, growth.exceeded)
        reasons = [*relay.troubles[-1:], *refused]
        if done.exit.ended in (Ended.CANCELLED, Ended.TIMED_OUT):
            reasons.append(relay.downloaded())
        if growth.exceeded.is_set():
            reasons.append(f"It wrote more than {most_bytes} bytes or {MOST_FILES} files.")
    succeeded = done.exit.ended is Ended.EXITED and done.exit.code == 0
    full = not succeeded and shutil.disk_usage(tree).free < _LEAST_ROOM
    remove_tree(tree / _DOWNLOADS)
    if full:
        raise DiskFull(f"the folder {tree.parent}")
    if not succeeded:
        raise InfraFault(
            f"{what} ({done.exit.ended.value}, code {done.exit.code}): "
            + " ".join([build_error(done.stderr.decode(errors="replace"), cache), *reasons]),
            "Check the network and the package index (UV_DEFAULT_INDEX, npm config get registry).",
        )
