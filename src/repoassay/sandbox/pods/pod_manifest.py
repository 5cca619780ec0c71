"""The objects a session has in a cluster: a pod without rights, and the policy that cuts its network."""

from __future__ import annotations

from typing import Any

from repoassay.sandbox.box.plan import BoxFolder, BoxMount, BoxPlan
from repoassay.sandbox.launcher.identity import INSIDE

__all__ = ["CONTAINER", "MANAGED", "RECEIVER", "SENT", "SESSION", "network_policy", "pod_manifest"]

MANAGED = {"app.kubernetes.io/managed-by": "repoassay"}
SESSION = "repoassay/session"
CONTAINER, RECEIVER = "box", "receive"
SENT = "/.repoassay-sent"
"""Where the init container takes what was sent."""
_SERVER = 64 * 2**20
"""Bytes of memory for our server beside what commands may have."""
_LOGS = 2**30
"""Bytes of the node's disk for what the cluster keeps of the container's output, until it rotates that."""
_LONGER = 900
"""Seconds beside its time limit after which the cluster ends a pod, whatever has become of us."""
_WAIT = f"until test -e {SENT}/complete; do sleep 0.1 || sleep 1; done"
_CONFINED = {
    "allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}  # fmt: skip


def pod_manifest(
    name: str, image: str, command: list[str], plan: BoxPlan, files: list[BoxMount], size: int,
    annotations: dict[str, str],
) -> dict[str, Any]:  # fmt: skip
    """A pod whose init container waits for files, and whose container runs `command` with them in their places.

    Args:
        name: Of the pod, and of its session.
        image: Used as it is, but for its entry point.
        command: What runs as the first process; its standard input is the first attached stream, and ends with that.
        plan: Folders and limits.
        files: What is sent, in the order of the numbers under which it lies below `SENT`.
        size: Bytes of all that is sent.
        annotations: Who made it.
    """
    limits, stored = plan.setup.limits, 2 * size + 2**26
    folders = [place for place in plan.places if isinstance(place, BoxFolder)]
    volumes: list[dict[str, Any]] = [{"name": "sent", "emptyDir": {"sizeLimit": str(stored)}}]
    mounts: list[dict[str, Any]] = [
        {"name": "sent", "mountPath": each.target, "subPath": str(number), "readOnly": True}
        for number, each in enumerate(files)
    ]
    for number, folder in enumerate(folders):
        volumes.append({"name": f"folder-{number}", "emptyDir": {"medium": "Memory", "sizeLimit": str(folder.size)}})
        mounts.append({"name": f"folder-{number}", "mountPath": folder.target})
    memory = str(limits.memory + limits.disk + _SERVER)
    resources = {
        "limits": {"memory": memory, "ephemeral-storage": str(stored + 4 * limits.disk + _LOGS)},
        "requests": {"memory": memory, "ephemeral-storage": str(stored), "cpu": "500m"},
    }
    container = {
        "name": CONTAINER, "image": image, "command": command, "stdin": True, "stdinOnce": True, "workingDir": "/",
        "securityContext": _CONFINED, "resources": resources, "volumeMounts": mounts,
    }  # fmt: skip
    receiver = {
        "name": RECEIVER, "image": image, "command": ["/bin/sh", "-c", _WAIT], "workingDir": "/",
        "securityContext": _CONFINED, "resources": resources,
        "volumeMounts": [{"name": "sent", "mountPath": SENT}],
    }  # fmt: skip
    spec: dict[str, Any] = {
        "restartPolicy": "Never", "automountServiceAccountToken": False, "enableServiceLinks": False,
        "activeDeadlineSeconds": int(limits.seconds) + _LONGER, "terminationGracePeriodSeconds": 0,
        "hostname": "workspace", "volumes": volumes, "initContainers": [receiver], "containers": [container],
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": INSIDE, "runAsGroup": INSIDE, "fsGroup": INSIDE,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }  # fmt: skip
    if plan.setup.hosts:
        spec["hostAliases"] = [{"ip": "127.0.0.1", "hostnames": list(plan.setup.hosts)}]
        spec["securityContext"]["sysctls"] = [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]
    labels = {**MANAGED, SESSION: name}
    return {
        "apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
    }  # fmt: skip


def network_policy(name: str, pod_uid: str) -> dict[str, Any]:
    """What lets nothing in or out of the pod of that name; the cluster removes it with the pod."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod_uid}
    return {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": name, "labels": {**MANAGED, SESSION: name}, "ownerReferences": [owner]},
        "spec": {"podSelector": {"matchLabels": {SESSION: name}}, "policyTypes": ["Ingress", "Egress"]},
    }  # fmt: skip
