"""The contract of `SandboxSession`, kept with and without isolation."""

from __future__ import annotations

import errno
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repoassay.errors import BadInput, InfraFault, Interrupted, NoIsolation, Unavailable
from repoassay.plugins import Plugin
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.cancellable import CancellableSandbox
from repoassay.sandbox.cgroups import make_cgroups
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import (
    Access,
    Command,
    Completed,
    ExportSpec,
    Mount,
    PortForward,
    Sandbox,
    SandboxSession,
    SandboxSetup,
)
from repoassay.sandbox.sandbox import _opened, open_sandbox
from repoassay.types import Ended, FileEdit, Limits
from sandbox.conftest import PYTHON, SMALL

SESSIONS = ("sandbox", "bubblewrap", "podman", "docker", "apptainer", "remote", "none")


@pytest.fixture
def session(kind: Sandbox, tree: Path, tmp_path: Path) -> Iterator[SandboxSession]:
    setup = SandboxSetup(
        env={"GREETING": "hello"},
        cwd="/workspace",
        mounts=(Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),),
        scratch=("/workspace", "/workspace/output"),
        edits={"/workspace/instruction.md": FileEdit(b"Do it."), "/workspace/made/in/": FileEdit(b"")},
        collect=(ExportSpec("/workspace/output", tmp_path / "got", links=("before",)),),
        log=tmp_path / "log.txt",
        limits=SMALL,
    )
    with kind.open(setup) as opened:
        yield opened


DEAD = "is_dead() { for n in $(seq 100); do grep -q 'State:.*Z' /proc/$(cat $1)/status 2>/dev/null && return;"
DEAD += " kill -0 $(cat $1) 2>/dev/null || return 0; sleep 0.05; done; return 1; }; is_dead"


@pytest.mark.every_sandbox
def test_links_cross_as_what_they_lead_to_in_the_sandbox(session: SandboxSession, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    line = f"mkdir kit; echo x > kit/tool; echo y > ../made/lib; ln -s kit also; ln -s {tmp_path}/secret host; "
    line += (
        "ln -s ../made/lib relative; ln -s /workspace/made/lib absolute; ln -s kit before; ln -s /proc/self/stat stat"
    )
    assert shell(session, line, cwd="output").exit.code == 0
    rejected = session.close().rejected
    crossed = {
        str(path.relative_to(tmp_path / "got")): path for path in (tmp_path / "got").rglob("*") if path.is_file()
    }
    assert {name: path.read_text() for name, path in crossed.items()} == {
        "kit/tool": "x\n", "also/tool": "x\n", "relative": "y\n", "absolute": "y\n",
    }  # fmt: skip
    assert {each.path for each in rejected} == {"host", "before", "stat"}


def shell(session: SandboxSession, line: str, **options: object) -> Completed:
    return session.exec(["/bin/sh", "-c", line], **options)  # type: ignore[arg-type]  # any option of exec


@pytest.mark.every_sandbox
def test_commands_follow_one_another_in_one_place(session: SandboxSession) -> None:
    assert shell(session, "cat instruction.md; cd made/in && ls -A; echo $GREETING > ../../note").stdout == b"Do it."
    assert shell(session, "cat note repo/plain.txt").stdout == b"hello\nas it was\n"
    done = shell(session, "cat; echo $MORE; echo bad >&2; exit 7", cwd="repo", stdin=b"typed ", env={"MORE": "x"})
    assert (done.exit.code, done.stdout, done.stderr) == (7, b"typed x\n", b"bad\n")
    assert shell(session, "kill -TERM $$").exit.signal == 15
    assert session.exec(["/nonexistent"]).exit.code == 127
    assert session.exec(["/etc/passwd"]).exit.code == 126
    assert session.exec(["a\0b"]).exit.code == 126


def test_several_commands_run_at_the_same_time(session: SandboxSession) -> None:
    shell(session, "mkfifo one two")
    with ThreadPoolExecutor(2) as pool:  # each waits for the other
        first = pool.submit(shell, session, "echo a > one; cat two", timeout=20)
        second = pool.submit(shell, session, "cat one; echo b > two", timeout=20)
    assert (first.result().stdout, second.result().stdout) == (b"b\n", b"a\n")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: shell(session, f"echo {number}").stdout, range(40)))
    assert found == [f"{number}\n".encode() for number in range(40)]


