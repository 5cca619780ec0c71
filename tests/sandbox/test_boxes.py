"""Boxes: their end is sure, and what comes out of one is not believed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from marked_processes import Marked
from repoassay.errors import InfraFault, NoIsolation
from repoassay.sandbox.box.export import ExportReceiver
from repoassay.sandbox.box.frames import FrameReader, frame_of
from repoassay.sandbox.bubblewrap import BubblewrapSandbox
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, SandboxNetwork, SandboxSetup
from repoassay.sandbox.sandbox import open_sandbox
from sandbox.conftest import PYTHON, SMALL


def children(pid: int) -> list[int]:
    return [
        int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
    ]


@pytest.mark.long
def test_what_set_a_box_up_is_killed_and_takes_everything_along(bubblewrap: BubblewrapSandbox, marked: Marked) -> None:
    session = bubblewrap.open(SandboxSetup())
    session.exec([PYTHON, "-c", f"import subprocess, sys; subprocess.Popen([sys.executable, '-c',"
                  f" 'import time; time.sleep(600)', '{marked.word}'])"])  # fmt: skip
    assert len(marked.alive()) == 1
    assert isinstance(session._box.process, subprocess.Popen)
    os.kill(session._box.process.pid, signal.SIGKILL)
    with pytest.raises(InfraFault, match="ended with -9 and no report"):
        session.exec(["sleep", "100"], timeout=60)
    with pytest.raises(InfraFault):
        session.close()
    deadline = time.monotonic() + 20
    while marked.alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked.alive() == []


def test_a_box_whose_host_is_gone_ends(bubblewrap: BubblewrapSandbox, marked: Marked) -> None:
    session = bubblewrap.open(SandboxSetup())
    session.exec([PYTHON, "-c", f"import os; os.fork() or os.execv({PYTHON!r}, [{PYTHON!r}, '-c',"
                  f" 'import time; time.sleep(600)', {marked.word!r}])"])  # fmt: skip
    assert session._box.process.stdin is not None
    session._box.process.stdin.close()  # as the kernel does when we die
    deadline = time.monotonic() + 20
    while marked.alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked.alive() == []
    with pytest.raises(InfraFault):
        session.close()


def test_boxes_at_the_same_time_do_not_see_each_other(bubblewrap: BubblewrapSandbox) -> None:
    codes: dict[int, int | None] = {}

    def run(number: int) -> None:
        line = f"test ! -e /tmp/x && echo {number} > /tmp/x && sleep 0.3 && grep -qx {number} /tmp/x"
        codes[number] = bubblewrap.run(Command(argv=("/bin/sh", "-c", line), limits=SMALL)).exit.code

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == dict.fromkeys(range(4), 0)


def test_root_of_the_machine_is_nobody_in_a_box(bubblewrap: BubblewrapSandbox, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    secret = tmp_path / "secret"
    secret.write_text("for root alone")
    secret.chmod(0o600)
    from repoassay.sandbox.protocol import Mount

    done = bubblewrap.run(Command(argv=("cat", "/secret"), mounts=(Mount(secret, "/secret"),)))
    assert (done.exit.code, done.stdout) == (1, b"")


def test_with_the_hosts_network_names_and_low_ports_stay_the_hosts(bubblewrap: BubblewrapSandbox) -> None:
    ports = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    before = ports.read_text()
    setup = Command(argv=("cat", "/etc/hosts"), network=SandboxNetwork.HOST, hosts=("service.example.com",))
    done = bubblewrap.run(setup)
    assert done.stdout == Path("/etc/hosts").read_bytes()
    assert ports.read_text() == before


def receive(*steps: Callable[[ExportReceiver], None], into: Path) -> None:
    receiver = ExportReceiver([(str(into), 100, 3)])
    try:
        for step in steps:
            step(receiver)
    finally:
        receiver.close()


def header(**document: object) -> Callable[[ExportReceiver], None]:
    return lambda receiver: receiver.take_header(0, json.dumps(document).encode())


def test_what_a_broken_box_exports_stays_in_its_folder_and_its_limits(tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    (into / "link").symlink_to(tmp_path)
    for path in ("../out", "/out", "a/../../out", "", "a//b", ".", "x\n", "x\u202e", "link", 5, None):
        with pytest.raises((ValueError, OSError)):
            receive(header(file=path, size=1, executable=False), into=into)
    with pytest.raises(ValueError, match="more bytes"):
        receive(header(file="big", size=101), into=into)
    with pytest.raises(ValueError, match="more bytes"):
        receive(header(file="less", size=-1), into=into)
    with pytest.raises(ValueError, match="more of a file"):
        receive(header(file="long", size=2), lambda receiver: receiver.take_data(b"xyz"), into=into)
    with pytest.raises(ValueError, match="more of a file"):
        receive(lambda receiver: receiver.take_data(b"x"), into=into)
    with pytest.raises(ValueError, match="more files"):
        receive(*(header(folder=name) for name in "abcd"), into=into)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["into"]


def test_frames_are_put_together_and_bounded() -> None:
    data = frame_of(b"o", 7, b"hello") + frame_of(b"e", 2**40)
    reader = FrameReader(5)
    found = [frame for byte in data for frame in reader.feed(bytes([byte]))]
    assert found == [(b"o", 7, b"hello"), (b"e", 2**40, b"")]
    with pytest.raises(ValueError, match="larger than 5"):
        list(reader.feed(frame_of(b"o", 1, b"longer")))


def test_without_bubblewrap_a_sentence_says_how_to_get_it(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(NoIsolation, match="no program bwrap") as caught:
        open_sandbox("bubblewrap", cache)
    assert "apt install bubblewrap" in caught.value.remedy
