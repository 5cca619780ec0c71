"""What is asked of a cluster's API server: a namespace's pods and network policies, and streams into pods."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, InfraFault, MissingExtra
from repoassay.sandbox.pods.pod_manifest import CONTAINER, MANAGED, RECEIVER, network_policy
from repoassay.sandbox.pods.pod_process import PodProcess
from repoassay.sandbox.pods.pod_stream import connect_stream
from repoassay.text import one_line, printable

__all__ = ["PodCluster", "process_mark"]

_TRIES, _PAUSE = 6, 0.5
_TIMEOUT = (10, 30)
_BUSY = (429, 500, 502, 503, 504)
_NO_RIGHT = (401, 403)
_GONE, _THERE = 404, 409
_LOOK = 0.3
_HOPELESS = frozenset({
    "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError",
    "CreateContainerError", "RunContainerError",
})  # fmt: skip
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PID = re.compile(r"[0-9]{1,10}")
CLUSTER = "REPOASSAY_CLUSTER"
"""The environment variable that names the cluster where `--isolation` does not."""
MARK = "repoassay/process"


class PodCluster:
    """One namespace of one cluster. Usable from any thread.

    Args:
        place: `CONTEXT/NAMESPACE` of the kubeconfig, or a context alone; empty for that of `REPOASSAY_CLUSTER`, or
            else those that are current.

    Raises:
        MissingExtra: When the client is not installed.
        BadInput: When there is no kubeconfig, no such context in it, or what is named is no namespace.
    """

    def __init__(self, place: str) -> None:
        try:
            from kubernetes import client, config as configuration
            from urllib3 import Retry
        except ImportError:
            raise MissingExtra("kubernetes", "kubernetes") from None
        self._client = client
        config: Any = configuration  # which has no types
        files = os.environ.get("KUBECONFIG") or None  # the package itself looks only while it is imported
        place = place or os.environ.get(CLUSTER, "")
        remedy = "Name the file in KUBECONFIG; `kubectl config get-contexts` must work."
        try:
            contexts, current = config.list_kube_config_contexts(files)
        except (config.ConfigException, OSError) as error:
            raise BadInput(f"There is no configuration of a Kubernetes cluster: {_line(str(error))}.", remedy) from None
        except Exception as error:  # noqa: BLE001 - of several packages; its text may quote a secret of the file
            raise BadInput(f"The kubeconfig cannot be read: it gives a {type(error).__name__}.", remedy) from None
        named = {each["name"]: each.get("context") or {} for each in contexts}
        context, _, namespace = (place, "", "") if place in named or "/" not in place else place.rpartition("/")
        context = context or current["name"]
        if context not in named:
            raise BadInput(
                f"The kubeconfig has no context {printable(context)!r}.",
                f"Choose one of: {', '.join(map(printable, named))}; as in --isolation kubernetes@CONTEXT/NAMESPACE.",
            )
        self.namespace: str = namespace or named[context].get("namespace") or "default"
        if not _NAMESPACE.fullmatch(self.namespace):  # it stands in addresses that are asked
            raise BadInput(
                f"{printable(self.namespace)!r} is no name of a namespace.",
                "Use small letters, digits and hyphens, as in --isolation kubernetes@CONTEXT/NAMESPACE.",
            )
        self.place = f"{context}/{self.namespace}"
        settings = client.Configuration()
        settings.retries = Retry(0, redirect=False)  # a redirect is an answer as any other, and no place to go
        try:
            api = config.new_client_from_config(files, context, client_configuration=settings)
        except config.ConfigException as error:
            raise BadInput(f"The context {printable(context)!r} cannot be used: {_line(str(error))}.", remedy) from None
        except Exception as error:  # noqa: BLE001 - as above
            raise BadInput(
                f"The context {printable(context)!r} cannot be used: it gives a {type(error).__name__}.", remedy
            ) from None
        self._configuration = api.configuration
        self.address: str = api.configuration.host
        self._core: Any = client.CoreV1Api(api)
        self._network: Any = client.NetworkingV1Api(api)

    def create_pod(self, manifest: dict[str, Any]) -> str:
        """Make a pod, and return its uid."""
        name = manifest["metadata"]["name"]
        pod = self._make("make a pod", lambda: self._core.create_namespaced_pod(
            self.namespace, manifest, _request_timeout=_TIMEOUT))  # fmt: skip
        return str((pod or self.read_pod(name)).metadata.uid)

    def cut_network(self, name: str, uid: str) -> None:
        """Let nothing in or out of a pod, as far as the cluster's network keeps policies."""
        self._make("make a network policy", lambda: self._network.create_namespaced_network_policy(
            self.namespace, network_policy(name, uid), _request_timeout=_TIMEOUT))  # fmt: skip

    def remove(self, name: str) -> None:
        """Remove a pod and its policy, at once; nothing where there is none."""
        now = self._client.V1DeleteOptions(grace_period_seconds=0)
        for what, call in (
            ("remove a pod", self._core.delete_namespaced_pod),
            ("remove a network policy", self._network.delete_namespaced_network_policy),
        ):

            def delete(call: Callable[..., Any] = call) -> Any:
                with contextlib.suppress(ValueError):  # it is removed; an older cluster answers of another kind
                    return call(name, self.namespace, body=now, _request_timeout=_TIMEOUT)
                return None

            self._ask(what, delete, fine=_GONE)

    def read_pod(self, name: str) -> Any:
        """The pod as the API server has it."""
        return self._ask("read a pod", lambda: self._core.read_namespaced_pod(
            name, self.namespace, _request_timeout=_TIMEOUT))  # fmt: skip

    def await_container(self, name: str, container: str, seconds: float) -> None:
        """Wait until a container of a pod runs; raises `InfraFault` with what keeps it from that."""
        until = time.monotonic() + seconds
        while True:
            status = self.read_pod(name).status
            states = [*(status.init_container_statuses or ()), *(status.container_statuses or ())]
            for each in states:
                waiting = each.state and each.state.waiting
                if waiting and waiting.reason in _HOPELESS:
                    raise InfraFault(f"The pod cannot start: {waiting.reason}: {_line(waiting.message)}.")
                if each.name == container and each.state and each.state.running:
                    return
            if status.phase in ("Failed", "Succeeded"):
                raise InfraFault(f"The pod ended before it was used: {_end_of(status)}.")
            if time.monotonic() > until:
                why = [each.message for each in status.conditions or () if each.message]
                raise InfraFault(f"The pod did not start in {seconds:.0f} s: {_line('; '.join(why) or status.phase)}.")
            time.sleep(_LOOK)

    def end_of(self, name: str) -> str:
        """What became of a pod whose stream has ended, in words; empty where it seems to run."""
        try:
            status = self.read_pod(name).status
        except InfraFault as fault:
            return fault.message
        return _end_of(status) if status.phase in ("Failed", "Succeeded") or status.reason else ""

    def execute(self, name: str, command: list[str]) -> PodProcess:
        """Start a command in the init container of a pod."""
        return self._stream("run a command in a pod", "exec", name, RECEIVER, command)

    def attach(self, name: str) -> PodProcess:
        """The first process of a pod's container, whose standard input this is from here on."""
        return self._stream("attach to a pod", "attach", name, CONTAINER, [])

    def _stream(self, what: str, action: str, name: str, container: str, command: list[str]) -> PodProcess:
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/{action}"
        query = [("container", container), ("stdin", "true"), ("stdout", "true"), ("stderr", "true"), ("tty", "false")]
        query += [("command", part) for part in command]
        connection = self._ask(what, lambda: connect_stream(self._configuration, path, query))
        return PodProcess(connection, connection.subprotocol or "", lambda: self.end_of(name))

    def sweep(self) -> None:
        """Remove pods of ours that have ended, and those of a process of this machine that is gone."""
        selector = ",".join(f"{key}={value}" for key, value in MANAGED.items())
        found = self._ask("list pods", lambda: self._core.list_namespaced_pod(
            self.namespace, label_selector=selector, _request_timeout=_TIMEOUT))  # fmt: skip
        for each in found.items:
            mark = (each.metadata.annotations or {}).get(MARK, "")
            if _is_orphan(mark) or _is_long_over(each):
                self.remove(each.metadata.name)

    def _make(self, what: str, call: Callable[[], Any]) -> Any:
        """Create something under a name that nobody else takes; None where an earlier try has made it."""
        return self._ask(what, call, fine=_THERE)

    def _ask(self, what: str, call: Callable[[], Any], fine: int = -1) -> Any:
        """Call the API, again where it is busy; raises `InfraFault` with one sentence.

        Args:
            what: The call in words.
            call: The call.
            fine: A status that counts as an answer, of nothing.
        """
        for number in range(_TRIES):
            try:
                return call()
            except self._client.ApiException as error:
                status = error.status or 503
                if status == fine:
                    return None
                if status in _NO_RIGHT:
                    raise InfraFault(f"The cluster gives no right to {what}: {_message(error)}.") from None
                if status not in _BUSY or number == _TRIES - 1:
                    raise InfraFault(f"The cluster did not {what}: {_message(error)}.") from None
            except Exception as error:  # noqa: BLE001 - of several packages below the client
                if not _is_connection(error) or number == _TRIES - 1:
                    reason = printable(one_line(str(error) or type(error).__name__), 300)
                    raise InfraFault(f"The cluster could not be asked to {what}: {reason}.") from None
            time.sleep(_PAUSE * 2**number)
        raise AssertionError