def test_what_a_command_leaves_running_goes_on_and_may_print(session: SandboxSession) -> None:
    later = "while [ ! -e go ]; do sleep 0.02; done; yes | head -c 300000; echo alive > sign"
    assert shell(session, f"({later}) & echo started", timeout=30).stdout == b"started\n"
    assert (
        shell(session, "touch go; while [ ! -s sign ]; do sleep 0.05; done; cat sign", timeout=60).stdout == b"alive\n"
    )


@pytest.mark.long
def test_a_timeout_ends_one_command_and_its_group_alone(session: SandboxSession) -> None:
    shell(session, "sleep 60 & echo $! > kept")
    done = shell(
        session,
        "trap '' TERM INT; sleep 50 & echo $! > gone; echo here; while :; do sleep 0.1; done",
        timeout=1.5,
    )
    assert (done.exit.ended, done.stdout) == (Ended.TIMED_OUT, b"here\n")
    assert done.exit.wall < 30
    assert shell(session, f"kill -0 $(cat kept) || exit 9; {DEAD} gone").exit.code == 0


@pytest.mark.every_sandbox
def test_killing_ends_every_command_but_not_the_session(session: SandboxSession) -> None:
    shell(session, "sleep 61 & echo $! > left")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shell, session, "echo ready > begun; sleep 62")
        shell(session, "while [ ! -s begun ]; do sleep 0.02; done", timeout=60)
        session.kill()
        assert waiting.result(20).exit.signal == 9
    assert shell(session, f"{DEAD} left").exit.code == 0


def test_output_is_bounded_for_each_command(session: SandboxSession) -> None:
    done = shell(session, "yes | head -c 3000000; echo end", output=1000)
    assert done.exit.output_truncated
    assert len(done.stdout) < 1100
    assert done.stdout.endswith(b"end\n")
    assert not shell(session, "echo short", output=1000).exit.output_truncated


def test_files_are_written_and_read(session: SandboxSession) -> None:
    content = bytes(range(256)) * 5000
    session.write("a/b/c.bin", content)
    session.write("/workspace/run.sh", b"#!/bin/sh\necho ran\n", executable=True)
    assert session.read("/workspace/a/b/c.bin") == content
    assert shell(session, "./run.sh").stdout == b"ran\n"
    session.write("run.sh", b"shorter")
    assert session.read("run.sh", 7) == b"shorter"
    assert shell(session, "test -x run.sh").exit.code == 1
    for path, number in (("missing", errno.ENOENT), ("a", errno.EISDIR), ("a/b/c.bin", errno.EFBIG)):
        with pytest.raises(OSError) as caught:
            session.read(path, 1000)
        assert caught.value.errno == number
    with pytest.raises(OSError):
        session.write("run.sh/below", b"")
    for do in (session.read, lambda path: session.write(path, b"")):
        with pytest.raises(ValueError, match="null"):
            do("a\0b")


def test_a_snapshot_tells_later_what_was_added_changed_and_deleted(session: SandboxSession) -> None:
    before = session.snapshot()
    assert session.diff(before) == ()
    shell(session, "echo new > repo/new; chmod +x repo/new; echo more >> repo/plain.txt")
    shell(session, "rm -r repo/inner; ln -s / repo/l; echo elsewhere > output/x; cat repo/program")
    found = {change.path: change for change in session.diff(before)}
    assert {path: change.change for path, change in found.items()} == {
        "/workspace/repo/inner/data.bin": "deleted",
        "/workspace/repo/l": "added",
        "/workspace/repo/new": "added",
        "/workspace/repo/plain.txt": "changed",
    }
    assert (found["/workspace/repo/new"].executable, found["/workspace/repo/new"].size) == (True, 4)
    assert not found["/workspace/repo/l"].regular
    assert session.read(found["/workspace/repo/plain.txt"].path) == b"as it was\nmore\n"
    later = session.snapshot("output", "repo")
    shell(session, "echo y > output/y; touch repo/new")
    assert [(c.path, c.change) for c in session.diff(later)] == [
        ("/workspace/output/y", "added"), ("/workspace/repo/new", "changed"),
    ]  # fmt: skip
    with pytest.raises(BadInput, match="no snapshot"):
        session.diff("snapshot-9")
    with pytest.raises(OSError):
        session.snapshot("nowhere")


