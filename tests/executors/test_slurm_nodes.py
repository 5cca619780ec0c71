"""Tasks of an array job as the nodes of a cluster: their jobs, their loss, strangers, secrets, and what ends them."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from counting_nodes import Asked, Told
from fake_slurm import FakeSlurm, fake_slurm
from interrupts import interruptible
from repoassay.errors import BadInput, InfraFault, Interrupted, Unavailable
from repoassay.executors import (
    CacheParcel,
    Cluster,
    NodeJob,
    NodeLost,
    NodeSetup,
    find_executor,
    pack_tree,
    submit_again,
)
from repoassay.executors.node_link import LinkClosed, LinkKind, NodeLink, Strangers
from waiting import wait_until

__all__ = ["fake_slurm"]

TESTS = str(Path(__file__).parents[1])
KEY = "sk-this-is-a-key-of-nobody"


@pytest.fixture(autouse=True)
def _on_nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", TESTS)
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "cache"))


def setup(**data: object) -> NodeSetup:
    return NodeSetup("counting_nodes:make_work", data, Told, {"SECRET": KEY})


@pytest.fixture
def cluster(fake_slurm: FakeSlurm) -> Iterator[Cluster]:
    found = find_executor("slurm://2?partition=cpu&cpus-per-task=3").open(setup(), 2)
    yield found
    found.close()


def all_joined(cluster: Cluster) -> None:
    wait_until(lambda: cluster.capacity == 4)


def place_of() -> Path:
    (folder,) = Path.cwd().glob(".repoassay-slurm-*")
    return folder


@pytest.mark.long
def test_jobs_are_done_on_all_nodes_and_nothing_is_left(
    fake_slurm: FakeSlurm, cluster: Cluster, tmp_path: Path
) -> None:
    all_joined(cluster)
    gate = tmp_path / "gate"
    given = [cluster.submit(NodeJob(Asked(number=n, wait_for=str(gate)))) for n in range(4)]
    wait_until(lambda: all(each.running() for each in given))
    gate.touch()
    told = [each.result(60) for each in given]
    assert [each.double for each in told] == [0, 2, 4, 6]
    assert {each.process for each in told} == set(fake_slurm.tasks)  # `exec` keeps the id
    with pytest.raises(BadInput, match="negative"):
        cluster.submit(NodeJob(Asked(number=-1))).result(60)
    cluster.close()
    with pytest.raises(Interrupted):
        cluster.submit(NodeJob(Asked(number=1)))
    assert not list(Path.cwd().iterdir())
    wait_until(lambda: not any(Path(f"/proc/{task}/exe").exists() for task in fake_slurm.tasks))


def test_a_secret_goes_to_nodes_and_to_nothing_that_slurm_keeps(
    fake_slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", KEY)
    cluster = find_executor("slurm://1").open(setup(), 1)
    try:
        assert cluster.submit(NodeJob(Asked(number=1))).result(60).secret == KEY
        submitted = (fake_slurm.folder / "submitted.json").read_text()
        assert KEY not in submitted and "PYTHONPATH" in json.loads(submitted)["env"]
        folder = place_of()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "caller.json").stat().st_mode) == 0o600
        assert not [path for path in folder.iterdir() if KEY.encode() in path.read_bytes()]
        for task in fake_slurm.tasks:
            assert KEY.encode() not in Path(f"/proc/{task}/cmdline").read_bytes()
    finally:
        cluster.close()


@pytest.mark.long
def test_what_a_lost_node_had_is_lost_and_another_does_it(
    fake_slurm: FakeSlurm, cluster: Cluster, tmp_path: Path
) -> None:
    all_joined(cluster)
    gate = tmp_path / "gate"
    plain = [cluster.submit(NodeJob(Asked(number=n, wait_for=str(gate)))) for n in range(4)]
    again = [submit_again(cluster, NodeJob(Asked(number=n, wait_for=str(gate)))) for n in range(4)]
    wait_until(lambda: all(each.running() for each in plain))
    os.killpg(fake_slurm.tasks[0], signal.SIGKILL)
    wait_until(lambda: cluster.capacity == 2)
    gate.touch()
    assert [each.result(60).double for each in again] == [0, 2, 4, 6]
    lost = [isinstance(each.exception(60), NodeLost) for each in plain]
    assert lost.count(True) == lost.count(False) == 2


@pytest.mark.long
def test_a_job_that_kills_its_nodes_is_answered(fake_slurm: FakeSlurm, cluster: Cluster) -> None:
    all_joined(cluster)
    with pytest.raises((InfraFault, Unavailable)):
        submit_again(cluster, NodeJob(Asked(number=666))).result(60)


def test_a_job_is_given_up_on_its_node(cluster: Cluster) -> None:
    cancel = threading.Event()
    given = cluster.submit(NodeJob(Asked(number=1, wait_for="/nonexistent")), cancel)
    wait_until(given.running)
    cancel.set()
    with pytest.raises(BadInput, match="given up"):
        given.result(60)


def test_a_node_fetches_the_parcels_it_lacks_once(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("sent")
    packed: list[int] = []

    def pack() -> bytes:
        packed.append(1)
        return pack_tree({"file": tmp_path / "file"})

    parcel = CacheParcel("inputs", "parcel", pack)
    for _ in range(3):
        assert cluster.submit(NodeJob(Asked(number=1), "", (parcel,))).result(60).parcel == "sent"
    assert len(packed) == 1


def failing() -> bytes:
    raise OSError("no longer there")


def test_a_parcel_that_cannot_be_read_is_a_fault(cluster: Cluster) -> None:
    with pytest.raises(InfraFault):
        cluster.submit(NodeJob(Asked(number=1), "", (CacheParcel("inputs", "other", failing),))).result(60)
    assert cluster.submit(NodeJob(Asked(number=1))).result(60).double == 2


def stranger(cluster: Cluster) -> socket.socket:
    port = json.loads((place_of() / "caller.json").read_text())["port"]
    return socket.create_connection(("127.0.0.1", port), 10)


def test_strangers_are_told_nothing_and_hold_nobody_up(cluster: Cluster) -> None:
    """They speak nonsense, say nothing, have another key, or send back what they were sent."""
    silent = [stranger(cluster) for _ in range(80)]  # more than there may be
    nonsense = stranger(cluster)
    nonsense.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + b"x" * 200)
    for each in silent[:20]:
        each.close()
    wait_until(lambda: not any(t.name == "slurm-node" and not t.is_alive() for t in threading.enumerate()))
    assert cluster.submit(NodeJob(Asked(number=4))).result(60).double == 8
    for each in (*silent, nonsense):
        each.close()


def test_strangers_who_drip_are_gone_when_the_time_is_up(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is no proof, though each comes in time."""
    all_joined(cluster)
    monkeypatch.setattr("repoassay.executors.node_link._HANDSHAKE", 0.5)
    sent = 0
    with stranger(cluster) as slow:
        slow.settimeout(0.1)
        assert len(slow.recv(32)) == 32
        while True:
            try:
                slow.send(b"x")
                sent += 1
                if slow.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert sent < 64  # who is not cut off has said all by then