def _is_connection(error: Exception) -> bool:
    from urllib3.exceptions import HTTPError

    return isinstance(error, (HTTPError, OSError))


def _message(error: Any) -> str:
    """What an answer with an error says, which is JSON where the API server wrote it."""
    try:
        text = json.loads(error.body)["message"]
    except (TypeError, ValueError, KeyError, RecursionError):
        text = error.reason or ""
    return f"{_line(str(text))} ({error.status})"


def _line(text: str | None) -> str:
    return printable(one_line(text or "nothing more is told"), 400).rstrip(".")


def _end_of(status: Any) -> str:
    ends = [
        f"container {each.name} ended with {ended.exit_code}, {ended.reason}"
        for each in (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
        if (ended := each.state and each.state.terminated) and ended.exit_code
    ]
    words = [status.reason or "", status.message or "", *ends]
    return _line(": ".join(each for each in words if each) or f"the pod's phase is {status.phase}")


def process_mark(pid: int = 0) -> str:
    """What names a process of this machine beyond its life: where its number counts, that, and when it began."""
    pid = pid or os.getpid()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    began = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}:{pid}:{began}"


def _is_long_over(pod: Any) -> bool:
    """Whether a pod has ended and its time is over, whoever made it."""
    lasts = timedelta(seconds=pod.spec.active_deadline_seconds or 0)
    return pod.status.phase in ("Failed", "Succeeded") and pod.metadata.creation_timestamp + lasts < datetime.now(UTC)


def _is_orphan(mark: str) -> bool:
    """Whether the process of a mark is of this machine and gone."""
    boot, _, rest = mark.partition(":")
    pid = rest.partition(":")[0]
    if not _PID.fullmatch(pid) or boot != process_mark().partition(":")[0]:
        return False
    try:
        return process_mark(int(pid)) != mark
    except OSError:
        return True
