"""The sandbox of a Kubernetes cluster: each session has a pod of its own, and no network that was not tried."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from repoassay.errors import BadInput, InfraFault, NoIsolation, Unavailable
from repoassay.sandbox.box.boot import boot_arguments
from repoassay.sandbox.box.box import BoxSandbox
from repoassay.sandbox.box.plan import BoxMount, BoxPlan
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.box.session import BoxSession
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.containers import IMAGE, box_interpreter
from repoassay.sandbox.namespaces import BASE_ENV, NamespaceSandbox
from repoassay.sandbox.pods.cluster import MARK, PodCluster, process_mark
from repoassay.sandbox.pods.pod_manifest import CONTAINER, RECEIVER, SENT, pod_manifest
from repoassay.sandbox.protocol import Access, Command, Completed, SandboxNetwork, SandboxSetup
from repoassay.sandbox.trees import measure_tree, write_tree
from repoassay.types import IsolationGrade

__all__ = ["PodSandbox"]

_STARTING = 600.0
"""Seconds a pod may take to be scheduled and its image to be pulled."""
_SENDING = 600.0
_CUTTING = 30.0
"""Seconds in which a network policy must have come into force."""
_NOT_SENT = ("site-packages", "test", "tests", "idlelib", "config-*", "__pycache__", "*.a", "include", "share")
_METADATA = ("169.254.169.254", 80)
"""Where many clouds give a node's rights away to whoever asks."""
_UNLIMITED = 16_384
_TAKE = 'head -c "$1" | tar -x -p -f - -C "$2" && : > "$2/complete"'
_CONNECT = """
import json, socket, sys
places = [tuple(each) for each in json.loads(sys.argv[1])]
with open("/etc/resolv.conf") as stream:
    places += [(line.split()[1], 53) for line in stream if line.startswith("nameserver")]
for place in places:
    try:
        socket.create_connection(place, timeout=2).close()
    except OSError:
        continue
    sys.exit(f"reached {place[0]} at port {place[1]}")
"""


