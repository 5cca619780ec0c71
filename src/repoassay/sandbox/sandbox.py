"""Choosing a sandbox by name, and refusing with a remedy where it cannot be had."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from repoassay import plugins
from repoassay.errors import BadInput, InfraFault, NoIsolation, RepoAssayError, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import capabilities_of
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxSession, SandboxSetup
from repoassay.sandbox.session import work_outside
from repoassay.types import IsolationGrade

__all__ = [
    "ISOLATIONS",
    "SAFE_ISOLATIONS",
    "can_attest",
    "can_judge",
    "is_isolation",
    "open_apptainer",
    "open_bubblewrap",
    "open_http",
    "open_kubernetes",
    "open_namespaces",
    "open_none",
    "open_sandbox",
]

ISOLATIONS = ("namespaces", "bubblewrap", "podman", "docker", "apptainer", "kubernetes", "http", "none")
"""The bundled kinds of isolation, safest first."""
_WITH_PLACE = ("podman", "docker", "apptainer", "kubernetes", "http")
"""Those that need an image, a cluster or an address, which stands behind the name or in a variable."""
SAFE_ISOLATIONS = ("namespaces", "bubblewrap")
"""Those whose grade is `kernel`: a run that somebody else planned with them needs no consent."""
_GROUP = "repoassay.sandboxes"


class _PluginSandbox:
    """A sandbox of a plug-in under the name of its entry point.

    What it says of itself counts only where it claims less: the name under which verdicts are attested,
    `namespaces`, is never its own, and its network is private only if it says so.
    """

    def __init__(self, name: str, inner: Any) -> None:
        self.name = name
        self.network_is_private = getattr(inner, "network_is_private", False) is True
        self.capabilities = replace(capabilities_of(inner), grade=IsolationGrade.UNVERIFIED, attests=False)
        self._inner = inner

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if command.outside is not None:
            return work_outside(self, command, cancel)
        done = self._call_plugin(self._inner.run, command, cancel)
        if not isinstance(done, Completed):
            raise InfraFault(f"The sandbox {self.name} failed: it returned no Completed.")
        return done

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """Open a session; see `Sandbox`."""
        if not callable(getattr(self._inner, "open", None)):
            raise Unavailable(
                f"The sandbox {self.name} runs commands but opens no sessions.",
                "Use --isolation namespaces, or have the plug-in add a method `open(setup, cancel)`.",
            )
        session: SandboxSession = self._call_plugin(self._inner.open, setup, cancel)
        return session

    def _call_plugin(self, method: Callable[..., Any], *arguments: object) -> Any:
        try:
            return method(*arguments)
        except RepoAssayError:
            raise
        except Exception as error:
            reason = plugins.reason_of(error)
            raise InfraFault(f"The sandbox {self.name} failed: {reason}.") from error


def is_isolation(kind: str) -> bool:
    """Whether there is such a kind of isolation: a bundled one, a plug-in's, or a dotted path."""
    return kind in ISOLATIONS or _parts(kind)[1] != "" or plugins.is_dotted(kind) or plugins.offers(_GROUP, kind)


def _parts(kind: str) -> tuple[str, str]:
    """The name of a kind of isolation, and what stands behind it: `docker@IMAGE`, `http@URL`."""
    name, _, place = kind.partition("@")
    return (name, place) if name in _WITH_PLACE else (kind, "")


def open_sandbox(kind: str = "namespaces", cache: Cache | None = None) -> Sandbox:
    """Return a sandbox that was seen to work.

    Args:
        kind: A bundled kind of isolation, with `@IMAGE`, `@CONTEXT/NAMESPACE` or `@URL` where it takes one, a
            plug-in's, or a dotted path `package.module:Name`. What a plug-in names is called with the cache and returns
            a `Sandbox`; that its isolation is not verified is warned of, and no verdict of it is attested.
        cache: The cache of this machine, by default.

    Raises:
        NoIsolation: When this machine cannot give the kind asked for.
        BadInput: When there is no such kind.
        Unavailable: When a plug-in cannot be imported.
    """
    cache = cache or Cache()
    name, place = _parts(kind)
    plugin = plugins.find(_GROUP, name, dotted=True) if is_isolation(kind) else None
    if plugin is None:
        known = [*ISOLATIONS, *plugins.installed_plugins(_GROUP)]
        raise BadInput(f"There is no isolation called {kind!r}.", f"Choose one of: {', '.join(known)}.")
    make = plugins.resolve(plugin)
    if plugin.is_bundled:
        sandbox: Sandbox = make(cache, place) if name in _WITH_PLACE else make(cache)
        return sandbox
    return _opened(plugin, make, cache)


def open_namespaces(cache: Cache) -> Sandbox:
    """Return the default sandbox.

    Raises:
        NoIsolation: When this machine gives no namespaces.
    """
    from repoassay.sandbox.namespaces import NamespaceSandbox

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


