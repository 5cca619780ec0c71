"""Servers of sandboxes that lie, flood, fall silent or break off: a fault of theirs, and nothing of ours is touched."""

from __future__ import annotations

import http.server
import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repoassay.errors import BadInput, InfraFault, NoIsolation, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import capabilities_of
from repoassay.sandbox.protocol import Command, ExportSpec, Mount, SandboxNetwork
from repoassay.sandbox.remote import client as client_module
from repoassay.sandbox.remote.client import SandboxClient, open_client
from repoassay.sandbox.remote.http_sandbox import HttpSandbox
from repoassay.sandbox.sandbox import can_attest, open_sandbox
from repoassay.types import IsolationGrade, Limits

Answers = dict[str, object]
ENDED = {"exit": {"ended": "exited", "code": 0}}
NAME = "x" * 32


class Liar:
    """A server that answers as a test says: JSON, bytes as they are, or what a function writes to the connection."""

    def __init__(self) -> None:
        self.answers: Answers = {
            "GET /v1": {"protocol": 1, "isolation": "namespaces", "grade": "kernel", "network_cut": True, "image": True,
                        "ports": False},
            "POST /v1/trees": {"trees": []},
            "POST /v1/sessions": {"session": NAME},
            f"GET /v1/sessions/{NAME}": {"outcome": ENDED},
            f"DELETE /v1/sessions/{NAME}": {},
        }  # fmt: skip
        self.asked: list[str] = []
        self.heads: list[str] = []

    def state(self, answer: object) -> None:
        self.answers[f"GET /v1/sessions/{NAME}"] = answer

    def collected(self, answer: object) -> None:
        self.answers[f"GET /v1/sessions/{NAME}/collected/0"] = answer


@pytest.fixture
def liar() -> Iterator[tuple[Liar, str]]:
    told = Liar()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            what = f"{self.command} {self.path.partition('?')[0]}"
            told.asked.append(what)
            told.heads.append(str(self.headers))
            self.rfile.read(int(self.headers["Content-Length"]))
            found = told.answers.get(what, {})
            if callable(found):
                found(self)
                return
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - as the base class calls them

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """The client has had enough."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield told, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def lied_to(liar: tuple[Liar, str], cache: Cache, monkeypatch: pytest.MonkeyPatch) -> HttpSandbox:
    monkeypatch.setattr("repoassay.sandbox.remote.http_sandbox._interpreter", lambda *_: ())
    return HttpSandbox(SandboxClient(liar[1], "token"), cache)


def nested(depth: int) -> bytes:
    return b'{"outcome":' * depth + b"1" + b"}" * depth


LIES: dict[str, object] = {
    "no JSON": b"hello",
    "not its shape": [],
    "nested": nested(100_000),
    "no such end": {"outcome": {"exit": {"ended": "passed", "code": 0}}},
    "an end without a code": {"outcome": {"exit": {"ended": "exited"}}},
    "a code that is none": {"outcome": {"exit": {"ended": "exited", "code": 10**30}}},
    "a negative time": {"outcome": {"exit": {"ended": "exited", "code": 0, "wall": -1}}},
    "no number": b'{"outcome":{"exit":{"ended":"exited","code":0,"cpu":NaN}}}',
    "endless rejections": {"outcome": ENDED | {"rejected": [{"path": "x", "reason": "y"}] * 1001}},
    "an endless log": {"log": "eHh4" * 2000},
    "an endless channel": {"channel": "eHh4" * 250_000},
    "a fault": {"fault": "\x1b[2Jit \u202eburns"},
    "more than was asked for": b" " * (40 * 2**20),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_a_command_is_a_fault_of_the_server(lied_to: HttpSandbox, liar: tuple[Liar, str], lie: str) -> None:
    liar[0].state(LIES[lie])
    with pytest.raises(InfraFault, match="The sandbox server") as caught:
        lied_to.run(Command(argv=("true",), limits=Limits(output=1000)))
    assert caught.value.message.isprintable() and len(caught.value.message) < 2500
    assert liar[0].asked[-1] == f"DELETE /v1/sessions/{NAME}"


def archive(*members: tuple[str, bytes, bytes], cut: int = 0) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as found:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.size, member.linkname = kind, len(content), "/etc/passwd"
            found.addfile(member, io.BytesIO(content))
    return target.getvalue()[: -cut or None]


def claim(size: int) -> bytes:
    member = tarfile.TarInfo("large")
    member.size = size
    return member.tobuf()


FILE, LINK, HARD, PIPE = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE
ARCHIVES = {
    "above": archive(("../outside", FILE, b"x")),
    "absolute": archive(("/tmp/outside-of-all", FILE, b"x")),
    "link": archive(("link", LINK, b"")),
    "through a link": archive(("link", LINK, b""), ("link/file", FILE, b"x")),
    "second name": archive(("hard", HARD, b"")),
    "pipe": archive(("pipe", PIPE, b"")),
    "twice": archive(("file", FILE, b"x"), ("file", FILE, b"y")),
    "hidden letters": archive(("a\u202eb", FILE, b"x")),
    "too many": archive(*((f"file-{number}", FILE, b"") for number in range(6))),
    "too large": archive(("file", FILE, b"x" * 1001)),
    "larger than it is": claim(500),
    "huge": claim(2**40),
    "more than was asked for": archive(("file", FILE, b"x" * 400_000)),
    "no archive": b"x" * 3000,
}


@pytest.mark.parametrize("lie", ARCHIVES)
def test_a_lie_about_what_is_handed_back_is_a_fault_and_stays_in_its_folder(
    lied_to: HttpSandbox, liar: tuple[Liar, str], lie: str, tmp_path: Path
) -> None:
    liar[0].collected(ARCHIVES[lie])
    into = tmp_path / "inner/into"
    with pytest.raises(InfraFault, match="The sandbox server"):
        lied_to.run(Command(argv=("true",), collect=(ExportSpec("/x", into, max_bytes=1000, max_files=5),)))
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["into"]
    assert not any(path.is_symlink() or path.stat().st_size > 1000 for path in into.rglob("*"))


def drip(handler: http.server.BaseHTTPRequestHandler) -> None:
    """A head that never ends, a letter now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(600):
        handler.wfile.write(b"x")
        threading.Event().wait(0.05)


