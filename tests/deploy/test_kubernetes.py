"""The manifests in `deploy/kubernetes`: their structure, that what they call exists, that what they permit is enough.

No cluster is at hand. The fields are those that KubeRay's definition of a RayJob (ray.io/v1) and Kubernetes' pods have;
unknown ones are refused here, as the server would.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import jsonschema_rs
import pytest
import yaml

from repoassay.cli.serve import serve
from repoassay.cli.submit import submit

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "deploy/kubernetes"
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
LABELS = {"type": "object", "additionalProperties": TEXT}


def thing(required: str, **properties: object) -> dict[str, object]:
    return {
        "type": "object", "properties": properties, "required": required.split(), "additionalProperties": False,
    }  # fmt: skip


def every(items: object) -> dict[str, object]:
    return {"type": "array", "items": items, "minItems": 1}


SECRET_KEY = thing("name key", name=TEXT, key=TEXT)
CONTAINER = thing(
    "name image resources securityContext",
    name=TEXT, image=TEXT, args=every(TEXT),
    env=every(thing("name", name=TEXT, value=TEXT, valueFrom=thing("secretKeyRef", secretKeyRef=SECRET_KEY))),
    ports=every(thing("containerPort", name=TEXT, containerPort=COUNT)),
    readinessProbe=thing("httpGet", httpGet=thing("path port", path=TEXT, port=TEXT)),
    resources=thing("requests limits", requests=LABELS, limits=LABELS),
    volumeMounts=every(thing("name mountPath", name=TEXT, mountPath=TEXT, readOnly=FLAG)),
    securityContext=thing(
        "privileged allowPrivilegeEscalation capabilities seccompProfile appArmorProfile procMount",
        privileged={"const": False}, allowPrivilegeEscalation={"const": False},
        capabilities=thing("drop", drop={"const": ["ALL"]}),
        seccompProfile=thing("type", type={"const": "Unconfined"}),
        appArmorProfile=thing("type", type={"const": "Unconfined"}), procMount={"const": "Unmasked"},
    ),
)  # fmt: skip
VOLUME = thing(
    "name",
    name=TEXT, emptyDir=thing("sizeLimit", sizeLimit=TEXT), persistentVolumeClaim=thing("claimName", claimName=TEXT),
    secret=thing("secretName", secretName=TEXT, items=every(thing("key path", key=TEXT, path=TEXT))),
)  # fmt: skip
POD = thing(
    "automountServiceAccountToken hostUsers securityContext containers volumes",
    automountServiceAccountToken={"const": False}, hostUsers={"const": False}, terminationGracePeriodSeconds=COUNT,
    securityContext=thing(
        "runAsNonRoot runAsUser runAsGroup fsGroup",
        runAsNonRoot={"const": True}, runAsUser={"type": "integer", "minimum": 1}, runAsGroup=COUNT, fsGroup=COUNT,
    ),
    containers=every(CONTAINER), volumes=every(VOLUME),
)  # fmt: skip
META = thing("name labels", name=TEXT, labels=LABELS)
GROUP = {"rayStartParams": LABELS, "template": thing("spec", spec=POD)}
KINDS = {
    "RayJob": thing(
        "apiVersion kind metadata spec",
        apiVersion={"const": "ray.io/v1"}, kind=TEXT, metadata=META,
        spec=thing(
            "entrypoint rayClusterSpec",
            entrypoint=TEXT, entrypointNumCpus=COUNT, submissionMode={"enum": ["K8sJobMode", "HTTPMode"]},
            shutdownAfterJobFinishes=FLAG, ttlSecondsAfterFinished=COUNT,
            rayClusterSpec=thing(
                "rayVersion headGroupSpec workerGroupSpecs",
                rayVersion=TEXT, headGroupSpec=thing("rayStartParams template", **GROUP),
                workerGroupSpecs=every(thing(
                    "groupName rayStartParams template",
                    groupName=TEXT, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT, **GROUP,
                )),
            ),
        ),
    ),
    "Deployment": thing(
        "apiVersion kind metadata spec",
        apiVersion={"const": "apps/v1"}, kind=TEXT, metadata=META,
        spec=thing(
            "replicas selector template",
            replicas=COUNT, selector=thing("matchLabels", matchLabels=LABELS),
            template=thing("metadata spec", metadata=thing("labels", labels=LABELS), spec=POD),
        ),
    ),
    "Service": thing(
        "apiVersion kind metadata spec",
        apiVersion={"const": "v1"}, kind=TEXT, metadata=META,
        spec=thing("selector ports", selector=LABELS, ports=every(thing("name port", name=TEXT, port=COUNT,
                                                                        targetPort=TEXT))),
    ),
}  # fmt: skip


def documents() -> list[dict[str, Any]]:
    return [each for path in sorted(PLACE.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())]


def pods(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        if "containers" in document:
            yield document
        for value in document.values():
            yield from pods(value)
    elif isinstance(document, list):
        for value in document:
            yield from pods(value)


def test_every_field_is_one_that_the_server_knows_and_sandboxes_are_unprivileged() -> None:
    found = documents()
    assert sorted(each["kind"] for each in found) == ["Deployment", "Deployment", "RayJob", "Service"]
    for each in found:
        errors = list(jsonschema_rs.validator_for(KINDS[each["kind"]]).iter_errors(each))
        assert not errors, [f"{error.instance_path}: {error.message}" for error in errors]


def test_what_is_mounted_is_there_and_labels_meet() -> None:
    for document in documents():
        for pod in pods(document):
            volumes = {volume["name"] for volume in pod["volumes"]}
            assert volumes == {mount["name"] for each in pod["containers"] for mount in each["volumeMounts"]}
        if document["kind"] == "Deployment":
            assert document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"]
    service, front = (next(each for each in documents() if each["metadata"]["name"] == name)
                      for name in ("repoassay", "repoassay-front"))  # fmt: skip
    assert service["spec"]["selector"].items() <= front["spec"]["template"]["metadata"]["labels"].items()
    (container,) = front["spec"]["template"]["spec"]["containers"]
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]


def test_what_they_call_exists() -> None:
    job = next(each for each in documents() if each["kind"] == "RayJob")
    words = shlex.split(job["spec"]["entrypoint"])
    assert words[:2] == ["repoassay", "submit"]
    assert_parsed(submit, words[2:])
    assert job["spec"]["rayClusterSpec"]["rayVersion"] == version("ray")
    assert f"repoassay:{version('repoassay')}" == next(pods(job))["containers"][0]["image"]
    for document in documents():
        if document["kind"] == "Deployment":
            words = next(pods(document))["containers"][0]["args"]
            assert words[:2] == ["repoassay", "serve"]
            assert_parsed(serve, words[2:])


def assert_parsed(command: click.Command, words: list[str]) -> None:
    with click.Context(click.Group("repoassay")) as whole:
        command.make_context("verb", list(words), parent=whole)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.long
def test_an_account_without_any_capability_makes_sandboxes_where_proc_is_whole(masked: bool) -> None:
    """What the security context asks for is enough, and `procMount: Unmasked` is needed."""
    python = program_for(10001)
    with tempfile.TemporaryDirectory(dir="/tmp") as cache:
        Path(cache).chmod(0o777)
        line = examined_sandbox(python, cache, masked)
    assert ("missing" if masked else "namespaces work without root") in line


def examined_sandbox(python: str, cache: str, masked: bool) -> str:
    """What `repoassay doctor` says of the sandbox to an account without capabilities."""
    mask = "mount --bind /dev/null /proc/keys && " if masked else ""
    drop = "setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all"
    packages = os.pathsep.join((str(ROOT / "src"), sysconfig.get_paths()["purelib"]))
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{mask}exec {drop} {shlex.quote(python)} -m repoassay doctor"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": packages, "HOME": cache, "REPOASSAY_CACHE": cache},
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    return next(each for each in done.stdout.splitlines() if each[2:].startswith("sandbox"))


def program_for(account: int) -> str:
    """A Python of our version that another account can start."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, to become an account without capabilities")
    if not Path("/proc/keys").exists():
        pytest.skip("the kernel has no /proc/keys to mask")
    wanted = (
        "import os, sys; sys.exit(not os.access(sys.executable, os.X_OK) or"
        f" sys.version_info[:2] != {sys.version_info[:2]!r})"
    )
    for program in (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"):
        line = ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups", program, "-c", wanted]
        if subprocess.run(line, check=False, capture_output=True, cwd="/").returncode == 0:
            return program
    pytest.skip("no Python of this version can be started by another account")