def test_a_crowd_of_one_host_gives_way_and_nobody_else() -> None:
    ends = [socket.socketpair() for _ in range(5)]
    door = Strangers(3)
    for (ours, _), host in zip(ends, ["node", "crowd", "crowd", "crowd", "other"], strict=True):
        door.enter(ours, host)
    for _, theirs in ends:
        theirs.setblocking(False)
    gone = []
    for _, theirs in ends:
        try:
            gone.append(theirs.recv(1) == b"")
        except BlockingIOError:
            gone.append(False)
    assert gone == [False, True, True, False, False]
    door.leave(ends[0][0])
    for pair in ends:
        for each in pair:
            each.close()


def test_a_node_comes_in_while_strangers_hold_every_place(cluster: Cluster) -> None:
    all_joined(cluster)
    key = bytes.fromhex(json.loads((place_of() / "caller.json").read_text())["key"])
    crowd = [stranger(cluster) for _ in range(200)]
    for each in crowd:
        assert len(each.recv(32)) == 32  # each had a place when it came
    link = NodeLink(stranger(cluster), key, caller=False)
    link.send(LinkKind.HELLO, 1, b"{}")
    with pytest.raises(LinkClosed):  # noqa: PT012 - its caller says that it is of another release, or that it has nodes enough
        while True:
            link.receive()
    link.close()
    for each in crowd:
        each.close()


