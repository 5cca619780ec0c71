"""Those who hold a token of the server of sandboxes, or none, and mean to keep others from using it."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from remote_sandboxes import OTHER_TOKEN, TOKEN, ServedSandboxes, serve_sandboxes
from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox import bounded_server, trees
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.remote.client import Refusal, SandboxClient
from repoassay.sandbox.remote.server import HolderShares, http_server
from repoassay.sandbox.remote.server.tree_store import TreeStore
from repoassay.sandbox.trees import measure_tree, read_tree, write_tree


@pytest.fixture(scope="module")
def served(cache: Cache) -> Iterator[ServedSandboxes]:
    with serve_sandboxes(cache, most=2, shares=HolderShares(2, session_bytes=2**33)) as found:
        yield found


def ask(
    served: ServedSandboxes, method: str, path: str, body: object = None, token: str = TOKEN, **query: object
) -> bytes:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return SandboxClient(served.url, token).fetch(method, path, data, limit=2**20, query=query)


def drip(place: tuple[str, int], over: threading.Event) -> None:
    """Send one byte of a head after the other, as often as the server lets us come back."""
    while not over.is_set():
        try:
            with socket.create_connection(place) as connected:
                connected.sendall(b"GET /v1 HTTP/1.1\r\nX: ")
                while not over.wait(0.05):
                    connected.sendall(b"x")
        except OSError:
            over.wait(0.05)


def test_who_has_no_token_holds_no_connection_by_dripping(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 2)
    monkeypatch.setattr(bounded_server, "HEAD", 0.3)
    over = threading.Event()
    with serve_sandboxes(cache) as served:
        place = ("127.0.0.1", int(served.url.rpartition(":")[2]))
        threads = [threading.Thread(target=drip, args=(place, over)) for _ in range(2)]
        try:
            for thread in threads:
                thread.start()
            until = time.monotonic() + 60
            while True:
                try:
                    ask(served, "GET", "/v1")
                    break
                except InfraFault:
                    assert time.monotonic() < until
        finally:
            over.set()
            for thread in threads:
                thread.join()


def test_a_body_that_drips_is_broken_off(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_server, "_SLACK", 0.3)
    with serve_sandboxes(cache) as served:
        place = ("127.0.0.1", int(served.url.rpartition(":")[2]))
        with socket.create_connection(place) as connected:
            head = f"POST /v1/trees HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 1000\r\n\r\n"
            connected.sendall(head.encode())
            until = time.monotonic() + 60
            with pytest.raises(OSError):  # noqa: PT012 - reset, or a broken pipe
                while time.monotonic() < until:
                    connected.sendall(b" ")
                    time.sleep(0.05)


def test_one_token_leaves_sessions_to_the_others(served: ServedSandboxes) -> None:
    with ExitStack() as ends:
        ours = json.loads(ask(served, "POST", "/v1/sessions", {}))["session"]
        ends.callback(served.host.remove, ours)
        with pytest.raises(Refusal) as caught:
            ask(served, "POST", "/v1/sessions", {})
        assert caught.value.status == 503
        theirs = json.loads(ask(served, "POST", "/v1/sessions", {}, OTHER_TOKEN))["session"]
        ends.callback(served.host.remove, theirs)


class _Half(io.BytesIO):
    """An upload that stays open after its first bytes."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.begun, self.over = threading.Event(), threading.Event()

    def read(self, size: int | None = -1) -> bytes:
        self.begun.set()
        assert self.over.wait(60)
        return super().read(size)


def test_uploads_of_one_token_take_no_room_from_another(tmp_path: Path, tree: Path) -> None:
    content = io.BytesIO()
    write_tree({"tree": tree}, content)
    digest, size = measure_tree({"tree": tree})
    store = TreeStore(tmp_path, 10 * size, holders=2)
    store.take("us", digest, io.BytesIO(content.getvalue()), size)
    with pytest.raises(BadInput, match="no room"):
        store.take("others", "0" * 64, io.BytesIO(), 6 * size)
    half = _Half(content.getvalue())

    def send() -> None:
        with pytest.raises(BadInput, match="not what its digest says"):
            store.take("others", "0" * 64, half, 5 * size)

    thread = threading.Thread(target=send)
    thread.start()
    assert half.begun.wait(60)
    assert store.lacking("us", [digest]) == ()
    half.over.set()
    thread.join()
    assert store.lacking("us", [digest]) == ()
    store.take("others", digest, io.BytesIO(content.getvalue()), size)
    assert store.lacking("others", [digest]) == ()


def archive(*members: tarfile.TarInfo) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as found:
        for member in members:
            found.addfile(member)
    return target.getvalue()


def entry(name: str, **fields: object) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(member, key, value)
    return member


