"""The relay: what it passes on of an index, what it keeps by digest, and what it does not answer."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repoassay.package_proxy.indexes import Indexes
from repoassay.sandbox.cache import Cache
from repoassay.workspace.build_index.relay import Relay
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from workspace.build_index.index import Index, serving, wheel

Opened = Callable[..., tuple[Relay, dict[str, str]]]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
NAME = "victim-1.0-py3-none-any.whl"


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        yield made


@pytest.fixture
def opened(index: Index, tmp_path: Path) -> Iterator[Opened]:
    """A relay as the settings given have it, and its environment variables."""
    made: list[Relay] = []

    def open_relay(**environ: str) -> tuple[Relay, dict[str, str]]:
        given = {"UV_DEFAULT_INDEX": index.url, "PIP_CONFIG_FILE": "/dev/null", **environ}
        indexes = Indexes.configured(given, tmp_path / "home")
        relay = Relay(indexes, Store(Cache(tmp_path / "cache"), IndexUpstream(dict(indexes.logins))))
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        relay.serve(listening)
        made.append(relay)
        return relay, relay.env(port)

    yield open_relay
    for relay in made:
        relay.close()
        relay.close()


def get(url: str) -> bytes:
    with DIRECT.open(url, timeout=10) as answer:
        body: bytes = answer.read()
        return body


def status(url: str) -> int:
    try:
        get(url)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    return 200


def links(page: bytes) -> list[str]:
    return [part.partition('"')[0].partition("#")[0] for part in page.decode().split('href="')[1:]]


def test_tools_wait_for_the_relay_longer_than_it_waits_for_an_index(opened: Opened) -> None:
    """A busy machine's index once took two minutes, and a tool gives up after half a minute by itself."""
    env = opened()[1]
    assert min(int(env[name]) for name in ("UV_HTTP_TIMEOUT", "PIP_DEFAULT_TIMEOUT")) > 2 * 60
    assert opened(UV_HTTP_TIMEOUT="5")[1]["UV_HTTP_TIMEOUT"] == "5"


def test_a_file_is_downloaded_once_and_looked_at_again_whenever_it_is_used(
    index: Index, opened: Opened, tmp_path: Path
) -> None:
    digest = index.add("victim", NAME, wheel("victim"))
    for _ in range(2):
        env = opened()[1]
        (link,) = links(get(env["UV_DEFAULT_INDEX"] + "victim/"))
        assert link.endswith(f"/{NAME}") and get(link) == wheel("victim")
    assert index.asked.count(f"GET /files/{NAME}") == 1
    kept = tmp_path / f"cache/packages/sha256-{digest}/file"
    kept.write_bytes(wheel("victim", "poisoned"))
    assert get(link) == wheel("victim") == kept.read_bytes()
    assert index.asked.count(f"GET /files/{NAME}") == 2


def test_another_file_than_the_index_says_is_not_passed_on(index: Index, opened: Opened, tmp_path: Path) -> None:
    index.add("victim", NAME, wheel("victim"))
    index.pages[f"/files/{NAME}"] = wheel("victim", "poisoned")
    relay, env = opened()
    assert status(links(get(env["UV_DEFAULT_INDEX"] + "victim/"))[0]) == 502
    assert "instead of" in relay.troubles[-1] and not list((tmp_path / "cache/packages").iterdir())


def test_without_a_digest_nothing_is_kept(index: Index, opened: Opened, tmp_path: Path) -> None:
    index.add("victim", NAME, wheel("victim"), digest=False)
    env = opened()[1]
    (link,) = links(get(env["UV_DEFAULT_INDEX"] + "victim/"))
    assert get(link) == get(link) == wheel("victim")
    assert not (tmp_path / "cache/packages").exists() and index.asked.count(f"GET /files/{NAME}") == 1


def test_pages_in_json_too(index: Index, opened: Opened) -> None:
    digest = index.add("victim", NAME, wheel("victim"))
    index.pages["/simple/victim/"] = json.dumps(
        {
            "meta": {"api-version": "1.1"},
            "name": "victim",
            "files": [
                {"filename": NAME, "url": f"../../files/{NAME}", "hashes": {"sha256": digest}, "size": 7},
                {"filename": "passwd", "url": "file:///etc/passwd", "hashes": {}},
            ],
        }
    ).encode()
    index.kinds["/simple/victim/"] = "application/vnd.pypi.simple.v1+json"
    files = json.loads(get(opened()[1]["UV_DEFAULT_INDEX"] + "victim/"))["files"]
    assert get(files[0]["url"]) == wheel("victim") and files[0]["hashes"] == {"sha256": digest}
    assert status(files[1]["url"]) == 502  # an index leads to http and https alone