def flood(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        handler.wfile.write(b" " * 65536)


def elsewhere(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")


def cut_short(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"outcome":')


def heads(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000)


@pytest.mark.long
@pytest.mark.parametrize("answer", [drip, flood, elsewhere, cut_short, heads])
def test_what_is_no_answer_is_a_fault_in_time(
    lied_to: HttpSandbox, liar: tuple[Liar, str], answer: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_SILENCE", 1.0)
    monkeypatch.setattr("repoassay.sandbox.remote.followed_session._WAIT", 0.5)
    liar[0].state(answer)
    with pytest.raises(InfraFault, match="The sandbox server"):
        lied_to.run(Command(argv=("true",), limits=Limits(output=1000)))


@pytest.mark.long
def test_a_session_that_never_ends_is_a_fault_at_its_time_limit(
    lied_to: HttpSandbox, liar: tuple[Liar, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repoassay.sandbox.remote.followed_session._OVERDUE", -120.0)
    liar[0].state({})
    with pytest.raises(InfraFault, match="did not end the session at its time limit"):
        lied_to.run(Command(argv=("true",), limits=Limits(seconds=1)))


@pytest.mark.parametrize(
    ("claimed", "grade"), [("kernel", "unverified"), ("container", "unverified"), ("none", "none")]
)
def test_a_servers_word_raises_no_grade_and_nothing_is_attested(
    liar: tuple[Liar, str], cache: Cache, monkeypatch: pytest.MonkeyPatch, claimed: str, grade: str
) -> None:
    monkeypatch.setattr("repoassay.sandbox.remote.http_sandbox._interpreter", lambda *_: ())
    described = liar[0].answers["GET /v1"]
    assert isinstance(described, dict)
    liar[0].answers["GET /v1"] = described | {"grade": claimed, "attests": True}
    sandbox = HttpSandbox(SandboxClient(liar[1], "token"), cache)
    assert capabilities_of(sandbox).grade is IsolationGrade(grade)
    assert not can_attest(sandbox, cache)
    assert sandbox.name == f"http@{liar[1]}"


@pytest.mark.parametrize(
    "described",
    [{"protocol": 2, "isolation": "x"}, {"protocol": 1}, {"protocol": 1, "isolation": "x", "grade": "perfect"}, b"x"],
)
def test_what_does_not_speak_the_protocol_is_refused(
    liar: tuple[Liar, str], cache: Cache, monkeypatch: pytest.MonkeyPatch, described: object
) -> None:
    liar[0].answers["GET /v1"] = described
    monkeypatch.setenv("REPOASSAY_SANDBOX_TOKEN", "token")
    with pytest.raises(NoIsolation, match="answered what it should not"):
        open_sandbox(f"http@{liar[1]}", cache)


def test_the_token_goes_in_the_head_alone(lied_to: HttpSandbox, liar: tuple[Liar, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    liar[0].state({"outcome": {"exit": {"ended": "exited", "code": 0}}})
    lied_to.run(Command(argv=("true",), log=log))
    assert all("Authorization: Bearer token" in head for head in liar[0].heads)
    assert log.read_bytes() == b""
    assert "token" not in lied_to.name + repr(lied_to.description)


def test_nothing_of_this_machine_is_written_and_no_network_is_opened(
    lied_to: HttpSandbox, liar: tuple[Liar, str], tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match="opens no network"):
        lied_to.run(Command(argv=("true",), network=SandboxNetwork.HOST))
    with pytest.raises(InfraFault, match="is not there"):
        lied_to.run(Command(argv=("true",), mounts=(Mount(tmp_path / "missing", "/x"),)))
    with pytest.raises(InfraFault, match="could not be set up"):
        lied_to.run(Command(argv=("true",), scratch=("/proc/self",)))
    assert liar[0].asked == ["GET /v1"]


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("", "needs the address"), ("https://me:secret@example.com", "holds a login"),
        ("ftp://example.com", "no address"), ("https://example.com/path", "no address"),
        ("https://example.com?x", "no address"), ("https://", "no address"),
        ("http://192.0.2.1:80", "in the clear"), ("http://example.com", "in the clear"),
        ("https://x:99999", "no address"),
        ("https://exa\u202emple.com", "no address"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_meant_is_refused(monkeypatch: pytest.MonkeyPatch, url: str, match: str) -> None:
    monkeypatch.setenv("REPOASSAY_SANDBOX_TOKEN", "token")
    monkeypatch.delenv("REPOASSAY_SANDBOX_URL", raising=False)
    with pytest.raises(BadInput, match=match) as caught:
        open_client(url)
    assert "secret" not in str(caught.value)


def test_without_a_token_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPOASSAY_SANDBOX_TOKEN", raising=False)
    with pytest.raises(BadInput, match="There is no token"):
        open_client("http://127.0.0.1:1")
