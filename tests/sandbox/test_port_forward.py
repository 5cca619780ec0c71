"""Port forwards: what answers at them, and that nothing else of the host or of other sandboxes does."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repoassay.errors import InfraFault, NoIsolation, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.network import network_of, permitted_hosts
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.port_forward import open_door
from repoassay.sandbox.protocol import Command, Completed, PortForward, Sandbox, SandboxNetwork
from repoassay.types import Ended, NetworkPolicy

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]

ASK = """
import socket, sys
for port in map(int, sys.argv[1:]):
    with socket.create_connection(("127.0.0.1", port), 10) as door:
        door.sendall(b"x" * 100_000)
        door.shutdown(socket.SHUT_WR)
        print(b"".join(iter(lambda: door.recv(65536), b"")).decode())
"""
LOOK = """
import socket, sys
family, address = int(sys.argv[1]), eval(sys.argv[2])
with socket.socket(family) as probe:
    probe.settimeout(3)
    try:
        probe.connect(address)
        print("reached", probe.recv(9))
    except OSError as error:
        print(error.errno)
"""
CUT = (errno.ECONNREFUSED, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EHOSTUNREACH, errno.EINVAL)


class Greeter:
    """Answers at any number of port forwards, each guest by a thread, with its name and how much the guest said."""

    def __init__(self, name: str = "greeter") -> None:
        self.name = name
        self.sockets: list[socket.socket] = []
        self.ends = 0
        self._lock = threading.Lock()

    def opened(self, listening: socket.socket) -> None:
        self.sockets.append(listening)
        threading.Thread(target=self._serve, args=(listening,), daemon=True).start()

    def closed(self) -> None:
        self.ends += 1
        for listening in self.sockets:
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def door(self, port: int) -> PortForward:
        return PortForward(port, self.opened, self.closed)

    def _serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._greet, args=(listening.accept()[0],), daemon=True).start()

    def _greet(self, guest: socket.socket) -> None:
        with contextlib.suppress(OSError), guest:
            said = sum(map(len, iter(lambda: guest.recv(65536), b"")))
            guest.sendall(f"{self.name} heard {said}".encode())


@pytest.fixture
def greeter() -> Iterator[Greeter]:
    made = Greeter()
    yield made
    for listening in made.sockets:
        listening.close()


def descriptors() -> list[str]:
    found = []
    for place in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(place.readlink()))
    return sorted(found)


@pytest.mark.boxes_of_root
def test_somebody_outside_answers_at_a_door(inside: Inside, greeter: Greeter) -> None:
    other = Greeter("other")
    done = inside(ASK, "8080", "80", "8080", doors=(greeter.door(8080), other.door(80)))
    assert done.stdout.split(b"\n")[:3] == [b"greeter heard 100000", b"other heard 100000", b"greeter heard 100000"]
    assert (greeter.ends, other.ends) == (1, 1)


@pytest.mark.every_sandbox
def test_a_door_is_open_before_the_command_starts_and_over_after_its_end(inside: Inside) -> None:
    told: list[str] = []

    def opened(listening: socket.socket) -> None:
        told.append("opened")
        listening.close()

    door = PortForward(8080, opened, lambda: told.append("closed"))
    done = inside("print('ran')", doors=(door,), channel=True, on_channel=lambda _: None)
    assert (done.stdout, told) == (b"ran\n", ["opened", "closed"])


def test_a_command_that_leaves_children_cannot_hold_a_door_open(inside: Inside, greeter: Greeter) -> None:
    code = "import os, socket, time\nheld = socket.create_connection(('127.0.0.1', 8080))\n"
    code += "if os.fork() == 0: time.sleep(60)"
    assert inside(code, doors=(greeter.door(8080),)).exit.code == 0
    assert greeter.ends == 1


def test_many_guests_at_once(inside: Inside, greeter: Greeter) -> None:
    code = """
import socket
guests = [socket.create_connection(("127.0.0.1", 8080)) for _ in range(200)]
for number, guest in enumerate(guests):
    guest.sendall(b"y" * number); guest.shutdown(socket.SHUT_WR)