def test_another_key_and_an_echo_are_refused(cluster: Cluster) -> None:
    with pytest.raises(LinkClosed):
        NodeLink(stranger(cluster), bytes(32), caller=False)
    with stranger(cluster) as echo:
        echo.settimeout(30)
        nonce = echo.recv(32)
        assert len(nonce) == 32
        echo.sendall(nonce + nonce)
        assert echo.recv(64) == b""  # never a proof of the caller's


def test_a_node_answers_for_its_own_jobs_alone(fake_slurm: FakeSlurm, cluster: Cluster, tmp_path: Path) -> None:
    """One that knows the key and lies."""
    all_joined(cluster)
    gate = tmp_path / "gate"
    given = cluster.submit(NodeJob(Asked(number=7, wait_for=str(gate))))
    wait_until(given.running)
    place = json.loads((place_of() / "caller.json").read_text())
    link = NodeLink(stranger(cluster), bytes.fromhex(place["key"]), caller=False)
    from repoassay.executors.node_work import node_facts
    from repoassay.records import to_json

    link.send(LinkKind.HELLO, 1, to_json(node_facts()))
    assert link.receive()[0] is LinkKind.OPEN
    for number in range(20):
        link.send(LinkKind.ANSWER, number, b'+{"double": 0, "process": 0}')
    link.send(LinkKind.WANTED, 1, b"inputs/parcel")
    kind, _, body = link.receive()
    while kind is not LinkKind.PARCEL:
        kind, _, body = link.receive()
    assert body == b"-"
    link.close()
    gate.touch()
    assert given.result(60).double == 14


def test_what_the_first_node_says_that_cannot_work_ends_the_wait(fake_slurm: FakeSlurm) -> None:
    with pytest.raises(BadInput, match="no such thing"):
        find_executor("slurm://1").open(setup(refuse=True), None)
    assert not list(Path.cwd().iterdir())


@pytest.mark.long
def test_a_job_that_ends_before_it_connects_is_told_with_its_log(
    fake_slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repoassay.executors.slurm._ASK", 0.1)
    monkeypatch.setattr("repoassay.executors.slurm._own_addresses", lambda: ("203.0.113.1.invalid",))
    with pytest.raises(Unavailable, match=r"Job 7 of Slurm has ended.*cannot be reached"):
        find_executor("slurm://1").open(setup(), None)


@pytest.mark.long
def test_ctrl_c_while_slurm_lets_it_wait_cancels_the_job(
    fake_slurm: FakeSlurm, caplog: pytest.LogCaptureFixture
) -> None:
    (fake_slurm.folder / "busy").touch()
    threading.Timer(1, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()
    with interruptible(), caplog.at_level(logging.WARNING), pytest.raises(KeyboardInterrupt):
        find_executor("slurm://1").open(setup(), None)
    assert "waiting for the first" in caplog.text
    assert (fake_slurm.folder / "cancelled").exists() and not list(Path.cwd().iterdir())


def test_nodes_end_by_themselves_when_their_caller_is_killed(fake_slurm: FakeSlurm, tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import os, signal\nfrom repoassay.executors import NodeSetup, find_executor\nfrom counting_nodes import Told\n"
        "find_executor('slurm://1').open(NodeSetup('counting_nodes:make_work', {}, Told), 1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert fake_slurm.tasks
    wait_until(lambda: not any(Path(f"/proc/{task}/exe").exists() for task in fake_slurm.tasks))


@pytest.mark.parametrize(
    "address", ["slurm://host", "slurm://0", "slurm://2?array=0-9", "slurm://2?wrap=rm", "slurm://2?-p"]
)
def test_what_is_no_address_or_no_option_is_one_sentence(fake_slurm: FakeSlurm, address: str) -> None:
    with pytest.raises(BadInput):
        find_executor(address).open(setup(), None)
    assert not list(Path.cwd().iterdir())


def test_options_reach_sbatch(fake_slurm: FakeSlurm, cluster: Cluster) -> None:
    options = json.loads((fake_slurm.folder / "submitted.json").read_text())["options"]
    assert options["--partition"] == "cpu" and options["--cpus-per-task"] == "3" and options["--array"] == "0-1"


def test_without_slurm_it_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(Unavailable, match="no sbatch here"):
        find_executor("slurm")
