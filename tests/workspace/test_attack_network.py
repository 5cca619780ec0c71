"""Reaching anything but the sandbox's own loopback."""

from __future__ import annotations

import contextlib
import errno
import socket
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator

import pytest

from repoassay.sandbox.protocol import Completed

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]

CONNECT = """
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


@pytest.fixture(params=["IPv4", "IPv6", "abstract"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A server of the host that greets whoever comes: its family and address."""
    kinds: dict[str, tuple[int, tuple[str, int] | str]] = {
        "IPv4": (socket.AF_INET, ("127.0.0.1", 0)),
        "IPv6": (socket.AF_INET6, ("::1", 0)),
        "abstract": (socket.AF_UNIX, "\0repoassay-" + uuid.uuid4().hex),
    }
    family, address = kinds[request.param]
    with socket.socket(family) as listening:
        try:
            listening.bind(address)
        except OSError:
            pytest.skip(f"this machine has no {request.param}")
        listening.listen()
        listening.settimeout(60)

        def greet() -> None:
            with contextlib.suppress(OSError), listening.accept()[0] as guest:
                guest.sendall(b"greetings")

        threading.Thread(target=greet, daemon=True).start()
        name = listening.getsockname()
        yield str(int(family)), repr(name[:2] if isinstance(name, tuple) else name)
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.by_day(3)
@pytest.mark.every_sandbox
def test_servers_of_the_host_are_out_of_reach(inside: Inside, plain: Plain, server: tuple[str, str]) -> None:
    assert int(inside(CONNECT, *server).stdout) in (errno.ECONNREFUSED, errno.EADDRNOTAVAIL)
    assert plain(CONNECT, *server).stdout == b"reached b'greetings'\n"


@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, ("192.0.2.1", 80)),
        (socket.AF_INET, ("169.254.169.254", 80)),
        (socket.AF_INET, ("10.0.0.1", 22)),
        (socket.AF_INET6, ("2001:db8::1", 80)),
        (socket.AF_INET6, ("fe80::1", 80, 0, 1)),
    ],
)
def test_the_outside_is_unreachable(inside: Inside, family: int, address: object) -> None:
    done = inside(CONNECT, str(int(family)), repr(address))
    assert int(done.stdout) in (errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EINVAL, errno.EHOSTUNREACH)


def test_datagrams_go_nowhere(inside: Inside) -> None:
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))"
    assert b"Network is unreachable" in inside(code).stderr


def test_names_are_not_resolved(inside: Inside) -> None:
    assert b"gaierror" in inside("import socket; socket.getaddrinfo('example.com', 80)").stderr


@pytest.mark.every_sandbox
def test_the_loopback_is_there_and_the_only_interface(inside: Inside) -> None:
    code = """
import socket
a = socket.create_server(("127.0.0.1", 0)); b = socket.create_connection(a.getsockname()); b.sendall(b"own")
print(a.accept()[0].recv(9), [name for _, name in socket.if_nameindex()], open("/proc/net/route").read().count("\\n"))
"""
    assert inside(code).stdout == b"b'own' ['lo'] 1\n"


@pytest.mark.parametrize(
    ("family", "kind"), [(17, 3), (17, 2), (40, 1), (38, 5), (29, 3), (31, 1), (21, 5), (44, 3)],
    ids=["packet raw", "packet", "vsock", "crypto", "CAN", "bluetooth", "RDS", "XDP"],
)  # fmt: skip
def test_families_that_reach_past_the_network_namespace_are_refused(inside: Inside, family: int, kind: int) -> None:
    code = "import socket, sys; socket.socket(int(sys.argv[1]), int(sys.argv[2]))"
    assert b"Operation not permitted" in inside(code, str(family), str(kind)).stderr


@pytest.mark.every_sandbox
def test_raw_sockets_are_refused(inside: Inside) -> None:
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"
    assert b"Operation not permitted" in inside(code).stderr


def test_local_sockets_and_pairs_work(inside: Inside) -> None:
    code = (
        "import socket; a, b = socket.socketpair(); a.send(b'x'); s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s')"
    )
    assert inside(code).exit.code == 0


def test_unix_sockets_of_the_host_are_not_listed(inside: Inside, plain: Plain) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        name = "repoassay-" + uuid.uuid4().hex
        listening.bind("\0" + name)
        listening.listen()
        code = "print(open('/proc/net/unix').read())"
        assert name.encode() in plain(code).stdout
        assert name.encode() not in inside(code).stdout