print(sum(int(guest.recv(99).split()[-1]) for guest in guests))
"""
    assert inside(code, doors=(greeter.door(8080),)).stdout == f"{sum(range(200))}\n".encode()


def test_two_sandboxes_have_the_same_port_and_different_doors(sandbox: NamespaceSandbox) -> None:
    greeters, outputs = [Greeter(f"number {number}") for number in range(4)], [b""] * 4
    argv = (sys.base_prefix + f"/bin/python3.{sys.version_info.minor}", "-I", "-c", ASK, *["8080"] * 5)

    def run(number: int) -> None:
        outputs[number] = sandbox.run(Command(argv=argv, doors=(greeters[number].door(8080),))).stdout

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == [f"number {number} heard 100000\n".encode() * 5 for number in range(4)]


def test_another_sandboxs_door_is_not_there(inside: Inside, sandbox: NamespaceSandbox, greeter: Greeter) -> None:
    ready, seen = threading.Event(), threading.Event()

    def opened(listening: socket.socket) -> None:
        greeter.opened(listening)
        ready.set()

    command = Command(argv=("sleep", "30"), doors=(PortForward(8081, opened, greeter.closed),))
    thread = threading.Thread(target=sandbox.run, args=(command, seen))
    thread.start()
    ready.wait(20)
    try:
        looked = inside(LOOK, str(int(socket.AF_INET)), repr(("127.0.0.1", 8081)), doors=(Greeter().door(8080),))
    finally:
        seen.set()
        thread.join()
    assert int(looked.stdout) == errno.ECONNREFUSED


def own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "192.0.2.2"
        return str(probe.getsockname()[0])


@pytest.mark.by_day(4)
@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, ("127.0.0.1", 8081)),
        (socket.AF_INET, ("127.0.0.2", 8080)),
        (socket.AF_INET6, ("::1", 8080)),
        (socket.AF_INET6, ("::ffff:127.0.0.1", 8081)),
        (socket.AF_INET, (own_address(), 22)),
        (socket.AF_INET, (own_address(), 8080)),
        (socket.AF_INET, ("169.254.169.254", 80)),
        (socket.AF_INET, ("192.0.2.1", 53)),
        (socket.AF_INET6, ("fd00:ec2::254", 80)),
        (socket.AF_INET6, ("2001:db8::1", 443)),
    ],
)
def test_beside_a_door_nothing_answers(inside: Inside, greeter: Greeter, family: int, address: object) -> None:
    done = inside(LOOK, str(int(family)), repr(address), doors=(greeter.door(8080),))
    assert int(done.stdout) in CUT


@pytest.mark.parametrize("kind", ["IPv4", "IPv6", "abstract"])
def test_servers_of_the_host_stay_out_of_reach(inside: Inside, greeter: Greeter, kind: str) -> None:
    kinds: dict[str, tuple[int, tuple[str, int] | str]] = {
        "IPv4": (socket.AF_INET, ("127.0.0.1", 0)),
        "IPv6": (socket.AF_INET6, ("::1", 0)),
        "abstract": (socket.AF_UNIX, "\0repoassay-" + uuid.uuid4().hex),
    }
    family, address = kinds[kind]
    with socket.socket(family) as listening:
        try:
            listening.bind(address)
        except OSError:
            pytest.skip(f"this machine has no {kind}")
        listening.listen()
        name = listening.getsockname()
        place = repr(name[:2] if isinstance(name, tuple) else name)
        assert int(inside(LOOK, str(int(family)), place, doors=(greeter.door(8080),)).stdout) in CUT


def test_names_are_not_resolved_and_datagrams_go_nowhere(inside: Inside, greeter: Greeter) -> None:
    code = """
import socket
try: socket.getaddrinfo("example.com", 80)
except socket.gaierror: print("no name")
for family, address in ((2, ("192.0.2.1", 53)), (2, ("255.255.255.255", 67)), (10, ("ff02::1", 9))):
    try: print(socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", address))
    except OSError as error: print("cut")
"""
    assert inside(code, doors=(greeter.door(8080),)).stdout == b"no name\ncut\ncut\ncut\n"


def test_the_command_holds_no_descriptor_of_a_door(inside: Inside, greeter: Greeter) -> None:
    code = "import os; print(sorted(set(map(int, os.listdir('/proc/self/fd'))) - {0, 1, 2, 3}))"
    assert inside(code, doors=(greeter.door(8080),)).stdout == b"[]\n"


def test_a_door_cannot_be_taken_over(inside: Inside, greeter: Greeter) -> None:
    code = """
import socket
for address in ("127.0.0.1", "0.0.0.0"):
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, option, 1)
            try: thief.bind((address, 8080)); thief.listen(); print("taken")
            except OSError as error: print(error.errno)