@pytest.mark.every_sandbox
def test_closing_collects_and_ends_the_session(session: SandboxSession, tmp_path: Path, tree: Path) -> None:
    session.note("a line")
    shell(session, "echo made > output/file; ln -s /dev/null output/link; sleep 60 &")
    shell(session, "echo unheard", logged=False)
    done = session.close()
    assert (done.exit.ended, done.exit.code) == (Ended.EXITED, 0)
    assert [(each.path, "link" in each.reason) for each in done.rejected] == [("link", True)]
    assert (tmp_path / "got/file").read_text() == "made\n"
    assert (tmp_path / "log.txt").read_text() == "a line\n"
    assert (tree / "plain.txt").read_text() == "as it was\n"
    assert session.close() == done
    assert session.ended
    session.note("not kept")
    for do in (
        lambda: session.exec(["true"]), lambda: session.read("x"), lambda: session.write("x", b""),
        session.snapshot, session.kill,
    ):  # fmt: skip
        with pytest.raises(Interrupted, match="has ended"):
            do()


def test_closing_from_elsewhere_interrupts_whoever_waits(session: SandboxSession) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shell, session, "echo ready > begun; sleep 63")
        shell(session, "while [ ! -s begun ]; do sleep 0.02; done", timeout=60)
        session.close()
        with pytest.raises(Interrupted):
            waiting.result(20)


@pytest.mark.long
def test_the_time_of_the_session_ends_it_and_what_runs_in_it(kind: Sandbox) -> None:
    with kind.open(SandboxSetup(limits=Limits(seconds=1.5))) as session:
        done = shell(session, "echo out; sleep 64")
        assert (done.exit.ended, done.stdout) == (Ended.TIMED_OUT, b"out\n")
        assert session.ended
        with pytest.raises(Interrupted, match="timed out"):
            shell(session, "true")
        assert session.close().exit.ended is Ended.TIMED_OUT


def test_a_session_can_be_cancelled(kind: Sandbox) -> None:
    cancel = threading.Event()
    with kind.open(SandboxSetup(), cancel) as session:
        threading.Timer(0.3, cancel.set).start()
        with pytest.raises(Interrupted, match="cancelled"):
            shell(session, "sleep 65")
        assert session.close().exit.ended is Ended.CANCELLED


def test_what_a_session_answers_at_is_open_until_everything_is_dead(kind: Sandbox) -> None:
    from repoassay.sandbox.port_forward import open_door
    from repoassay.sandbox.protocol import SandboxNetwork

    closed = threading.Event()

    def serve(listening: object) -> None:
        threading.Thread(target=answer, args=(listening,), daemon=True).start()

    def answer(listening: object) -> None:
        import socket

        assert isinstance(listening, socket.socket)
        with listening, listening.accept()[0] as caller:
            caller.sendall(b"from outside")

    door: PortForward = open_door(kind, SandboxNetwork.NONE, 8765, serve, closed.set)
    with kind.open(SandboxSetup(doors=(door,))) as session:
        code = f"import socket; print(socket.create_connection(('127.0.0.1', {door.port})).recv(99))"
        assert session.exec([PYTHON, "-c", code]).stdout == b"b'from outside'\n"
        assert not closed.is_set()
    assert closed.is_set()


def test_a_function_outside_is_run_as_a_command_is(kind: Sandbox, tmp_path: Path) -> None:
    def work(session: SandboxSession) -> int:
        session.write("/out/made", session.exec(["echo", "made"]).stdout)
        return 3

    def hang(session: SandboxSession) -> int:
        return session.exec(["sleep", "66"]).exit.code or 5

    collect = (ExportSpec("/out", tmp_path / "got"),)
    done = kind.run(Command(outside=work, scratch=("/out",), collect=collect))
    assert (done.exit.ended, done.exit.code) == (Ended.EXITED, 3)
    assert (tmp_path / "got/made").read_text() == "made\n"
    limits = Limits(seconds=0.5)
    assert kind.run(Command(outside=hang, limits=limits)).exit.ended is Ended.TIMED_OUT


def test_an_error_outside_is_the_callers_unless_the_sandbox_had_ended(kind: Sandbox) -> None:
    def wrong(_: SandboxSession) -> int:
        raise ValueError("not right")

    def late(session: SandboxSession) -> int:
        while not session.ended:
            time.sleep(0.01)
        raise ValueError("too late")

    with pytest.raises(ValueError, match="not right"):
        kind.run(Command(outside=wrong))
    assert kind.run(Command(outside=late, limits=Limits(seconds=0.5))).exit.ended is Ended.TIMED_OUT


