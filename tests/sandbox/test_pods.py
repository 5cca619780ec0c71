"""Kubernetes pods as sandboxes, tried against a fake API server: see tests/fake_cluster.py for what is real of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from fake_cluster import FakeCluster, fake_cluster, is_possible
from repoassay.errors import BadInput, InfraFault, NoIsolation, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import capabilities_of
from repoassay.sandbox.pods.cluster import PodCluster, process_mark
from repoassay.sandbox.pods.pod_process import PodProcess
from repoassay.sandbox.pods.pod_sandbox import PodSandbox
from repoassay.sandbox.protocol import Access, Command, ExportSpec, Mount, SandboxNetwork, SandboxSetup
from repoassay.sandbox.sandbox import can_attest, open_sandbox
from repoassay.types import Ended, FileEdit, IsolationGrade, Limits

pytestmark = pytest.mark.skipif(not is_possible(), reason="bubblewrap, which stands for a kubelet, cannot be used here")
LIMITS = Limits(seconds=60, memory=256 * 2**20, disk=16 * 2**20, processes=64, output=64 * 2**10)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    pytest.importorskip("kubernetes")
    with fake_cluster(tmp_path) as found:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        monkeypatch.setenv("REPOASSAY_IMAGE", "python:3.11")
        monkeypatch.setattr("repoassay.sandbox.pods.cluster._PAUSE", 0.01)
        monkeypatch.setattr("repoassay.sandbox.pods.pod_sandbox._CUTTING", 1.0)
        yield found


@pytest.fixture
def pods(fake: FakeCluster, cache: Cache) -> PodSandbox:
    return PodSandbox(PodCluster("test/work"), cache, "python:3.11")


@pytest.mark.long
def test_a_session_in_a_pod_keeps_the_contract(pods: PodSandbox, fake: FakeCluster, tree: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    setup = SandboxSetup(
        env={"WORD": "told"}, cwd="/work", limits=LIMITS, hosts=("service.example.com",),
        mounts=(Mount(tree, "/in"), Mount(tree, "/work", Access.COPY_ON_WRITE), Mount(tree / "plain.txt", "/one")),
        edits={"/work/new": FileEdit(b"of the setup", False), "/in-place": FileEdit(b"read only", False)},
        collect=(ExportSpec("/work", into, max_bytes=2**22, max_files=100),),
    )  # fmt: skip
    with pods.open(setup) as session:
        done = session.exec(
            ["/bin/sh", "-c", "cat /in/plain.txt /one new /in-place; echo $WORD; id -u; cat"], stdin=b"typed"
        )
        assert done.stdout == b"as it was\nas it was\nof the setupread onlytold\n1000\ntyped"
        assert session.exec(["/bin/sh", "-c", "echo x > /in/plain.txt"]).exit.code != 0
        assert session.exec(["/bin/sh", "-c", "echo x > /usr/x; echo x > /x"]).exit.code != 0
        assert session.exec(["/bin/sh", "-c", "kill -9 1; echo changed > plain.txt"]).exit.code == 0
        assert session.read("plain.txt") == b"changed\n"
        session.write("binary", bytes(range(256)) * 4096)
        assert session.read("binary") == bytes(range(256)) * 4096
        assert session.exec(["sleep", "60"], timeout=0.5).exit.ended is Ended.TIMED_OUT
        said = session.exec(
            ["/bin/sh", "-c", "cat /proc/net/dev /etc/hosts; grep Cap /proc/self/status"]
        ).stdout.decode()
        assert "eth" not in said and "service.example.com" in said
        assert {line.split()[1] for line in said.splitlines() if line.startswith(("CapEff", "CapPrm", "CapInh"))} == {
            "0" * 16
        }
    assert (into / "plain.txt").read_text() == "changed\n"
    assert (tree / "plain.txt").read_text() == "as it was\n"
    assert fake.pods == fake.policies == {}


@pytest.mark.long
def test_a_pod_may_do_nothing_beside_its_work(pods: PodSandbox, fake: FakeCluster) -> None:
    pods.run(Command(argv=("true",), limits=LIMITS))
    pod, policy = fake.made
    spec = pod["spec"]
    assert spec["automountServiceAccountToken"] is False and spec["restartPolicy"] == "Never"
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*spec["containers"], *spec["initContainers"]):
        own = container["securityContext"]
        assert own["allowPrivilegeEscalation"] is own["privileged"] is False and own["readOnlyRootFilesystem"] is True
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert int(container["resources"]["limits"]["memory"]) < 2**30
        assert int(container["resources"]["limits"]["ephemeral-storage"]) < 2**31
    assert spec["activeDeadlineSeconds"] == 960
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert not any("hostPath" in volume for volume in spec["volumes"])
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert policy["spec"].keys() == {"podSelector", "policyTypes"}, "nothing is let through"
    assert policy["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    assert "token" not in json.dumps(fake.made).lower().replace("automountserviceaccounttoken", "")


@pytest.mark.long
def test_the_grade_is_unverified_and_nothing_is_attested(fake: FakeCluster, cache: Cache) -> None:
    sandbox = open_sandbox("kubernetes@test/work", cache)
    assert sandbox.name == "kubernetes@test/work"
    assert capabilities_of(sandbox).grade is IsolationGrade.UNVERIFIED
    assert not can_attest(sandbox, cache)
    assert fake.pods == {}


@pytest.mark.long
def test_a_cluster_that_does_not_cut_the_network_is_refused(fake: FakeCluster, cache: Cache) -> None:
    fake.enforces = False
    with pytest.raises(NoIsolation, match=r"does not cut the network of a pod: reached 127\.0\.0\.1"):
        open_sandbox("kubernetes@test", cache)
    assert fake.pods == {}


def test_a_network_that_was_never_there_proves_nothing(
    fake: FakeCluster, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repoassay.sandbox.pods.pod_sandbox.PodSandbox._reached", lambda *_: "")
    with pytest.raises(NoIsolation, match="cannot be shown"):
        open_sandbox("kubernetes@test", cache)


@pytest.mark.parametrize(
    ("status", "match"), [(403, "gives no right to make a pod"), (401, "gives no right"), (422, "did not make a pod")]
)
def test_what_is_refused_is_a_fault_of_ours(pods: PodSandbox, fake: FakeCluster, status: int, match: str) -> None:
    fake.failure = lambda request: (status, "a test says so") if request.method == "POST" else None
    with pytest.raises(InfraFault, match=match) as caught:
        pods.run(Command(argv=("true",), limits=LIMITS))
    assert "a test says so" in caught.value.message and "\n" not in caught.value.message


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.long
def test_a_busy_api_server_is_asked_again(pods: PodSandbox, fake: FakeCluster, status: int) -> None:
    left = {"POST": 2, "GET": 2, "DELETE": 2}

    def fail(request: web.Request) -> tuple[int, str] | None:
        left[request.method] -= 1
        return (status, "busy") if left[request.method] >= 0 else None

    fake.failure = fail
    assert pods.run(Command(argv=("true",), limits=LIMITS)).exit.code == 0
    assert fake.pods == {}


@pytest.mark.long
def test_a_pod_that_an_earlier_try_has_made_is_used(pods: PodSandbox, fake: FakeCluster) -> None:
    lost: list[str] = []
    make = fake.create_pod

    async def answer_is_lost(request: web.Request) -> web.Response:
        made = await make(request)
        if not lost:
            lost.append("once")
            return web.json_response({"message": "timed out"}, status=504)
        return made

    fake.create_pod = answer_is_lost  # type: ignore[method-assign]  # the route calls what stands here
    assert pods.run(Command(argv=("true",), limits=LIMITS)).exit.code == 0
    assert fake.pods == {}


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError"])
def test_an_image_that_cannot_be_had_is_a_fault_of_ours(pods: PodSandbox, fake: FakeCluster, reason: str) -> None:
    fake.waiting = reason
    with pytest.raises(InfraFault, match=f"The pod cannot start: {reason}: so says a test"):
        pods.run(Command(argv=("true",), limits=LIMITS))
    assert fake.pods == {}


@pytest.mark.long
def test_a_pod_that_is_evicted_is_a_fault_of_ours(pods: PodSandbox, fake: FakeCluster) -> None:
    session = pods.open(SandboxSetup(limits=LIMITS))
    (name,) = fake.pods
    fake.pods[name]["status"] = {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}
    fake.processes[name].kill()
    with pytest.raises(InfraFault, match=r"Evicted: the node was low on memory"):
        session.exec(["sleep", "60"], timeout=30)
    with pytest.raises(InfraFault):
        session.close()
    assert fake.pods == {}


@pytest.mark.long
def test_a_stream_that_breaks_off_is_a_fault_of_ours(pods: PodSandbox, fake: FakeCluster) -> None:
    session = pods.open(SandboxSetup(limits=LIMITS))
    fake.cut_after = 1000
    with pytest.raises(InfraFault, match="broke off"):
        session.exec(["/bin/sh", "-c", "yes | head -c 60000; sleep 60"], timeout=30)
    with pytest.raises(InfraFault):
        session.close()
    assert fake.pods == {}


@pytest.mark.parametrize("action", ["read", "exec"])
@pytest.mark.long
def test_no_redirect_gets_the_token(pods: PodSandbox, fake: FakeCluster, tmp_path: Path, action: str) -> None:
    (tmp_path / "other").mkdir()
    with fake_cluster(tmp_path / "other") as other:
        cluster = PodCluster("test/work")
        fake.leads_to = other.url
        with pytest.raises(InfraFault, match="307"):
            cluster.read_pod("any") if action == "read" else cluster.execute("any", ["true"])
        assert other.asked == []


def test_a_pod_that_never_stops_printing_can_be_given_up(
    fake: FakeCluster, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[PodProcess] = []

    def print_for_ever(_: PodSandbox, name: str, *__: object) -> None:
        sent.append(PodCluster("test/work").execute(name, ["yes"]))
        sent[0].stdout.read(1)
        time.sleep(0.5)  # until the pipe is full
        sent[0].kill()
        sent[0].wait(10)
        sent[0].close()
        raise InfraFault("given up")

    monkeypatch.setattr(PodSandbox, "_send", print_for_ever)
    with pytest.raises(InfraFault, match="given up"):
        PodSandbox(PodCluster("test/work"), cache, "python:3.11").open(SandboxSetup(limits=LIMITS))
    assert sent and fake.pods == {}


@pytest.mark.parametrize("namespace", ["..", "a/b", "work?x=1", "Work", "w\n", "-work", "a" * 64, "%2e%2e"])
def test_a_namespace_stays_one_part_of_an_address(fake: FakeCluster, namespace: str) -> None:
    with pytest.raises(BadInput, match=r"is no name of a namespace|has no context"):
        PodCluster(f"test/{namespace}")
    assert fake.asked == []


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "token: secret-word: x", "a: \0", "contexts: 3\ncurrent-context: test",
     '{"contexts": [{"name": "test", "context": {"cluster": "gone", "user": "secret-word"}}], "current-context":'
     ' "test", "clusters": [], "users": []}'],
)  # fmt: skip
def test_a_broken_kubeconfig_is_told_in_a_sentence_without_its_text(
    fake: FakeCluster, tmp_path: Path, text: str
) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(BadInput) as caught:
        PodCluster("test/work")
    assert "secret-word" not in str(caught.value) and "\n" not in caught.value.message
    assert "KUBECONFIG" in caught.value.remedy


def test_a_cluster_is_named_by_a_variable_too(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOASSAY_CLUSTER", "test/elsewhere")
    assert PodCluster("").place == "test/elsewhere"
    assert PodCluster("test").place == "test/work"


def test_pods_of_a_process_that_is_gone_are_removed(pods: PodSandbox, fake: FakeCluster) -> None:
    with pods.open(SandboxSetup(limits=LIMITS)):
        (own,) = fake.pods.values()
        gone = json.loads(json.dumps(own))
        machine, pid, _ = process_mark().split(":")
        gone["metadata"] |= {"name": "gone", "annotations": {"repoassay/process": f"{machine}:{pid}:1"}}
        elsewhere = json.loads(json.dumps(own))
        elsewhere["metadata"] |= {"name": "elsewhere", "annotations": {"repoassay/process": "another:1:1"}}
        old = json.loads(json.dumps(elsewhere))
        old["metadata"] |= {"name": "old", "creationTimestamp": "2020-01-01T00:00:00Z"}
        old["status"] = {"phase": "Succeeded"}
        odd = json.loads(json.dumps(own))
        odd["metadata"] |= {"name": "odd", "annotations": {"repoassay/process": f"{machine}:{'9' * 5000}:1"}}
        fake.pods |= {each["metadata"]["name"]: each for each in (gone, elsewhere, old, odd)}
        PodCluster("test").sweep()
        assert fake.pods.keys() == {own["metadata"]["name"], "elsewhere", "odd"}


def test_what_a_pod_cannot_do_is_refused_before_one_is_made(
    pods: PodSandbox, fake: FakeCluster, cache: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match="opens no network"):
        pods.run(Command(argv=("true",), network=SandboxNetwork.HOST))
    with pytest.raises(Unavailable, match="changes nothing of this machine"):
        pods.open(SandboxSetup(mounts=(Mount(tmp_path, "/x", Access.WRITE),)))
    for place in ("another/work", "another"):  # which is no namespace of the current context
        with pytest.raises(BadInput, match="has no context 'another'"):
            open_sandbox(f"kubernetes@{place}", cache)
    monkeypatch.delenv("REPOASSAY_IMAGE")
    with pytest.raises(BadInput, match="needs an image"):
        open_sandbox("kubernetes@test", cache)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(BadInput, match="no configuration of a Kubernetes cluster"):
        open_sandbox("kubernetes", cache)
    assert fake.made == []
