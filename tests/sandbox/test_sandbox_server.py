"""The server of sandboxes, asked by those who have no token, who lie, and who are gone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import ssl
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from marked_processes import Marked
from remote_sandboxes import TOKEN, ServedSandboxes, serve_sandboxes
from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, Mount, SandboxSetup
from repoassay.sandbox.remote.client import Refusal, SandboxClient, open_client
from repoassay.sandbox.remote.http_sandbox import HttpSandbox
from repoassay.sandbox.remote.messages import SessionRequest
from repoassay.sandbox.remote.server import sandbox_host
from repoassay.sandbox.remote.server.tree_store import TreeStore
from repoassay.sandbox.trees import measure_tree, read_tree, write_tree
from repoassay.types import Ended, Limits
from sandbox.conftest import SMALL


@pytest.fixture(scope="module")
def served(cache: Cache) -> Iterator[ServedSandboxes]:
    with serve_sandboxes(cache, most=2) as found:
        yield found


def ask(served: ServedSandboxes, method: str, path: str, body: object = None, token: str = TOKEN) -> bytes:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return SandboxClient(served.url, token).fetch(method, path, data, limit=2**20)


def test_without_the_token_nothing_is_told(served: ServedSandboxes) -> None:
    for path in ("/v1", "/v1/sessions", "/", "/v1/sessions/" + "x" * 32):
        with pytest.raises(Refusal, match="no such token") as caught:
            ask(served, "GET", path, token="another-token")
        assert caught.value.status == 401


@pytest.mark.parametrize(
    "request_",
    [
        b"x", [], {"more": 1}, {"cwd": "relative"}, {"scratch": ["/"]}, {"scratch": ["/proc/1"]},
        {"scratch": ["/a/../b"]}, {"scratch": ["/a/"]}, {"files": [{"path": "/a//", "content": ""}]},
        {"files": [{"path": "/", "content": ""}]},
        {"mounts": [{"tree": "../../etc", "target": "/x", "access": "read"}]},
        {"mounts": [{"tree": "0" * 64, "target": "/x", "access": "read"}]},
        {"mounts": [{"tree": "0" * 64, "target": "/x", "access": "write"}]},
        {"ports": [0]}, {"limits": {"seconds": 10**8}}, {"limits": {"memory": -1}}, {"network": "host"},
        {"collect": [{"source": "/x", "into": "/etc", "max_bytes": 1, "max_files": 1}]},
    ],
)  # fmt: skip
def test_a_session_that_nobody_may_have_is_refused(served: ServedSandboxes, request_: object) -> None:
    with pytest.raises(Refusal) as caught:
        ask(served, "POST", "/v1/sessions", request_)
    assert caught.value.status == 400


def tree_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as found:
        for member, content in members:
            member.size = len(content)
            found.addfile(member, io.BytesIO(content))
    return target.getvalue()


def link(name: str, leads_to: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, leads_to
    return member, b""


def test_a_tree_writes_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    outside, target = tmp_path / "outside", tmp_path / "target"
    outside.mkdir()
    for number, members in enumerate((
        (link("tree", str(outside)), link("tree/below", "x")),
        (link("tree", str(outside)), link("tree/a/b", "x")),
        (link("tree", str(outside)), (tarfile.TarInfo("tree/file"), b"x")),
        ((tarfile.TarInfo("../outside/file"), b"x"),),
    )):  # fmt: skip
        place = target / str(number)
        place.mkdir(parents=True)
        with pytest.raises(InfraFault):
            read_tree(io.BytesIO(tree_of(*members)), place)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("leads_to", ["/", "..", "../another"])
@pytest.mark.parametrize("name", ["tree", "./tree/", "tree//"])
def test_a_tree_that_is_a_link_is_refused(served: ServedSandboxes, name: str, leads_to: str) -> None:
    """A mount follows it to the server's own files, and to what other tokens sent."""
    content = tree_of(link(name, leads_to))
    digest = hashlib.sha256(content).hexdigest()
    with pytest.raises(Refusal, match="is a link"):
        ask(served, "PUT", f"/v1/trees/{digest}", content)
    assert served.host.trees.lacking("us", [digest]) == (digest,)


def test_a_tree_is_kept_only_if_it_is_what_its_digest_says(served: ServedSandboxes, tree: Path) -> None:
    digest, _ = measure_tree({"tree": tree})
    content = io.BytesIO()
    write_tree({"tree": tree}, content)
    with pytest.raises(Refusal, match="not what its digest says"):
        ask(served, "PUT", f"/v1/trees/{'0' * 64}", content.getvalue())
    with pytest.raises(Refusal, match=r"no tree of files|not what its digest says"):
        ask(served, "PUT", f"/v1/trees/{digest}", content.getvalue()[:600])
    assert served.host.trees.lacking("us", [digest]) == (digest,)
    ask(served, "PUT", f"/v1/trees/{digest}", content.getvalue())
    assert served.host.trees.lacking("us", [digest]) == ()