def test_an_archive_makes_no_folders_that_it_does_not_hold(tmp_path: Path) -> None:
    """Each name could make hundreds of them."""
    with pytest.raises(InfraFault):
        read_tree(io.BytesIO(archive(entry("tree/" + "a/" * 400 + "file"))), tmp_path)
    assert list(tmp_path.iterdir()) == []


class _Endless(io.RawIOBase):
    """A first part, then zeros without end; counts what is taken."""

    def __init__(self, first: bytes, further: bytes = b"\0" * 2**16) -> None:
        super().__init__()
        self.first, self.further, self.taken = io.BytesIO(first), further, 0

    def read(self, size: int = -1) -> bytes:
        data = self.first.read(size) or self.further[:size]
        self.taken += len(data)
        assert self.taken < 2**24, "it goes on reading"
        return data


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XGLTYPE])
def test_a_header_is_not_held_whatever_size_it_says(tmp_path: Path, kind: bytes) -> None:
    header = entry("x", type=kind, size=2**33 - 1).tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(InfraFault, match="too long"):
        read_tree(_Endless(header), tmp_path)  # type: ignore[arg-type]  # of which `read` alone is asked


def test_a_map_of_holes_is_not_held(tmp_path: Path) -> None:
    fields = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "tree", "GNU.sparse.realsize": "9"}
    header = entry("tree", pax_headers=fields, size=2**33 - 1).tobuf(tarfile.PAX_FORMAT)
    with pytest.raises(InfraFault, match="larger than it looks"):
        read_tree(_Endless(header + b"4000000000\n".ljust(512, b"1"), b"1\n" * 2**15), tmp_path)  # type: ignore[arg-type]  # of which `read` alone is asked


def test_an_archive_has_a_bounded_number_of_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_MOST_ENTRIES", 10)
    data = archive(entry("tree", type=tarfile.DIRTYPE), *(entry(f"tree/{number}") for number in range(10)))
    with pytest.raises(InfraFault, match="more than 10"):
        read_tree(io.BytesIO(data), tmp_path)


def test_small_files_count_as_what_they_take_on_a_disk(tmp_path: Path) -> None:
    data = archive(entry("tree", type=tarfile.DIRTYPE), *(entry(f"tree/{number}") for number in range(100)))
    digest = hashlib.sha256(data).hexdigest()
    store = TreeStore(tmp_path, 7 * len(data))
    store.take("us", digest, io.BytesIO(data), len(data))
    with pytest.raises(BadInput, match="no room"), store.use("us", [digest]):
        store.take("us", "0" * 64, io.BytesIO(data), len(data))


def test_small_files_of_one_token_take_no_room_from_another(tmp_path: Path) -> None:
    data = archive(entry("tree", type=tarfile.DIRTYPE), *(entry(f"tree/{number}") for number in range(100)))
    small = archive(entry("tree"))
    store = TreeStore(tmp_path, 6 * len(data), holders=2)
    with pytest.raises(BadInput, match="no room"):  # archives are a seventh of what these take, and more than all
        store.take("others", hashlib.sha256(data).hexdigest(), io.BytesIO(data), len(data))
    store.take("us", hashlib.sha256(small).hexdigest(), io.BytesIO(small), len(small))
    assert sorted(each.name for each in tmp_path.iterdir()) == [hashlib.sha256(small).hexdigest()]
    assert not store._reserved.total()


@pytest.mark.parametrize(
    "request_",
    [
        {"limits": {"memory": 2**33}}, {"limits": {"disk": 2**33}}, {"limits": {"output": 2**27}}, {"ports": [80] * 65},
        {"collect": [{"source": "/x", "max_bytes": 2**31, "max_files": 1}] * 5}, {"scratch": ["/x"] * 1001},
    ],
)  # fmt: skip
def test_a_session_that_would_take_the_servers_memory_is_refused(served: ServedSandboxes, request_: object) -> None:
    with pytest.raises(Refusal) as caught:
        ask(served, "POST", "/v1/sessions", request_)
    assert caught.value.status == 400


def test_numbers_that_are_none_are_refused(served: ServedSandboxes) -> None:
    name = json.loads(ask(served, "POST", "/v1/sessions", {}))["session"]
    try:
        for query in ({"log": -5}, {"channel": -1}, {"log": "nan"}, {"log": "1e9"}, {"log": "9" * 17}):
            with pytest.raises(Refusal) as caught:
                ask(served, "GET", f"/v1/sessions/{name}", **query)
            assert caught.value.status == 400
        with pytest.raises(Refusal, match="too much output"):
            ask(served, "POST", f"/v1/sessions/{name}/exec", {"argv": ["true"], "output": 2**40})
    finally:
        served.host.remove(name)
