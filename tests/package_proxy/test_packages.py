"""The forward proxy for package indexes: what passes, what does not, what is journalled, and its limits."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from repoassay.package_proxy.egress_rules import HostRule, refusal_of
from repoassay.package_proxy.packages import PackageProxy, ProxyLimits, Visit, Visitor
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.port_forward import open_door
from repoassay.sandbox.protocol import Command, SandboxNetwork

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


class Index:
    """A web server of the host, which notes the requests it gets."""

    def __init__(self) -> None:
        asked = self.asked = []  # type: list[str]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked.append(f"{self.command} {self.path} {dict(self.headers)}")
                last = self.path.rpartition("/")[2]
                body = b"z" * (int(last) if last.isdigit() else 5)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    yield made
    made.close()


@pytest.fixture(scope="module")
def proxy() -> Iterator[PackageProxy]:
    with PackageProxy() as running:
        yield running


class Guest:
    """A visitor's proxy at a socket of this host, and what it journalled."""

    def __init__(self, proxy: PackageProxy, rules: tuple[HostRule, ...], limits: ProxyLimits | None) -> None:
        self.visits: list[Visit] = []
        self._came = threading.Condition()
        self.visitor: Visitor = proxy.admit(rules, self._note, limits)
        listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = listening.getsockname()[1]
        self.visitor.serve(listening)

    def _note(self, visit: Visit) -> None:
        with self._came:
            self.visits.append(visit)
            self._came.notify_all()

    def wait(self, count: int) -> list[Visit]:
        with self._came:
            assert self._came.wait_for(lambda: len(self.visits) >= count, 20)
            return list(self.visits)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def ask(self, raw: bytes) -> bytes:
        with self.connect() as client:
            client.sendall(raw)
            return b"".join(iter(lambda: client.recv(65536), b""))


Admit = Callable[..., Guest]


@pytest.fixture
def admit(proxy: PackageProxy) -> Iterator[Admit]:
    guests: list[Guest] = []

    def make(*rules: HostRule, **limits: float) -> Guest:
        guests.append(Guest(proxy, rules, ProxyLimits(**limits) if limits else None))  # type: ignore[arg-type]  # counts
        return guests[-1]

    yield make
    for guest in guests:
        guest.visitor.close()


def trusted(index: Index, host: str = "localhost") -> HostRule:
    return HostRule(host, index.port, trusted=True)


def test_a_plain_page_passes_with_its_own_host_and_nothing_of_the_proxys(admit: Admit, index: Index) -> None:
    guest = admit(trusted(index))
    target = f"http://LOCALHOST:{index.port}/simple/7?x=1"
    said = guest.ask(
        f"GET {target.replace('7?x=1', '7')} HTTP/1.1\r\nHost: elsewhere.example\r\nProxy-Authorization: Basic eA==\r\n"
        "Connection: keep-alive, x-drop\r\nX-Drop: 1\r\nAccept: */*\r\n\r\n".encode()
    )
    assert said.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"\r\n\r\nzzzzzzz")
    (asked,) = index.asked
    assert asked.startswith("GET /simple/7 ")
    assert f"'Host': 'localhost:{index.port}'" in asked
    assert not any(word in asked for word in ("elsewhere", "eA==", "drop", "keep-alive"))
    (visit,) = guest.wait(1)
    assert (visit.method, visit.host, visit.port, visit.allowed, visit.why) == (
        "GET",
        "localhost",
        index.port,
        True,
        "",
    )
    assert visit.address == "127.0.0.1"
    assert visit.received == len(said)
    assert json.loads(visit.line())["sent"] == visit.sent > 0