"""
    assert inside(code, doors=(greeter.door(8080),)).stdout == f"{errno.EADDRINUSE}\n".encode() * 4


@pytest.mark.every_sandbox
def test_an_open_door_changes_no_interface_or_route(inside: Inside, greeter: Greeter) -> None:
    code = "import socket; print([n for _, n in socket.if_nameindex()], open('/proc/net/route').read().count('\\n'))"
    assert inside(code, doors=(greeter.door(8080),)).stdout == b"['lo'] 1\n"


def test_no_descriptor_is_left_behind(sandbox: NamespaceSandbox) -> None:
    def run(*ports: int) -> None:
        doors = tuple(Greeter().door(port) for port in ports)
        with contextlib.suppress(InfraFault):
            sandbox.run(Command(argv=("true",), doors=doors))

    run(8080)
    before = descriptors()
    for _ in range(3):
        run(8080, 8081)
        run(8080, 8080)
    # Threads that served a port forward may still be on their way out.
    for _ in range(100):
        if descriptors() == before:
            break
        threading.Event().wait(0.02)
    assert descriptors() == before


@pytest.mark.parametrize("port", [70000, 0, -1])
def test_an_impossible_port_is_a_fault_in_one_sentence(sandbox: NamespaceSandbox, greeter: Greeter, port: int) -> None:
    for chosen in (sandbox, NoSandbox()):
        with pytest.raises(InfraFault, match=f"door.* at port {port}") as caught:
            chosen.run(Command(argv=("true",), doors=(greeter.door(port),)))
        assert "Traceback" not in str(caught.value)
    assert greeter.ends == 0


def test_one_port_is_one_door(sandbox: NamespaceSandbox, greeter: Greeter) -> None:
    with pytest.raises(InfraFault, match="no door at port 8080"):
        sandbox.run(Command(argv=("true",), doors=(greeter.door(8080), greeter.door(8080))))


def test_an_owner_that_fails_leaves_no_sandbox_behind(sandbox: NamespaceSandbox) -> None:
    ends: list[int] = []

    def opened(listening: socket.socket) -> None:
        listening.close()
        raise RuntimeError("the owner's own mistake")

    for chosen in (sandbox, NoSandbox()):
        doors = tuple(
            open_door(chosen, SandboxNetwork.NONE, port, opened, lambda: ends.append(1)) for port in (8080, 8081)
        )
        with pytest.raises(RuntimeError, match="own mistake"):
            chosen.run(Command(argv=("sleep", "60"), doors=doors))
    assert ends == [1, 1]


def test_a_cancelled_command_ends_its_doors(sandbox: NamespaceSandbox, greeter: Greeter) -> None:
    cancel = threading.Event()

    def opened(listening: socket.socket) -> None:
        greeter.opened(listening)
        cancel.set()

    done = sandbox.run(Command(argv=("sleep", "60"), doors=(PortForward(8080, opened, greeter.closed),)), cancel)
    assert (done.exit.ended, greeter.ends) == (Ended.CANCELLED, 1)


def test_node_comes_to_a_door_too(sandbox: NamespaceSandbox) -> None:
    if not Path("/usr/bin/node").exists():
        pytest.skip("needs node in /usr/bin")
    greeter = Greeter()
    code = "const s = require('net').connect(8080, 'localhost', () => s.end('hello'));"
    code += "s.on('data', d => console.log(`${d}`))"
    done = sandbox.run(Command(argv=("node", "-e", code), doors=(greeter.door(8080),)))
    assert done.stdout == b"greeter heard 5\n"


@pytest.mark.parametrize("network", [SandboxNetwork.NONE, SandboxNetwork.HOST])
@pytest.mark.parametrize("kind", ["namespaces", "none"])
def test_a_door_made_for_a_sandbox_works_there(
    sandbox: NamespaceSandbox, kind: str, network: SandboxNetwork, greeter: Greeter
) -> None:
    chosen: Sandbox = sandbox if kind == "namespaces" else NoSandbox()
    if chosen.name.startswith("http") and network is SandboxNetwork.HOST:
        with pytest.raises(Unavailable, match="opens no network"):
            chosen.run(Command(argv=("true",), network=network))
        return
    door = open_door(chosen, network, 8080, greeter.opened, greeter.closed)
    private = kind == "namespaces" and network is SandboxNetwork.NONE
    assert (door.port == 8080 and door.listening is None) == private
    code = (sys.base_prefix + f"/bin/python3.{sys.version_info.minor}", "-I", "-c", ASK, str(door.port))
    done = chosen.run(Command(argv=code, doors=(door,), network=network))
    assert (done.stdout, greeter.ends) == (b"greeter heard 100000\n", 1)


def test_without_isolation_a_taken_port_is_a_fault(greeter: Greeter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InfraFault, match=f"No door can be made at port {port}"):
            NoSandbox().run(Command(argv=("true",), doors=(greeter.door(port),)))


ORDINARY = """
import os, socket, sys, threading
from pathlib import Path
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, PortForward
from repoassay.sandbox.sandbox import open_sandbox
assert os.geteuid() != 0
def opened(listening):
    def greet():
        guest = listening.accept()[0]
        guest.sendall(guest.recv(9) + b" to you")
        guest.close()
    threading.Thread(target=greet, daemon=True).start()