def test_a_link_that_is_no_address_spoils_no_page(index: Index, opened: Opened) -> None:
    index.add("victim", NAME, wheel("victim"))
    index.pages["/simple/victim/"] += b'<a href="http://[x">odd</a><a href="//[::1/y-1.0.zip">odd</a>'
    index.pages["/left-pad"] = json.dumps({"versions": {"1.0.0": {"dist": {"tarball": "http://[x"}}}}).encode()
    index.pages["/simple/other/"] = json.dumps({"files": [{"filename": "a.whl", "url": "http://[x"}]}).encode()
    index.kinds["/simple/other/"] = "application/vnd.pypi.simple.v1+json"
    env = opened(npm_config_registry=f"http://127.0.0.1:{index.port}/")[1]
    (link,) = links(get(env["UV_DEFAULT_INDEX"] + "victim/"))
    assert get(link) == wheel("victim")
    assert json.loads(get(env["npm_config_registry"] + "left-pad"))["versions"] == {}
    assert json.loads(get(env["UV_DEFAULT_INDEX"] + "other/"))["files"] == []


def test_nothing_else_of_an_index_is_answered(index: Index, opened: Opened) -> None:
    index.pages |= {"/secret": b"s", "/simple/": b"s", "/simple/a/b/": b"s", "/simple/../secret/": b"s"}
    env = opened(npm_config_registry=index.url)[1]
    here = env["UV_DEFAULT_INDEX"]
    for path in (
        "",
        "a/b/",
        "../secret/",
        "..",
        "%2e%2e/",
        "a%2fb/",
        "../9/victim/",
        "../x/a/",
    ):
        assert status(here + path) == 404, path
    base = here.partition("/python/")[0]
    for path in ("", "/files/0/x", "/links/0/", "/node/a/b/c", "/node/..", "/python"):
        assert status(base + path) == 404, path
    assert status(f"{base.rpartition('/')[0]}/python/0/victim/") == 404  # without the secret
    assert index.asked == []


def test_credentials_are_added_and_told_to_nobody_else(index: Index, opened: Opened, tmp_path: Path) -> None:
    index.add("victim", NAME, wheel("victim"))
    index.locked = True
    relay, env = opened()
    assert status(env["UV_DEFAULT_INDEX"] + "victim/") == 403
    assert "answers 401" in relay.troubles[-1]
    named = {
        "UV_DEFAULT_INDEX": f"own={index.url}",
        "UV_INDEX_OWN_USERNAME": "me",
        "UV_INDEX_OWN_PASSWORD": "pass-7f3a",
    }
    for settings in ({"UV_DEFAULT_INDEX": index.url_with_password}, named):
        env = opened(**settings)[1]
        assert get(links(get(env["UV_DEFAULT_INDEX"] + "victim/"))[0]) == wheel("victim")
        assert "pass-7f3a" not in str(env)
    with serving(Index()) as other:
        index.pages["/simple/moved/"] = f'<a href="http://127.0.0.1:{other.port}/files/{NAME}">x</a>'.encode()
        other.add("victim", NAME, wheel("victim"))
        assert get(links(get(env["UV_DEFAULT_INDEX"] + "moved/"))[0]) == wheel("victim")
        assert other.logins == [None]


def test_folders_and_pages_of_links(index: Index, opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / NAME).write_bytes(wheel("victim"))
    (folder / "secret.txt").write_text("s")
    os.mkfifo(folder / "pipe-1.0.whl")
    index.add("victim", NAME, wheel("victim"))
    env = opened(UV_FIND_LINKS=f"{folder},{index.url}/victim/")[1]
    first, second = env["UV_FIND_LINKS"].split(",")
    (found,) = links(get(first))
    assert get(found) == wheel("victim") and get(links(get(second))[0]) == wheel("victim")


def test_packages_of_npm(index: Index, opened: Opened, tmp_path: Path) -> None:
    tarball = b"a tarball"
    integrity = f"sha512-{b64encode(hashlib.sha512(tarball).digest()).decode()}"
    dist = {"tarball": f"http://127.0.0.1:{index.port}/t/left-pad-1.0.0.tgz", "integrity": integrity}
    index.pages["/left-pad"] = index.pages["/own/@scope%2fleft-pad"] = json.dumps(
        {"name": "left-pad", "versions": {"1.0.0": {"dist": dist}}}
    ).encode()
    index.pages["/own/@scope%2Fleft-pad"] = index.pages["/own/@scope/left-pad"] = index.pages["/left-pad"]
    index.pages["/t/left-pad-1.0.0.tgz"] = tarball
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.npmrc").write_text(f"@scope:registry=http://127.0.0.1:{index.port}/own/\n")
    env = opened(npm_config_registry=f"http://127.0.0.1:{index.port}/")[1]
    for name in ("left-pad", "@scope%2fleft-pad"):
        told = json.loads(get(env["npm_config_registry"] + name))
        assert get(told["versions"]["1.0.0"]["dist"]["tarball"]) == tarball
    assert index.asked.count("GET /t/left-pad-1.0.0.tgz") == 1
    assert f"sha512-{hashlib.sha512(tarball).hexdigest()}" in [p.name for p in (tmp_path / "cache/packages").iterdir()]