def test_a_tunnel_passes_bytes_both_ways(admit: Admit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as far:
        port = far.getsockname()[1]
        guest = admit(HostRule("localhost", port, trusted=True))
        with guest.connect() as client:
            client.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\nearly".encode())  # as some clients do
            assert client.recv(99).startswith(b"HTTP/1.1 200 ")
            with far.accept()[0] as server:
                client.sendall(b"hello")
                client.shutdown(socket.SHUT_WR)
                assert b"".join(iter(lambda: server.recv(99), b"")) == b"earlyhello"
                server.sendall(b"x" * 3_000_000)
            assert len(b"".join(iter(lambda: client.recv(65536), b""))) == 3_000_000
    (visit,) = guest.wait(1)
    assert (visit.method, visit.sent, visit.received, visit.why) == ("CONNECT", 10, 3_000_000, "")


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", 403, "does not allow evil.example at port 443"),
        (b"CONNECT pypi.org:22 HTTP/1.1\r\n\r\n", 403, "does not allow pypi.org at port 22"),
        (b"CONNECT pypi.org.evil.example:443 HTTP/1.1\r\n\r\n", 403, "does not allow"),
        (b"CONNECT evilpypi.org:443 HTTP/1.1\r\n\r\n", 403, "does not allow"),
        (b"CONNECT suffix.example:443 HTTP/1.1\r\n\r\n", 403, "does not allow suffix.example"),
        (b"CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", 403, "does not allow 127.0.0.1"),
        (b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", 403, "does not allow ::1"),
        (b"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", 403, "does not allow"),
        (b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", 403, "does not allow"),
        (b"CONNECT pypi.org HTTP/1.1\r\n\r\n", 400, "CONNECT needs HOST:PORT"),
        (b"CONNECT x@pypi.org:443 HTTP/1.1\r\n\r\n", 400, "CONNECT needs HOST:PORT"),
        (b"CONNECT pypi.org:443/x HTTP/1.1\r\n\r\n", 400, "CONNECT needs HOST:PORT"),
        (b"CONNECT pypi.org:99999 HTTP/1.1\r\n\r\n", 400, "malformed"),
        (b"CONNECT py\\pi.org:443 HTTP/1.1\r\n\r\n", 400, "malformed"),
        (b"GET / HTTP/1.1\r\nHost: pypi.org\r\n\r\n", 403, "name their whole http:// address"),
        (b"GET https://pypi.org/ HTTP/1.1\r\n\r\n", 403, "name their whole http:// address"),
        (b"GET file:///etc/passwd HTTP/1.1\r\n\r\n", 403, "name their whole http:// address"),
        (b"GET http://pypi.org@evil.example/ HTTP/1.1\r\n\r\n", 403, "without a password"),
        (b"GET http://evil.example\\@pypi.org/ HTTP/1.1\r\n\r\n", 403, "without a password"),
        (b"POST http://pypi.org/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 403, "POST does not pass"),
        (b"PUT http://evil.example/ HTTP/1.1\r\n\r\n", 403, "does not allow evil.example"),
        (b"GET http://pypi.org/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 403, "Nothing is sent along"),
        (b"GET http://pypi.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 403, "Nothing is sent along"),
        (b"GET http://pypi.org/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400, "header of the request is malformed"),
        (b"GET http://pypi.org/ HTTP/1.1\r\n bad: x\r\n\r\n", 400, "header of the request is malformed"),
        (b"GET  http://pypi.org/ HTTP/1.1\r\n\r\n", 400, "no request to a proxy"),
        (b"GET http://pypi.org/ HTTP/2\r\n\r\n", 400, "no request to a proxy"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "no request to a proxy"),
        (b"\x05\x01\x00\r\n\r\n", 400, "no request to a proxy"),
        (b"GET http://pypi.org/" + b"x" * 40_000 + b" HTTP/1.1\r\n\r\n", 431, "longer than 32768 bytes"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_a_sentence_and_journalled(
    admit: Admit, raw: bytes, status: int, words: str
) -> None:
    guest = admit(HostRule("pypi.org"), HostRule("*.suffix.example"))
    said = guest.ask(raw).decode()
    assert said.startswith(f"HTTP/1.1 {status} ")
    assert words in said.partition("\r\n\r\n")[2]
    (visit,) = guest.wait(1)
    assert words in visit.why
    assert (visit.allowed, visit.sent, visit.received, visit.address) == (False, 0, 0, "")
    assert "\n" not in visit.line()


def test_half_a_request_is_journalled_too(admit: Admit) -> None:
    guest = admit(head=0.2)
    with guest.connect() as client:
        client.sendall(b"GET http://py")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(99).startswith(b"HTTP/1.1 400")
    with guest.connect() as client:
        client.sendall(b"GET http://py")
        assert client.recv(99).startswith(b"HTTP/1.1 408")
    assert [visit.why for visit in guest.wait(2)] == ["The request broke off.", "No request came within 0.2 seconds."]


def test_an_allowed_name_that_leads_inside_is_refused(admit: Admit, index: Index) -> None:
    guest = admit(HostRule("localhost", index.port))
    for raw in (
        f"CONNECT localhost:{index.port} HTTP/1.1\r\n\r\n",
        f"GET http://localhost:{index.port}/ HTTP/1.1\r\n\r\n",
    ):
        said = guest.ask(raw.encode())
        assert said.startswith(b"HTTP/1.1 403")
        assert b"is not a public address" in said
    assert index.asked == []
    assert not any(visit.allowed for visit in guest.wait(2))


def test_a_name_nobody_knows(admit: Admit) -> None:
    assert b"502" in admit(HostRule("nowhere.invalid")).ask(b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n")


def test_a_host_that_does_not_answer(admit: Admit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    guest = admit(HostRule("localhost", port, trusted=True))
    assert b"502 Bad Gateway" in guest.ask(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
    (visit,) = guest.wait(1)
    assert (visit.allowed, visit.why) == (True, "The host cannot be reached: Connection refused.") or visit.why


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
     "169.254.169.254", "168.63.129.16", "100.100.100.200", "224.0.0.1", "255.255.255.255", "192.0.0.192", "::", "::1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001::1",
     "fe80::1", "fe80::1%lo", "fec0::1", "fd00:ec2::254", "fc00::1", "ff02::1", "::127.0.0.1"],
)  # fmt: skip
def test_addresses_no_public_name_may_lead_to(address: str) -> None:
    assert refusal_of(address) == "is not a public address"


@pytest.mark.parametrize(
    "address", ["151.101.0.223", "172.32.0.1", "100.128.0.1", "2a04:4e42::223", "64:ff9b::9765:df"]
)
def test_public_addresses(address: str) -> None:
    assert refusal_of(address) == ""


def test_the_machines_own_address_is_no_way_back_in() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("151.101.0.223", 9))
        except OSError:
            pytest.skip("this machine has no network")
        assert refusal_of(probe.getsockname()[0]) != ""


@pytest.mark.parametrize(
    ("rule", "host", "port", "allowed"),
    [
        ("pypi.org", "pypi.org", 443, True), ("pypi.org", "pypi.org", 80, True), ("pypi.org", "pypi.org", 8080, False),
        ("a.example:8443", "a.example", 8443, True), ("a.example:8443", "a.example", 443, False),
        ("*.example.org", "a.example.org", 443, True), ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False), ("*.example.org", "aexample.org", 443, False),
    ],
)  # fmt: skip
def test_rules(rule: str, host: str, port: int, allowed: bool) -> None:
    assert HostRule.parse(rule).allows(host, port) is allowed


def test_an_attempt_has_a_number_of_bytes(admit: Admit, index: Index) -> None:
    guest = admit(trusted(index), bytes=2_000_000)
    ask = f"GET http://localhost:{index.port}/1500000 HTTP/1.1\r\n\r\n".encode()
    assert len(guest.ask(ask)) > 1_500_000
    with contextlib.suppress(ConnectionError):
        assert len(guest.ask(ask)) < 1_500_000
    assert guest.ask(ask).startswith(b"HTTP/1.1 403")
    first, second, third = guest.wait(3)
    assert first.why == ""
    assert "moved 2000000 bytes, which is all it may" in second.why == third.why
    assert guest.visitor.used < 2_000_000 + 2**18


def test_an_attempt_has_a_number_of_connections(admit: Admit, index: Index) -> None:
    guest = admit(trusted(index), connections=3)
    ask = f"GET http://localhost:{index.port}/1 HTTP/1.1\r\n\r\n".encode()
    said = []
    for _ in range(8):
        with contextlib.suppress(ConnectionError):
            said.append(guest.ask(ask)[:12])
    assert said[:4] == [b"HTTP/1.1 200"] * 3 + [b"HTTP/1.1 403"]
    assert set(said[4:]) <= {b""}
    assert len(guest.wait(4)) == 4  # a flood of refusals cannot fill the journal


def test_an_attempt_has_a_number_of_connections_at_once(admit: Admit) -> None:
    guest = admit(at_once=2)
    with guest.connect() as first, guest.connect() as second:
        first.sendall(b"G")
        second.sendall(b"G")
        with contextlib.suppress(ConnectionError):
            assert guest.ask(b"")[:12] == b"HTTP/1.1 503"
        assert "More than 2 connections at once" in guest.wait(1)[0].why


def test_a_tunnel_in_which_nothing_moves_is_cut(admit: Admit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as far:
        port = far.getsockname()[1]
        guest = admit(HostRule("localhost", port, trusted=True), idle=0.3)
        with contextlib.suppress(ConnectionError):
            said = guest.ask(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
            assert said.startswith(b"HTTP/1.1 200")
        assert guest.wait(1)[0].why == "Nothing moved for 0.3 seconds."


def test_the_end_of_an_attempt_cuts_its_tunnels_and_journals_them(admit: Admit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as far:
        port = far.getsockname()[1]
        guest = admit(HostRule("localhost", port, trusted=True))
        with guest.connect() as client:
            client.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
            assert client.recv(99).startswith(b"HTTP/1.1 200")
            guest.visitor.close()
            guest.visitor.close()
            with contextlib.suppress(ConnectionError):
                assert client.recv(1) == b""
        (visit,) = guest.wait(1)
        assert (visit.allowed, visit.why) == (True, "The attempt ended.")
        with pytest.raises(OSError):  # refused or reset, as the kernel pleases
            guest.connect().close()


def test_one_attempts_rules_are_not_anothers(admit: Admit, index: Index) -> None:
    ask = f"GET http://localhost:{index.port}/1 HTTP/1.1\r\n\r\n".encode()
    allowed, refused = admit(trusted(index)), admit(HostRule("pypi.org"))
    assert allowed.ask(ask).startswith(b"HTTP/1.1 200")
    assert refused.ask(ask).startswith(b"HTTP/1.1 403")


@pytest.mark.long
def test_many_at_once(admit: Admit, index: Index) -> None:
    guest = admit(trusted(index))
    sizes: list[int] = []

    def fetch() -> None:
        sizes.append(len(guest.ask(f"GET http://localhost:{index.port}/200000 HTTP/1.1\r\n\r\n".encode())))

    threads = [threading.Thread(target=fetch) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sizes) == 40
    assert min(sizes) > 200_000
    assert all(visit.why == "" for visit in guest.wait(40))


def test_no_descriptor_is_left_behind(admit: Admit, index: Index) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counted, not walked

    admit(trusted(index)).visitor.close()
    before = count()
    for _ in range(3):
        guest = admit(trusted(index))
        guest.ask(f"GET http://localhost:{index.port}/1 HTTP/1.1\r\n\r\n".encode())
        guest.ask(b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
        guest.wait(2)
        guest.visitor.close()
    for _ in range(200):
        if count() <= before:
            break
        threading.Event().wait(0.02)
    assert count() <= before


CLIENT = """
import sys, urllib.request
for url in sys.argv[1:]:
    try: print(urllib.request.urlopen(url, timeout=10).status)
    except Exception as error: print(error)
"""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> NamespaceSandbox:
    return NamespaceSandbox(Cache(tmp_path_factory.mktemp("cache")))


def test_through_a_door_of_a_sandbox(sandbox: NamespaceSandbox, proxy: PackageProxy, index: Index) -> None:
    visits: list[Visit] = []
    visitor = proxy.admit([trusted(index, "localhost"), HostRule("pypi.org")], visits.append)
    door = open_door(sandbox, SandboxNetwork.NONE, 8081, visitor.serve, visitor.close)
    argv = (PYTHON, "-I", "-c", CLIENT, f"http://localhost:{index.port}/5", "https://evil.example/", "http://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data/")  # fmt: skip
    done = sandbox.run(
        Command(
            argv=argv,
            env={"http_proxy": "http://127.0.0.1:8081", "https_proxy": "http://127.0.0.1:8081"},
            doors=(door,),
        )
    )
    assert done.stdout.decode().splitlines() == [
        "200", "<urlopen error Tunnel connection failed: 403 Forbidden>", *["HTTP Error 403: Forbidden"] * 2
    ]  # fmt: skip
    assert [visit.allowed for visit in visits] == [True, False, False, False]


def test_an_index_on_the_hosts_loopback_gets_a_door_of_its_own(
    sandbox: NamespaceSandbox, proxy: PackageProxy, index: Index
) -> None:
    visits: list[Visit] = []
    visitor = proxy.admit([], visits.append)
    door = open_door(sandbox, SandboxNetwork.NONE, index.port, visitor.relay("127.0.0.1", index.port), visitor.close)
    argv = (PYTHON, "-I", "-c", CLIENT, f"http://127.0.0.1:{index.port}/5")
    assert sandbox.run(Command(argv=argv, doors=(door,))).stdout == b"200\n"
    assert [(visit.method, visit.allowed) for visit in visits] == [("RELAY", True)]


def test_node_uses_it_too(sandbox: NamespaceSandbox, proxy: PackageProxy, index: Index) -> None:
    if shutil.which("npm", path="/usr/bin:/bin") is None:
        pytest.skip("needs npm in /usr/bin")
    visits: list[Visit] = []
    visitor = proxy.admit([trusted(index)], visits.append)
    door = open_door(sandbox, SandboxNetwork.NONE, 8081, visitor.serve, visitor.close)
    env = {"HTTP_PROXY": "http://127.0.0.1:8081", "npm_config_registry": f"http://localhost:{index.port}/",
           "npm_config_fetch_retries": "0", "npm_config_update_notifier": "false", "NO_PROXY": ""}  # fmt: skip
    sandbox.run(Command(argv=("npm", "view", "5"), env=env, doors=(door,)))
    assert any(asked.startswith("GET /5 ") for asked in index.asked)
    assert visits[0].allowed
