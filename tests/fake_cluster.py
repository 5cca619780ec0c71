"""A Kubernetes API server on the loopback for tests: what a pod needs of one, with bubblewrap in the kubelet's place.

No real cluster was to be had. What is sent is held against the official client's models of the API, strictly.
Containers run for real, with the account, rights, folders and network a pod asks for, on this machine's programs.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import re
import shutil
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

__all__ = ["Failure", "FakeCluster", "fake_cluster", "is_possible"]

_Process = asyncio.subprocess.Process
_STREAM = "v5.channel.k8s.io"
Failure = Callable[[web.Request], tuple[int, str] | None]


class FakeCluster:
    """What an API server keeps; tests change how it behaves.

    Attributes:
        enforces: Whether network policies are kept.
        failure: A status and a message to answer a request with instead, or None.
        waiting: Why containers do not start; empty when they do.
        cut_after: Bytes of a stream after which it breaks off; None for never.
        asked: Method and path of every request.
        leads_to: Address that requests of pods' streams and states are sent on to; empty for none.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, ""
        self.pods: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, dict[str, Any]] = {}
        self.made: list[dict[str, Any]] = []
        self.enforces, self.waiting = True, ""
        self.cut_after: int | None = None
        self.failure: Failure = lambda _: None
        self.asked: list[str] = []
        self.leads_to = ""
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.started: list[asyncio.subprocess.Process] = []

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        if self.leads_to and request.method == "GET" and "/pods/" in request.path:
            raise web.HTTPTemporaryRedirect(self.leads_to + request.path_qs)
        failure = self.failure(request)
        if failure is None and request.headers.get("Authorization") != "Bearer token-of-the-kubeconfig":
            failure = 401, "Unauthorized"
        if failure is not None:
            return _status(*failure)
        response: web.StreamResponse = await handler(request)
        return response

    async def create_pod(self, request: web.Request) -> web.Response:
        pod = await request.json()
        check(pod, "V1Pod")
        name = pod["metadata"]["name"]
        if name in self.pods:
            return _status(409, f'pods "{name}" already exists')
        assert pod["kind"] == "Pod" and len(name) <= 63
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        pod["metadata"] |= {"uid": str(uuid.uuid4()), "creationTimestamp": now}
        state = {"waiting": {"reason": self.waiting, "message": "so says a test"}} if self.waiting else {"running": {}}
        pod["status"] = {
            "phase": "Pending",
            "initContainerStatuses": [_container("receive", state)],
            "containerStatuses": [_container("box", {"waiting": {"reason": "PodInitializing"}})],
        }
        (self.folder / name).mkdir()
        self.pods[name] = pod
        self.made.append(pod)
        return web.json_response(pod, status=201)

    async def create_policy(self, request: web.Request) -> web.Response:
        policy = await request.json()
        check(policy, "V1NetworkPolicy")
        self.policies[policy["metadata"]["name"]] = policy
        self.made.append(policy)
        return web.json_response(policy, status=201)

    async def read_pod(self, request: web.Request) -> web.Response:
        pod = self.pods.get(request.match_info["name"])
        return _status(404, "pods not found") if pod is None else web.json_response(pod)

    async def list_pods(self, request: web.Request) -> web.Response:
        key, value = request.query["labelSelector"].split("=")
        found = [pod for pod in self.pods.values() if pod["metadata"]["labels"].get(key) == value]
        return web.json_response({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": found})

    async def delete(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        kept = self.policies if "networkpolicies" in request.path else self.pods
        gone = kept.pop(name, None)
        if gone is None:
            return _status(404, "not found")
        if kept is self.pods and (process := self.processes.pop(name, None)) is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if kept is self.pods:
            return web.json_response(gone)
        return web.json_response({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Carry the streams of a container's process: `exec` in the init container, `attach` to the other."""
        name = request.match_info["name"]
        pod = self.pods[name]
        assert [request.query[each].lower() for each in ("stdin", "stdout", "stderr")] == ["true"] * 3
        sockets = web.WebSocketResponse(protocols=(_STREAM,), max_msg_size=0)
        await sockets.prepare(request)
        first = request.path.endswith("attach")
        container = pod["spec"]["containers" if first else "initContainers"][0]
        assert request.query["container"] == container["name"]
        command = container["command"] if first else request.query.getall("command")
        argv = self._argv(pod, container, command)
        process = await asyncio.create_subprocess_exec(*argv, stdin=-1, stdout=-1, stderr=-1, env={})
        self.started.append(process)
        if first:
            self.processes[name] = process
        carrying = [asyncio.create_task(self._carry(sockets, process, channel)) for channel in (1, 2)]
        typing = asyncio.create_task(_type(sockets, process))
        await asyncio.gather(*carrying)
        code = await process.wait()
        told: dict[str, Any] = {"metadata": {}, "status": "Success"}
        if code:
            cause = {"reason": "ExitCode", "message": str(code)}
            told = {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [cause]}}
        if name in self.pods and pod["status"]["phase"] != "Failed":
            self._over(pod, first, code)
        with contextlib.suppress(ConnectionError):
            await sockets.send_bytes(b"\3" + json.dumps(told).encode())
            await sockets.close()
        typing.cancel()
        return sockets

    def _over(self, pod: dict[str, Any], first: bool, code: int) -> None:
        ended = {"terminated": {"exitCode": abs(code), "reason": "Completed" if code == 0 else "Error"}}
        status = pod["status"]
        if first:
            status |= {"phase": "Succeeded" if code == 0 else "Failed"}
            status["containerStatuses"] = [_container("box", ended)]
        elif (self.folder / pod["metadata"]["name"] / "sent/complete").exists():
            status |= {"phase": "Running"}
            status["initContainerStatuses"] = [_container("receive", ended)]
            status["containerStatuses"] = [_container("box", {"running": {}})]

    async def _carry(self, sockets: web.WebSocketResponse, process: _Process, channel: int) -> None:
        stream = process.stdout if channel == 1 else process.stderr
        assert stream is not None
        with contextlib.suppress(ConnectionError):
            while data := await stream.read(1 << 15):
                if self.cut_after is not None:
                    self.cut_after -= len(data)
                    if self.cut_after < 0:
                        await sockets.close()
                        return
                await sockets.send_bytes(bytes([channel]) + data)

    def _argv(self, pod: dict[str, Any], container: dict[str, Any], command: list[str]) -> list[str]:
        """What a kubelet and its runtime do with a container, as a command line of bubblewrap."""
        whole, own = pod["spec"]["securityContext"], container["securityContext"]
        assert own["capabilities"] == {"drop": ["ALL"]} and not own["allowPrivilegeEscalation"]
        argv = [
            "bwrap", "--unshare-user", "--uid", str(whole["runAsUser"]), "--gid", str(whole["runAsGroup"]),
            "--unshare-pid", "--as-pid-1", "--die-with-parent", "--unshare-ipc", "--unshare-uts", "--clearenv",
            "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin",
        ]  # fmt: skip
        labels = pod["metadata"]["labels"]
        chosen = [each["spec"]["podSelector"]["matchLabels"] for each in self.policies.values()]
        if self.enforces and any(each.items() <= labels.items() for each in chosen):
            argv.append("--unshare-net")
        for name in ("bin", "etc", "lib", "lib64", "sbin", "usr"):
            place = Path("/", name)
            if place.is_symlink():
                argv += ["--symlink", str(place.readlink()), str(place)]
            elif place.exists():
                argv += ["--ro-bind", str(place), str(place)]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        volumes = {each["name"]: each["emptyDir"] for each in pod["spec"]["volumes"]}
        for mount in sorted(container["volumeMounts"], key=lambda each: str(each["mountPath"])):
            volume, target = volumes[mount["name"]], mount["mountPath"]
            if volume.get("medium") == "Memory":
                argv += ["--size", volume["sizeLimit"], "--tmpfs", target]
                continue
            place = self.folder / pod["metadata"]["name"] / mount["name"]
            place.mkdir(exist_ok=True)
            source = str(place / mount.get("subPath", ""))
            argv += ["--ro-bind" if mount.get("readOnly") else "--bind", source, target]
        if aliases := pod["spec"].get("hostAliases"):
            hosts = self.folder / pod["metadata"]["name"] / "hosts"
            hosts.write_text("".join(f"{each['ip']} {' '.join(each['hostnames'])}\n" for each in aliases))
            argv += ["--ro-bind", str(hosts), "/etc/hosts"]
        return [*argv, "--remount-ro", "/", "--chdir", container["workingDir"], *command]


async def _type(sockets: web.WebSocketResponse, process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    with contextlib.suppress(ConnectionError):
        async for message in sockets:
            if message.type is not WSMsgType.BINARY or message.data[:2] == b"\xff\x00":
                break
            assert message.data[0] == 0
            process.stdin.write(message.data[1:])
            await process.stdin.drain()
    process.stdin.close()


def _container(name: str, state: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "x", "imageID": "x", "ready": True, "restartCount": 0, "state": state}


def _status(code: int, message: str) -> web.Response:
    told = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return web.json_response(told, status=code)


def check(document: Any, kind: str) -> None:
    """Hold a document against the client's model of it: no field that the API does not know, and each of its type."""
    from kubernetes import client

    listed, mapped = re.fullmatch(r"List\[(.*)\]", kind), re.fullmatch(r"Dict\[str, (.*)\]", kind)
    if listed:
        assert isinstance(document, list), (kind, document)
        for each in document:
            check(each, listed[1])
    elif mapped:
        assert isinstance(document, dict), (kind, document)
        for each in document.values():
            check(each, mapped[1])
    elif kind.startswith("V1"):
        model = getattr(client, kind)
        names = {alias: name for name, alias in model.attribute_map.items()}
        assert isinstance(document, dict) and document.keys() <= names.keys(), (kind, document.keys() - names.keys())
        for key, value in document.items():
            check(value, model.openapi_types[names[key]])
        model.from_dict(document)
    else:
        types = {"str": str, "int": int, "bool": bool}
        assert type(document) is types.get(kind, type(document)), (kind, document)


@contextlib.contextmanager
def fake_cluster(folder: Path) -> Iterator[FakeCluster]:
    """Serve a cluster while the context lasts, with a kubeconfig in `folder / "config"`."""
    cluster, loop = FakeCluster(Path(tempfile.mkdtemp(dir=folder))), asyncio.new_event_loop()
    pods, policies = "/api/v1/namespaces/work/pods", "/apis/networking.k8s.io/v1/namespaces/work/networkpolicies"
    application = web.Application(middlewares=[cluster.guard], client_max_size=2**26)
    application.add_routes([
        web.post(pods, cluster.create_pod), web.get(pods, cluster.list_pods),
        web.get(f"{pods}/{{name}}", cluster.read_pod), web.delete(f"{pods}/{{name}}", cluster.delete),
        web.get(f"{pods}/{{name}}/exec", cluster.stream), web.get(f"{pods}/{{name}}/attach", cluster.stream),
        web.post(policies, cluster.create_policy), web.delete(f"{policies}/{{name}}", cluster.delete),
    ])  # fmt: skip
    runner = web.AppRunner(application, shutdown_timeout=0.5)
    ready = threading.Event()

    async def serve() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        cluster.url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    async def stop() -> None:
        """Leave nothing pending: what is destroyed so speaks up in whatever test runs then."""
        for process in cluster.started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await runner.cleanup()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.call_soon(ready.set)  # once it runs for good: a stop that comes earlier is forgotten
        loop.run_forever()
        loop.run_until_complete(stop())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(20)
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": cluster.url}}],
        "users": [{"name": "test", "user": {"token": "token-of-the-kubeconfig"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "work"}}],
    }  # fmt: skip
    (folder / "config").write_text(json.dumps(config))
    try:
        yield cluster
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)


def is_possible() -> bool:
    """Whether containers can be run here."""
    return (
        shutil.which("bwrap") is not None
        and subprocess.run(
            ["bwrap", "--unshare-user", "--uid", "1000", "--ro-bind", "/", "/", "true"],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
