"""Names of a sandbox's own loopback: what they lead to, who may listen there, and that the host has nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxNetwork

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
PORTS = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
SERVE = """
import socket
for port in (80, 443):
    with socket.socket() as service:
        try:
            service.bind(("127.0.0.1", port))
            service.listen()
            guest = socket.create_connection(("service.example.com", port))
            print(port, guest.getpeername())
        except OSError as error:
            print(port, type(error).__name__)
"""
LOOK = "import socket; print(open('/etc/hosts').read(), open('/proc/sys/net/ipv4/ip_unprivileged_port_start').read())"


@pytest.mark.every_sandbox
def test_a_service_answers_under_a_public_name_at_low_ports(inside: Inside) -> None:
    before = PORTS.read_text()
    done = inside(SERVE, hosts=("service.example.com", "www.example.com"))
    said = done.stdout.decode().splitlines()
    if said == ["80 PermissionError", "443 PermissionError"]:
        pytest.skip("this machine lets nobody open low ports, not even in a network namespace of its own")
    assert said == ["80 ('127.0.0.1', 80)", "443 ('127.0.0.1', 443)"]
    assert PORTS.read_text() == before


def test_without_names_low_ports_are_closed_and_no_name_is_known(inside: Inside) -> None:
    assert inside(SERVE).stdout.decode().splitlines() == ["80 PermissionError", "443 PermissionError"]


def test_the_command_itself_cannot_change_who_may_listen(inside: Inside) -> None:
    done = inside(f"open({str(PORTS)!r}, 'w').write('0')", hosts=("service.example.com",))
    assert b"PermissionError" in done.stderr or b"Read-only" in done.stderr


def test_where_the_network_is_the_hosts_names_mean_nothing(inside: Inside, sandbox: Sandbox) -> None:
    if sandbox.name.startswith("http"):
        pytest.skip("a server of sandboxes opens no network")
    before = PORTS.read_text()
    done = inside(LOOK, hosts=("service.example.com",), network=SandboxNetwork.HOST)
    assert b"example.com" not in done.stdout
    assert done.stdout.decode().split()[-1] == before.strip()
    assert PORTS.read_text() == before


def test_without_isolation_names_mean_nothing() -> None:
    before = PORTS.read_text()
    done = NoSandbox().run(Command(argv=("cat", "/etc/hosts"), hosts=("service.example.com",)))
    assert (b"example.com" in done.stdout, PORTS.read_text()) == (False, before)