code = "import socket; d = socket.create_connection(('127.0.0.1', 80)); d.sendall(b'hello'); print(d.recv(99).decode())"
sandbox = open_sandbox("namespaces", Cache(Path(sys.argv[1])))
done = sandbox.run(Command(argv=("/usr/bin/python3", "-c", code), doors=(PortForward(80, opened),)))
print(done.stdout.decode(), done.stderr.decode())
"""


def test_doors_work_without_root(tmp_path_factory: pytest.TempPathFactory) -> None:
    system, setpriv = Path("/usr/bin/python3"), shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None or not system.exists():
        pytest.skip("needs root, setpriv and a Python that other accounts may run")
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PATH": os.environ["PATH"]}
    as_nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", str(system)]
    check = subprocess.run([*as_nobody, "-c", "import repoassay.types"], env=env, capture_output=True, check=False)
    if check.returncode != 0:
        pytest.skip("an ordinary account cannot import repoassay here: " + check.stderr.decode()[-200:])
    top = Path("/tmp") / f"repoassay-{uuid.uuid4().hex}"  # pytest's own folders are root's alone
    top.mkdir()
    os.chown(top, 65534, 65534)
    try:
        done = subprocess.run([*as_nobody, "-c", ORDINARY, str(top)], env=env, capture_output=True, check=False)
    finally:
        shutil.rmtree(top)
    assert done.stdout.decode().strip() == "hello to you", done.stderr.decode()


def test_what_cannot_be_enforced_is_refused_with_the_flag_that_accepts_it(cache: Cache) -> None:
    namespaces, none = NamespaceSandbox(cache), NoSandbox()
    policy = NetworkPolicy
    for wanted in policy:
        assert permitted_hosts(wanted, namespaces, needs_model=True) is wanted
        assert permitted_hosts(wanted, namespaces, needs_model=False) is policy.NONE
        assert permitted_hosts(wanted, none, needs_model=False) is policy.NONE
        assert permitted_hosts(wanted, none, needs_model=True, requested=policy.OPEN) is policy.OPEN
    for wanted in (policy.NONE, policy.MODEL, policy.PACKAGES):
        with pytest.raises(NoIsolation, match=f"network policy '{wanted}'.*--network open"):
            permitted_hosts(wanted, none, needs_model=True)
        with pytest.raises(NoIsolation):
            permitted_hosts(policy.OPEN, none, needs_model=False, requested=wanted)
    assert [network_of(each) for each in policy] == [SandboxNetwork.NONE] * 3 + [SandboxNetwork.HOST]