def test_a_tree_is_sent_once_and_again_when_it_was_changed(
    served: ServedSandboxes, cache: Cache, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = HttpSandbox(served.client, cache)
    sent: list[str] = []
    send = SandboxClient.send_tree

    def send_tree(client: SandboxClient, path: str, content: Path, size: int) -> None:
        sent.append(path)
        send(client, path, content, size)

    monkeypatch.setattr(SandboxClient, "send_tree", send_tree)
    look = Command(argv=("cat", "/in/plain.txt"), mounts=(Mount(tree, "/in"),))
    (tree / "inner/new").write_text("one of its own")
    assert [sandbox.run(look).stdout for _ in range(2)] == [b"as it was\n"] * 2
    os.utime(tree, (1, 1))  # as the cache does with each use, another worker's too
    assert sandbox.run(look).stdout == b"as it was\n"
    assert len(sent) == 1
    (tree / "plain.txt").write_text("as it is\n")
    assert sandbox.run(look).stdout == b"as it is\n"
    assert len(sent) == 2


def test_a_use_of_a_tree_while_it_is_sent_does_not_change_it(
    served: ServedSandboxes, cache: Cache, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = SandboxClient.send_tree

    def use_and_send(client: SandboxClient, path: str, content: Path, size: int) -> None:
        os.utime(content, (10**9, 10**9))
        git("hash-object", "-w", "plain.txt")  # as taking an agent's changes does: the object is there, and is touched
        assert found.stat().st_mtime > 1
        send(client, path, content, size)

    def git(*arguments: str) -> str:
        command = ["git", "-c", "safe.directory=*", *arguments]
        return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    name = git("hash-object", "-w", "plain.txt")
    found = tree / ".git/objects" / name[:2] / name[2:]
    os.utime(found, (1, 1))
    monkeypatch.setattr(SandboxClient, "send_tree", use_and_send)
    look = Command(argv=("cat", "/in/plain.txt"), mounts=(Mount(tree, "/in"),))
    assert HttpSandbox(served.client, cache).run(look).stdout == b"as it was\n"


def test_what_no_session_uses_makes_room(cache: Cache, tmp_path: Path) -> None:
    with serve_sandboxes(cache) as served:
        served.host.trees._most = 45_000
        sandbox = HttpSandbox(served.client, cache)
        for number in range(5):
            file = tmp_path / str(number)
            file.write_bytes(b"%d" % number * 10_000)
            assert sandbox.run(Command(argv=("cat", "/f"), mounts=(Mount(file, "/f"),), limits=SMALL)).stdout
        assert len(list((served.host._folder / "trees").iterdir())) == 2
        (tmp_path / "large").write_bytes(b"x" * 20_000_000)  # refused while it is sent
        with pytest.raises(Refusal, match="no room"):
            sandbox.run(Command(argv=("cat", "/f"), mounts=(Mount(tmp_path / "large", "/f"),)))


def packed(tree: Path) -> tuple[str, bytes]:
    content = io.BytesIO()
    write_tree({"tree": tree}, content)
    return measure_tree({"tree": tree})[0], content.getvalue()


def test_a_tree_is_there_only_for_who_sent_it(served: ServedSandboxes, tree: Path) -> None:
    (tree / "secret").write_text("of another token")
    digest, content = packed(tree)
    served.host.trees.take("somebody", digest, io.BytesIO(content), len(content))
    assert json.loads(ask(served, "POST", "/v1/trees", {"trees": [digest]})) == {"trees": [digest]}
    wanted = {"mounts": [{"tree": digest, "target": "/x", "access": "read"}]}
    with pytest.raises(Refusal, match="is not here"):
        ask(served, "POST", "/v1/sessions", wanted)
    with pytest.raises(Refusal):  # a claim alone is no proof
        ask(served, "PUT", f"/v1/trees/{digest}", content[:-2048])
    assert served.host.trees.lacking("us", [digest]) == (digest,)
    ask(served, "PUT", f"/v1/trees/{digest}", content)
    assert served.host.trees.lacking("us", [digest]) == ()
    served.host.remove(json.loads(ask(served, "POST", "/v1/sessions", wanted))["session"])


class Halting(io.BytesIO):
    """An upload that stops after its first bytes until it may go on."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def read(self, size: int | None = -1) -> bytes:
        self.begun.set()
        assert self.may_go_on.wait(20)
        return super().read(size)


def test_uploads_at_a_time_keep_within_what_may_be_kept(tmp_path: Path, tree: Path) -> None:
    (tree / "large").write_bytes(b"x" * 2**18)  # or its archive would be small beside what it takes on a disk
    digest, content = packed(tree)
    store = TreeStore(tmp_path, len(content) * 3 // 2)
    slow = Halting(content)
    thread = threading.Thread(target=store.take, args=("us", digest, slow, len(content)))
    thread.start()
    assert slow.begun.wait(20)
    with pytest.raises(BadInput, match="no room"):
        store.take("others", digest, io.BytesIO(content), len(content))
    slow.may_go_on.set()
    thread.join()
    assert store.lacking("us", [digest]) == ()
    with pytest.raises(BadInput):
        store.take("us", "0" * 64, io.BytesIO(b"x" * 600), 600)
    assert store._reserved.total() == 0


def test_another_token_does_not_find_a_session(cache: Cache, served: ServedSandboxes) -> None:
    name = served.host.open("somebody", SessionRequest())
    try:
        with pytest.raises(Refusal) as caught:
            ask(served, "GET", f"/v1/sessions/{name}")
        assert caught.value.status == 404
        with pytest.raises(Refusal):
            ask(served, "DELETE", f"/v1/sessions/{name}")
        served.host.find("somebody", str(name))
    finally:
        served.host.remove(str(name))


@pytest.mark.long
def test_those_for_whom_there_is_no_place_wait(served: ServedSandboxes, cache: Cache) -> None:
    sandbox = HttpSandbox(served.client, cache)
    codes: list[int | None] = []

    def run() -> None:
        codes.append(sandbox.run(Command(argv=("sleep", "0.3"), limits=SMALL)).exit.code)

    threads = [threading.Thread(target=run) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 5


@pytest.mark.long
def test_a_session_whose_asker_is_gone_ends(
    served: ServedSandboxes, marked: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_host, "_LEASE", 1.0)
    name = json.loads(ask(served, "POST", "/v1/sessions", {}))["session"]
    body = {"argv": ["/bin/sh", "-c", f"sleep 600; : {marked.word}"], "output": 100}
    ask(served, "POST", f"/v1/sessions/{name}/exec", body)
    deadline = time.monotonic() + 20
    while not marked.alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    while marked.alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked.alive() == []


def test_no_variable_of_the_server_or_of_ours_comes_inside(
    served: ServedSandboxes, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPOASSAY_SANDBOX_TOKEN", TOKEN)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; ls -R /tmp /home /run 2>/dev/null"
    done = HttpSandbox(served.client, cache).run(Command(argv=("/bin/sh", "-c", code), limits=SMALL))
    assert b"PATH=" in done.stdout
    assert TOKEN.encode() not in done.stdout and b"sk-secret" not in done.stdout


@pytest.mark.long
def test_a_time_out_is_the_commands_and_a_vanished_server_is_not(cache: Cache) -> None:
    with serve_sandboxes(cache) as served:
        sandbox = HttpSandbox(served.client, cache)
        done = sandbox.run(Command(argv=("sleep", "60"), limits=Limits(seconds=1)))
        assert done.exit.ended is Ended.TIMED_OUT
        session = sandbox.open(SandboxSetup())

    def ask() -> None:
        for _ in range(300):  # threads of the server may still answer for a moment
            session.exec(["true"])
            time.sleep(0.1)

    with pytest.raises(InfraFault):
        ask()
    with pytest.raises(InfraFault):
        session.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes a certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


def test_over_tls_the_certificate_must_be_known(
    cache: Cache, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tree: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    monkeypatch.setenv("REPOASSAY_SANDBOX_TOKEN", TOKEN)
    with serve_sandboxes(cache, context) as served:
        with pytest.raises(InfraFault, match="CERTIFICATE_VERIFY_FAILED"):
            HttpSandbox(open_client(served.url), cache)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        sandbox = HttpSandbox(open_client(served.url), cache)
        done = sandbox.run(Command(argv=("cat", "/in/plain.txt"), mounts=(Mount(tree, "/in"),)))
        assert (done.exit.code, done.stdout) == (0, b"as it was\n")


def test_a_port_is_forwarded_over_tls(
    cache: Cache, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    from repoassay.sandbox.protocol import PortForward

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    monkeypatch.setenv("REPOASSAY_SANDBOX_TOKEN", TOKEN)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    size = 3_000_000

    def echo(listening: socket.socket) -> None:
        with listening, listening.accept()[0] as caller:
            left = size
            while left and (data := caller.recv(65536)):
                left -= len(data)
                caller.sendall(data)

    def answer(listening: socket.socket) -> None:
        threading.Thread(target=echo, args=(listening,), daemon=True).start()

    code = f"""
import socket, threading
with socket.create_connection(("127.0.0.1", 8765)) as there:
    threading.Thread(target=there.sendall, args=(b"x" * {size},)).start()
    came = 0
    while came < {size}: came += len(there.recv(65536)) or exit(1)
print(came)
"""
    with serve_sandboxes(cache, context) as served:
        sandbox = HttpSandbox(open_client(served.url), cache)
        argv = (sys.base_prefix + f"/bin/python3.{sys.version_info.minor}", "-I", "-c", code)
        done = sandbox.run(Command(argv=argv, doors=(PortForward(8765, answer),), limits=Limits(seconds=60)))
    assert done.stdout == b"%d\n" % size, done.stderr


def test_a_certificate_without_its_key_is_refused() -> None:
    from repoassay.cli.sandbox import _tls

    with pytest.raises(BadInput, match="TLS needs a certificate and its key"):
        _tls(Path("cert.pem"), None)