@pytest.mark.parametrize(
    "setup",
    [SandboxSetup(mounts=(Mount(Path("/nonexistent"), "/in"),)), SandboxSetup(edits={"/tmp/missing": None})],
)
def test_what_cannot_be_set_up_is_a_fault(sandbox: NamespaceSandbox, setup: SandboxSetup) -> None:
    with pytest.raises(InfraFault, match="could not be set up"):
        sandbox.open(setup)


def test_opening_and_running_are_quick(sandbox: NamespaceSandbox) -> None:
    took: list[float] = []
    for _ in range(3):
        began = time.monotonic()
        with sandbox.open(SandboxSetup()) as session:
            for _ in range(20):
                session.exec(["true"])
        took.append(time.monotonic() - began)
    assert min(took) < 3


class Plain:
    """A plug-in's sandbox as written before there were sessions."""

    def run(self, command: Command, cancel: object = None) -> Completed:
        return NoSandbox().run(command)


class Own(Plain):
    """One that opens sessions, or fails to."""

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        if setup.cwd == "/fail":
            raise RuntimeError("no luck")
        return NoSandbox().open(setup, cancel)


def plugged(make: Callable[[object], object], cache: Cache) -> Sandbox:
    return _opened(Plugin("repoassay.sandboxes", "mine", "mine:Sandbox", "mine", "1"), make, cache)


def test_a_plug_in_without_sessions_says_so(cache: Cache) -> None:
    plain = plugged(lambda _: Plain(), cache)
    with pytest.raises(Unavailable, match="The sandbox mine runs commands but opens no sessions") as caught:
        plain.open(SandboxSetup())
    assert not isinstance(caught.value, NoIsolation)
    assert "open(setup, cancel)" in caught.value.remedy
    with pytest.raises(Unavailable):
        plain.run(Command(outside=lambda session: 0))


def test_a_plug_in_may_open_sessions_and_its_faults_are_told(cache: Cache) -> None:
    own = plugged(lambda _: Own(), cache)
    with own.open(SandboxSetup()) as session:
        assert shell(session, "echo here").stdout == b"here\n"
    assert own.run(Command(outside=lambda session: session.exec(["false"]).exit.code or 0)).exit.code == 1
    with pytest.raises(InfraFault, match="no luck"):
        own.open(SandboxSetup(cwd="/fail"))


def test_it_is_had_by_name(cache: Cache) -> None:
    with open_sandbox("namespaces", cache).open(SandboxSetup()) as session:
        assert session.exec(["id", "-u"]).stdout == b"1000\n"


@pytest.mark.parametrize("place", ["namespace_session.Drain.add", "box.session.code_bundle"])
def test_ctrl_c_while_a_session_is_made_leaves_nothing(
    place: str, request: pytest.FixtureRequest, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A KeyboardInterrupt comes in any line: here when everything is there that somebody has to remove."""
    sandbox = NamespaceSandbox(cache) if place.startswith("name") else request.getfixturevalue("bubblewrap")
    made: list[list[str]] = []

    def noted(*limits: int) -> list[str]:
        made.append(make_cgroups(*limits))
        return made[-1]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(f"{type(sandbox).__module__}.make_cgroups", noted)
    monkeypatch.setattr(f"repoassay.sandbox.{place}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sandbox.open(SandboxSetup())
    assert not list(tmp_path.glob("*/box-*"))
    assert made and not any(Path(folder).exists() for folders in made for folder in folders)


def test_what_an_event_ends_has_no_result(cache: Cache) -> None:
    """What a command that was cut short says must reach nobody: it would be kept as a verdict, or as an entry."""
    cancel, whole = threading.Event(), NamespaceSandbox(cache)
    ending = CancellableSandbox(whole, cancel)
    assert ending.run(Command(argv=("true",))).exit.code == 0
    assert isinstance(ending, NamespaceSandbox) and ending.capabilities == whole.capabilities
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Interrupted, match="stopped"):
        ending.run(Command(argv=("sleep", "600")))
    with pytest.raises(Interrupted), ending.open(SandboxSetup()) as session:
        session.exec(["sleep", "600"])
