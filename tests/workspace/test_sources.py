"""Unpacking source distributions that were made to do harm, and fetching them by digest."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.workspace import sources
from repoassay.workspace.sources import fetch_sdist, unpack


def tar(path: Path, *members: tuple[str, bytes, int, bytes]) -> Path:
    """A gzipped archive of (name, content, mode, kind); content of a link is where it leads."""
    with tarfile.open(path, "w:gz") as bundle:
        for name, content, mode, kind in members:
            info = tarfile.TarInfo(name)
            info.mode, info.type = mode, kind
            if kind == tarfile.REGTYPE:
                info.size = len(content)
            else:
                info.linkname = content.decode()
            bundle.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, *members: tuple[str, bytes, int]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(info, content)
    return path


def unpacked(archive: Path, tmp_path: Path) -> dict[str, bytes]:
    into = tmp_path / "into"
    into.mkdir()
    unpack(archive, into)
    assert not any(path.is_symlink() for path in into.rglob("*"))
    return {str(path.relative_to(into)): path.read_bytes() for path in into.rglob("*") if path.is_file()}


REG, SYM, LNK, FIFO, CHR = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE


def test_regular_files_come_out_without_the_top_folder(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "p-1.tar.gz",
        ("p-1/a.py", b"a", 0o600, REG),
        ("p-1/bin/run", b"r", 0o4755, REG),
        ("p-1/empty", b"", 0o644, REG),
    )
    assert unpacked(archive, tmp_path) == {"a.py": b"a", "bin/run": b"r", "empty": b""}
    assert (tmp_path / "into/bin/run").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "into/a.py").stat().st_mode & 0o7777 == 0o644


def test_links_devices_and_git_folders_stay_behind(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "p-1.tar.gz",
        ("p-1/link", b"/etc/passwd", 0o777, SYM),
        ("p-1/hard", b"/etc/passwd", 0o777, LNK),
        ("p-1/pipe", b"", 0o666, FIFO),
        ("p-1/device", b"", 0o666, CHR),
        ("p-1/.git/config", b"[core]", 0o644, REG),
        ("p-1/sub/.git/hooks/x", b"#!", 0o755, REG),
        ("top.txt", b"no folder", 0o644, REG),
        ("p-1/kept", b"k", 0o644, REG),
    )
    assert unpacked(archive, tmp_path) == {"kept": b"k"}


def test_a_link_cannot_be_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    archive = tar(
        tmp_path / "p-1.tar.gz",
        ("p-1/dir", str(tmp_path / "victim").encode(), 0o777, SYM),
        ("p-1/dir/planted", b"x", 0o644, REG),
    )
    assert unpacked(archive, tmp_path) == {"dir/planted": b"x"}
    assert list((tmp_path / "victim").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["p-1/../../planted", "/planted", "../planted", "p-1/..", "p-1\\..\\planted", "p-1/a/../b"]
)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_names_that_lead_outside_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    if kind == "tar":
        archive = tar(tmp_path / "p-1.tar.gz", (name, b"x", 0o644, REG))
    else:
        archive = zipped(tmp_path / "p-1.zip", (name, b"x", 0o644))
    with pytest.raises(InfraFault, match="leaves its folder"):
        unpacked(archive, tmp_path)
    assert not (tmp_path / "planted").exists()


def test_zip_archives_come_out_alike(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "p-1.zip",
        ("p-1/a.py", b"a", 0o100644),
        ("p-1/run", b"r", 0o100755),
        ("p-1/link", b"/etc/passwd", 0o120777),
    )
    assert unpacked(archive, tmp_path) == {"a.py": b"a", "run": b"r"}
    assert (tmp_path / "into/run").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_bombs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(sources, "_MAX_UNPACKED", 2**20)
    zeros = bytes(2**22)
    if kind == "tar":
        archive = tar(tmp_path / "p-1.tar.gz", ("p-1/bomb", zeros, 0o644, REG))
    else:
        archive = zipped(tmp_path / "p-1.zip", ("p-1/bomb", zeros, 0o644))
    assert archive.stat().st_size < 10_000
    with pytest.raises(InfraFault, match="unpacks to more than"):
        unpacked(archive, tmp_path)
    assert list((tmp_path / "into").rglob("*")) == []


@pytest.mark.parametrize("kind", [REG, tarfile.DIRTYPE])
def test_members_are_counted_whatever_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes) -> None:
    monkeypatch.setattr(sources, "_MAX_MEMBERS", 10)
    archive = tar(tmp_path / "p-1.tar.gz", *((f"p-1/{n}", b"", 0o755, kind) for n in range(20)))
    with pytest.raises(InfraFault, match="more than 10"):
        unpacked(archive, tmp_path)


def test_a_zip_that_lies_about_sizes_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "p-1.zip", ("p-1/bomb", bytes(2**20), 0o644))
    data = archive.read_bytes()
    archive.write_bytes(data.replace((2**20).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(InfraFault, match="cannot be unpacked"):
        unpacked(archive, tmp_path)


@pytest.mark.parametrize("data", [b"", b"not an archive", b"\x1f\x8b\x08broken", b"PK\x03\x04broken", b"BZh9broken"])
@pytest.mark.parametrize("name", ["p-1.tar.gz", "p-1.zip", "p-1.tar.bz2"])
def test_broken_archives_are_named(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InfraFault, match=r"p-1.* cannot be unpacked"):
        unpacked(tmp_path / name, tmp_path)


def test_a_cut_archive_is_named(tmp_path: Path) -> None:
    import os

    archive = tar(tmp_path / "p-1.tar.gz", ("p-1/a", os.urandom(100_000), 0o644, REG))
    archive.write_bytes(archive.read_bytes()[:50_000])
    with pytest.raises(InfraFault, match="cannot be unpacked"):
        unpacked(archive, tmp_path)


class Index:
    """A package index of this machine: pages by path, and what was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.kind = "text/html"
        self.asked: list[str] = []


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    served = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            page = served.pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", served.kind)
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("REPOASSAY_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
        yield served
        server.shutdown()
        thread.join()


CONTENT = b"a distribution"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("kind", ["text/html", "application/vnd.pypi.simple.v1+json"])
def test_a_distribution_is_fetched_once_by_its_digest(tmp_path: Path, index: Index, kind: str) -> None:
    cache, index.kind = Cache(tmp_path), kind
    files = [{"url": "../../f/other.zip", "hashes": {}}, {"url": "../../f/x-1.zip", "hashes": {"sha256": DIGEST}}]
    page = json.dumps({"files": files}) if "json" in kind else f'<a href="../../f/x-1.zip#sha256={DIGEST}">x</a>'
    index.pages = {"/simple/some-thing/": page.encode(), "/f/x-1.zip": CONTENT}
    found = fetch_sdist("Some_.Thing", "1", DIGEST, cache)
    assert (found.name, found.read_bytes()) == ("x-1.zip", CONTENT)
    assert index.asked == ["/simple/some-thing/", "/f/x-1.zip"]
    assert fetch_sdist("Some.Thing", "1", DIGEST, cache) == found
    assert len(index.asked) == 2


def test_what_comes_with_another_digest_is_refused_and_not_kept(tmp_path: Path, index: Index) -> None:
    index.pages = {"/simple/x/": f'<a href="/f/x-1.zip#sha256={DIGEST}">x</a>'.encode(), "/f/x-1.zip": b"swapped"}
    with pytest.raises(InfraFault, match="came with sha256"):
        fetch_sdist("x", "1", DIGEST, Cache(tmp_path))
    assert list((tmp_path / "sdists").iterdir()) == []


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("page", "said"),
    [
        (None, "cannot be reached for x: Not Found"),
        (b"", "has no source distribution of x 1"),
        (b'<a href="/f/x-1.zip">without a digest</a>', "has no source distribution of x 1"),
        (b'<a href="/gone.zip#sha256=DIGEST">x</a>', "gone.zip cannot be downloaded: Not Found"),
        (b'<a href="ftp://127.0.0.1/x.zip#sha256=DIGEST">x</a>', "not http, https or file"),
    ],
)
def test_what_an_index_does_not_have_is_said(tmp_path: Path, index: Index, page: bytes | None, said: str) -> None:
    if page is not None:
        index.pages = {"/simple/x/": page.replace(b"DIGEST", DIGEST.encode())}
    with pytest.raises(InfraFault, match=re.escape(said)):
        fetch_sdist("x", "1", DIGEST, Cache(tmp_path))


@pytest.mark.by_day(2)
@pytest.mark.parametrize("page", [b"not json", b"[]", b"{}", b'{"files": [{}]}', b'{"files": [{"hashes": 1}]}'])
def test_a_broken_page_is_the_indexs_fault(tmp_path: Path, index: Index, page: bytes) -> None:
    index.kind, index.pages = "application/vnd.pypi.simple.v1+json", {"/simple/x/": page}
    with pytest.raises(InfraFault):
        fetch_sdist("x", "1", DIGEST, Cache(tmp_path))


def test_too_large_a_download_is_cut(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MAX_ARCHIVE", 1000)
    body = bytes(5000)
    digest = hashlib.sha256(body).hexdigest()
    index.pages = {"/simple/x/": f'<a href="/f/x-1.zip#sha256={digest}">x</a>'.encode(), "/f/x-1.zip": body}
    with pytest.raises(InfraFault, match="larger than 1000 bytes"):
        fetch_sdist("x", "1", digest, Cache(tmp_path))