class PodSandbox(BoxSandbox):
    """Runs commands in pods of one image.

    Args:
        cluster: Where pods are made.
        cache: Of this machine, where environments are built.
        image: What the cluster's nodes pull.
    """

    capabilities = SandboxCapabilities(
        grade=IsolationGrade.UNVERIFIED, port_forwards=True, host_mounts=False, image=True
    )  # fmt: skip

    def __init__(self, cluster: PodCluster, cache: Cache, image: str) -> None:
        if not image or image.startswith("-"):
            raise BadInput("The isolation kubernetes needs an image.", f"Name it in the variable {IMAGE}.")
        self._cluster, self._cache, self._image = cluster, cache, image
        self.name = f"kubernetes@{cluster.place}"

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if _builds(command):
            return NamespaceSandbox(self._cache).run(command, cancel)
        return super().run(command, cancel)

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> BoxSession:
        """Open a session whose network was seen to be cut; see `Sandbox`."""
        if setup.network is SandboxNetwork.HOST:
            raise Unavailable(f"{self.name} opens no network.", "Use --isolation namespaces, or another --network.")
        if _builds(setup):
            raise Unavailable(
                f"A session of {self.name} changes nothing of this machine.", "Use --isolation namespaces."
            )
        session = super().open(setup, cancel)
        try:
            self._see_that_it_is_cut(session)
        except BaseException:
            with contextlib.suppress(InfraFault):
                session.close()
            raise
        return session

    def prove(self) -> None:
        """See that a pod without a policy has a network and one with it has none.

        Raises:
            NoIsolation: When that does not hold, or cannot be shown.
            InfraFault: When no pod can be had.
        """
        self._cluster.sweep()
        with _OpenPods(self._cluster, self._cache, self._image).open(SandboxSetup()) as session:
            if not self._reached(session):
                raise NoIsolation(
                    f"It cannot be shown that {self.name} cuts the network: neither the API server nor a name server"
                    " answers a pod without a network policy.",
                    "Use a namespace without a policy that denies everything.",
                )
        self.open(SandboxSetup()).close()

    def _see_that_it_is_cut(self, session: BoxSession) -> None:
        until = time.monotonic() + _CUTTING
        while reached := self._reached(session):
            if time.monotonic() > until:
                raise InfraFault(
                    f"The cluster does not cut the network of a pod: {reached} in spite of its NetworkPolicy."
                    " Its network plug-in must enforce policies."
                )
            time.sleep(1)

    def _reached(self, session: BoxSession) -> str:
        """What a command in the session reaches over the network and should not; empty for nothing."""
        parts = urlsplit(self._cluster.address)
        places = json.dumps([(parts.hostname, parts.port or 443), _METADATA])
        python, _ = box_interpreter()
        done = session.exec([python, "-I", "-S", "-c", _CONNECT, places], timeout=60, logged=False)
        message = done.stderr.decode(errors="replace").strip()
        if done.exit.code == 0:
            return ""
        if not message.startswith("reached "):
            raise InfraFault(f"The network of a pod could not be tried: {message[-300:] or done.exit.code}.")
        return message[:300]

    def start(self, plan: BoxPlan, folder: Path, stack: contextlib.ExitStack) -> tuple[RunningBox, dict[str, Any]]:
        """Start a box; see `BoxSandbox`."""
        python, shown = box_interpreter()
        places = (*(place for place in shown if isinstance(place, BoxMount)), *plan.places)
        sent = [place for place in places if isinstance(place, BoxMount)]
        trees = {str(number): self._source(place) for number, place in enumerate(sent)}
        _, size = measure_tree(trees)
        name = f"repoassay-{uuid.uuid4().hex[:16]}"
        marks = {MARK: process_mark()}
        manifest = pod_manifest(name, self._image, boot_arguments(python), plan, sent, size, marks)
        stack.callback(self._remove, name)
        uid = self._cluster.create_pod(manifest)
        self._cut(name, uid)
        self._cluster.await_container(name, RECEIVER, _STARTING)
        self._send(name, trees, size)
        self._cluster.await_container(name, CONTAINER, _STARTING)
        process = self._cluster.attach(name)
        stack.callback(process.close)
        spec = plan.server_spec(env=BASE_ENV, uid=-1, nested=False, memory_is_counted=True)
        spec["processes"] = _UNLIMITED  # the account's processes are counted with those of all pods of a node
        return RunningBox(process), spec

    def _source(self, place: BoxMount) -> Path:
        """What is sent of a mount: of the interpreter only what environments made with it need."""
        base = os.path.realpath(sys.base_prefix)
        if place.source != base:
            return Path(place.source)

        def copy(part: Path) -> None:
            shutil.copytree(base, part / "tree", symlinks=True, ignore=shutil.ignore_patterns(*_NOT_SENT))

        key = hashlib.sha256(f"{base} {sys.version}".encode()).hexdigest()[:32]
        return self._cache.entry("interpreters", key, copy) / "tree"

    def _cut(self, name: str, uid: str) -> None:
        self._cluster.cut_network(name, uid)

    def _remove(self, name: str) -> None:
        with contextlib.suppress(InfraFault):  # it ends by itself once nobody is attached, and is swept later
            self._cluster.remove(name)

    def _send(self, name: str, trees: dict[str, Path], size: int) -> None:
        """Send files to a pod, whose init container ends with that."""
        process = self._cluster.execute(name, ["/bin/sh", "-c", _TAKE, "sh", str(size), SENT])
        timer = threading.Timer(_SENDING, process.kill)
        timer.start()
        try:
            with contextlib.suppress(BrokenPipeError):  # what it said tells more
                write_tree(trees, process.stdin)
            if process.wait(_SENDING) != 0:
                message = process.stderr.read(2000).decode(errors="replace").strip()
                raise InfraFault(f"The files of a session could not be sent to its pod: {message[-300:]}.")
        finally:
            timer.cancel()
            process.close()


class _OpenPods(PodSandbox):
    """Pods without a policy, in which nothing but our own trial runs."""

    def _cut(self, name: str, uid: str) -> None:
        """Leave it as it is."""

    def _see_that_it_is_cut(self, session: BoxSession) -> None:
        """It need not be."""


def _builds(setup: SandboxSetup) -> bool:
    return any(mount.access is Access.WRITE for mount in setup.mounts)