def can_attest(sandbox: Sandbox, cache: Cache) -> bool:
    """Whether passes may be attested in a sandbox; what compares values always runs in the default one."""
    return capabilities_of(sandbox).attests and (sandbox.name == "namespaces" or can_judge(cache))


def can_judge(cache: Cache) -> bool:
    """Whether the default sandbox, in which values are compared, can be had here."""
    try:
        return bool(open_namespaces(cache))
    except NoIsolation:
        return False


def open_bubblewrap(cache: Cache) -> Sandbox:
    """Return the sandbox that bubblewrap sets up.

    Raises:
        NoIsolation: When bubblewrap is not installed, or cannot set one up.
    """
    from repoassay.sandbox.bubblewrap import BubblewrapSandbox

    return _tried(BubblewrapSandbox(cache))


def open_docker(cache: Cache, image: str = "") -> Sandbox:
    """Return the sandbox of Docker; raises `NoIsolation` when it cannot be had, `BadInput` without an image."""
    return _open_engine("docker", cache, image)


def open_podman(cache: Cache, image: str = "") -> Sandbox:
    """Return the sandbox of Podman; raises `NoIsolation` when it cannot be had, `BadInput` without an image."""
    return _open_engine("podman", cache, image)


def _open_engine(engine: str, cache: Cache, image: str) -> Sandbox:
    from repoassay.sandbox.containers import ContainerSandbox, named_image
    from repoassay.sandbox.task_images import TaskImageSandbox, is_image_template

    image = named_image(engine, image)
    if is_image_template(image):
        return TaskImageSandbox(engine, image, lambda: open_namespaces(cache))
    return _tried(ContainerSandbox(engine, image))


def open_apptainer(cache: Cache, image: str = "") -> Sandbox:
    """Return the sandbox of Apptainer; raises `NoIsolation` when it cannot be had, `BadInput` without an image."""
    from repoassay.sandbox.apptainer import ApptainerSandbox

    return _tried(ApptainerSandbox(cache, image))


def open_http(cache: Cache, url: str = "") -> Sandbox:
    """Return the sandbox behind a server; raises `NoIsolation` when it cannot be had, `BadInput` without an address."""
    from repoassay.sandbox.remote.client import open_client
    from repoassay.sandbox.remote.http_sandbox import HttpSandbox

    client = open_client(url)
    try:
        return _tried(HttpSandbox(client, cache))
    except InfraFault as fault:
        raise NoIsolation(
            f"The isolation http@{client.place} does not work here: {fault.message}",
            "See that `repoassay sandbox serve` runs there and that the token is one of its own.",
        ) from fault


def open_kubernetes(cache: Cache, place: str = "") -> Sandbox:
    """Return the sandbox of a Kubernetes cluster, whose network was seen to be cut.

    Raises:
        NoIsolation: When the cluster makes no pods for us, or does not cut their network.
        BadInput: When no image is named, or the kubeconfig has no such context.
        MissingExtra: When the client is not installed.
    """
    from repoassay.sandbox.containers import IMAGE
    from repoassay.sandbox.pods.cluster import PodCluster
    from repoassay.sandbox.pods.pod_sandbox import PodSandbox

    sandbox = PodSandbox(PodCluster(place), cache, os.environ.get(IMAGE, ""))
    try:
        sandbox.prove()
    except InfraFault as fault:
        raise NoIsolation(
            f"The isolation {sandbox.name} does not work here: {fault.message}",
            "Run `repoassay doctor` for what does, or use --isolation namespaces.",
        ) from fault
    return _tried(sandbox)


def open_none(_: Cache) -> Sandbox:
    """Return the sandbox that isolates nothing."""
    from repoassay.sandbox.none import NoSandbox

    return NoSandbox()


def _opened(plugin: plugins.Plugin, make: Any, cache: Cache) -> Sandbox:
    try:
        sandbox = _PluginSandbox(plugin.name, make(cache))
        _try(sandbox)
    except Exception as error:
        reason = error.message if isinstance(error, InfraFault) else f"{plugins.reason_of(error)}."
        raise NoIsolation(
            f"The {plugin.title} does not work here: {reason}", "Use --isolation namespaces, or repair the plug-in."
        ) from error
    network = "says that it cuts the network" if sandbox.network_is_private else "does not cut the network"
    plugins.warn(
        f"The {plugin.title} {network}; how well it isolates is not verified, and no verdict in it is attested."
    )
    return sandbox


def _tried(sandbox: Sandbox) -> Sandbox:
    """A bundled sandbox besides the default one, seen to work; raises `NoIsolation` when it does not."""
    try:
        _try(sandbox)
    except InfraFault as fault:
        raise NoIsolation(
            f"The isolation {sandbox.name} does not work here: {fault.message}",
            "Run `repoassay doctor` for what does, or use --isolation namespaces.",
        ) from fault
    return sandbox


def _try(sandbox: Sandbox) -> None:
    done = sandbox.run(Command(argv=("true",)))
    if done.exit.code != 0:
        raise InfraFault(f"a command in it ended with {done.exit.code}: {done.stderr.decode(errors='replace')}.")
