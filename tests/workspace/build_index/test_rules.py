"""A loopback index with rules: what is older than a day and of no refused project, and nothing else by any way."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pytest

from repoassay.package_proxy.indexes import Indexes
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import uv_program
from repoassay.workspace.build_index.relay import Relay
from repoassay.workspace.build_index.rules import IndexRequest, IndexRules
from repoassay.workspace.build_index.store import Store
from repoassay.workspace.build_index.upstream import IndexUpstream
from workspace.build_index.index import Index, serving, wheel

DAY = date(2020, 5, 17)
OLD, NEW = "2020-05-17T23:59:59.999Z", "2020-05-18T00:00:00Z"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
Open = Callable[..., dict[str, str]]


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        yield made


@pytest.fixture
def journal() -> list[IndexRequest]:
    return []


@pytest.fixture
def opened(index: Index, tmp_path: Path, journal: list[IndexRequest]) -> Iterator[Open]:
    made: list[Relay] = []

    def open_relay(rules: IndexRules, **environ: str) -> dict[str, str]:
        given = {"UV_DEFAULT_INDEX": index.url, "PIP_CONFIG_FILE": "/dev/null", **environ}
        indexes = Indexes.configured(given, tmp_path / "home")
        relay = Relay(indexes, Store(Cache(tmp_path / "cache"), IndexUpstream({})), rules, journal.append)
        listening = socket.create_server(("127.0.0.1", 0))
        relay.serve(listening)
        made.append(relay)
        return relay.env(listening.getsockname()[1])

    yield open_relay
    for relay in made:
        relay.close()


def get(url: str) -> bytes:
    with DIRECT.open(url, timeout=10) as answer:
        body: bytes = answer.read()
        return body


def refused(url: str) -> str:
    with pytest.raises(urllib.error.HTTPError) as error:
        get(url)
    with error.value as answer:
        assert answer.code in (403, 404)
        return str(answer.read().decode())


@pytest.mark.parametrize(
    "asked",
    ["more-itertools", "More_Itertools", "more.itertools", "more--itertools", "moreitertools", "py-more-itertools",
     "more-itertools-nightly", "python-more-itertools", "@fork/more-itertools", "MORE__ITERTOOLS"],
)  # fmt: skip
def test_a_refused_project_is_refused_in_every_spelling(asked: str) -> None:
    assert IndexRules(refused=frozenset({"more-itertools"})).refuses(asked)


@pytest.mark.parametrize("asked", ["itertools", "more", "pytest", "types-more-itertools-x", "@types/more-itertools"])
def test_other_projects_are_not_refused(asked: str) -> None:
    assert not IndexRules(refused=frozenset({"more-itertools", "py", "python-core"})).refuses(asked)


def test_other_names_of_a_prefixed_project_and_names_of_affixes_alone() -> None:
    rules = IndexRules(refused=frozenset({"python-dateutil", "py"}))
    assert rules.refuses("dateutil") and rules.refuses("py") and not rules.refuses("python") and not rules.refuses("")


@pytest.mark.parametrize(
    ("uploaded", "passed"),
    [
        (OLD, True),
        (NEW, False),
        ("2020-05-17", True),
        ("2020-05-17T23:30:00-07:00", False),
        ("", False),
        ("soon", False),
    ],
)
def test_the_day_is_inclusive_and_in_utc(uploaded: str, passed: bool) -> None:
    assert (IndexRules(newest=DAY).file("a-1.0.tar.gz", uploaded) is None) is passed


@pytest.mark.parametrize(
    ("name", "uploaded", "passed"),
    [
        ("atomicwrites-1.3.0-py2.py3-none-any.whl", "2022-07-08", True),
        ("atomicwrites-2.0.tar.gz", "2022-07-09", False),
        ("atomicwrites_more-1.0.tar.gz", "2022-07-08", False),
        ("setuptools-68.0.0-py3-none-any.whl", "2023-06-19", True),
        ("pytest-7.0.tar.gz", "2022-02-03", False),
    ],
)
def test_a_build_has_what_was_uploaded_anew_and_tools_that_are_younger(name: str, uploaded: str, passed: bool) -> None:
    assert (IndexRules.until("2020-05-17").file(name, uploaded) is None) is passed
    assert IndexRules(newest=DAY).file(name, uploaded) is not None


def test_environments_are_known_by_the_day_and_by_what_was_let_through() -> None:
    days = ("2020-05-17", "2022-07-07", "2022-07-08", "2025-01-01")
    assert [IndexRules.until(day).identity for day in days] == [
        "2020-05-17+", "2022-07-07+", "2022-07-08", "2025-01-01",
    ]  # fmt: skip


def test_newer_files_are_on_no_page_and_not_to_be_had_by_address(
    index: Index, opened: Open, journal: list[IndexRequest]
) -> None:
    index.dated("dep", {"dep-1.0.tar.gz": OLD, "dep-2.0.tar.gz": NEW})
    everything, dated = opened(IndexRules()), opened(IndexRules(newest=DAY))
    told = json.loads(get(dated["PIP_INDEX_URL"] + "dep/"))
    assert [item["filename"] for item in told["files"]] == ["dep-1.0.tar.gz"] and told["versions"] == ["1.0"]
    assert told["files"][0]["upload-time"] == OLD  # for uv's own --exclude-newer
    assert get(told["files"][0]["url"]) == b"dep-1.0.tar.gz" and journal[-2].withheld == 1
    whole = json.loads(get(everything["PIP_INDEX_URL"] + "dep/"))["files"]
    assert len(whole) == 2
    guessed = whole[1]["url"].rpartition("/files/")[2]
    base = dated["PIP_INDEX_URL"].partition("/python/")[0]
    assert "after 2020-05-17" in refused(f"{base}/files/{guessed}")
    assert (journal[-1].file, journal[-1].rule, journal[-1].allowed) == ("dep-2.0.tar.gz", "date", False)
    refused(f"{base}/files/{guessed}.metadata")
    assert not any("dep-2.0" in asked for asked in index.asked)


def test_a_refused_project_has_no_page_and_no_file_on_pages_of_others(
    index: Index, opened: Open, journal: list[IndexRequest], tmp_path: Path
) -> None:
    index.dated("victim", {"victim-1.0.tar.gz": OLD})
    index.dated("mirror", {"mirror-1.0.tar.gz": OLD, "victim-1.0-py3-none-any.whl": OLD, "Victim-1.1.tar.gz": OLD})
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "victim-1.0-py3-none-any.whl").write_bytes(wheel("victim"))
    env = opened(IndexRules(refused=frozenset({"victim"})), UV_FIND_LINKS=str(folder))
    for spelling in ("victim", "Victim", "python_victim"):
        assert "the one this task is about" in refused(f"{env['PIP_INDEX_URL']}{spelling}/")
        assert (journal[-1].project, journal[-1].rule) == (spelling, "name")
    files = json.loads(get(env["PIP_INDEX_URL"] + "mirror/"))["files"]
    assert [item["filename"] for item in files] == ["mirror-1.0.tar.gz"]
    assert get(env["UV_FIND_LINKS"]) == b""
    assert not any("victim" in asked for asked in index.asked)


def test_an_index_without_upload_times_gives_nothing_unless_the_user_says_so(index: Index, opened: Open) -> None:
    index.add("dep", "dep-1.0-py3-none-any.whl", wheel("dep"))
    rules = IndexRules(newest=DAY)
    assert "tells no upload times" in refused(opened(rules)["PIP_INDEX_URL"] + "dep/")
    assert b"dep-1.0" in get(opened(rules, REPOASSAY_UNDATED_FILES="serve")["PIP_INDEX_URL"] + "dep/")
    index.dated("both", {"both-1.0.tar.gz": None, "both-2.0.tar.gz": OLD})
    files = json.loads(get(opened(rules)["PIP_INDEX_URL"] + "both/"))["files"]
    assert [item["filename"] for item in files] == ["both-2.0.tar.gz"]


def test_packages_of_npm_by_date_and_name(index: Index, opened: Open, journal: list[IndexRequest]) -> None:
    def versions(*names: str) -> dict[str, object]:
        return {each: {"dist": {"tarball": f"http://127.0.0.1:{index.port}/t/{each}.tgz"}} for each in names}

    times = {"created": OLD, "1.0.0": "2019-01-01T00:00:00Z", "1.1.0": OLD, "2.0.0": NEW}
    told = {"name": "dep", "versions": versions("1.0.0", "1.1.0", "2.0.0"), "time": times}
    index.pages["/dep"] = json.dumps(
        told | {"dist-tags": {"latest": "2.0.0", "old": "1.0.0", "next": "2.0.0"}}
    ).encode()
    index.pages["/untold"] = json.dumps({"name": "untold", "versions": versions("1.0.0")}).encode()
    rules = IndexRules(newest=DAY, refused=frozenset({"victim"}))
    node = opened(rules, npm_config_registry=f"http://127.0.0.1:{index.port}/")["npm_config_registry"]
    found = json.loads(get(node + "dep"))
    assert list(found["versions"]) == ["1.0.0", "1.1.0"] == list(found["time"])
    assert found["dist-tags"] == {"latest": "1.1.0", "old": "1.0.0"}
    index.pages |= {"/t/1.0.0.tgz": b"first", "/t/2.0.0.tgz": b"later"}
    assert get(node + "dep/-/1.0.0.tgz") == b"first"  # as lock files have it
    assert "after 2020-05-17" in refused(node + "dep/-/2.0.0.tgz") and journal[-1].rule == "date"
    refused(node + "dep/-/3.0.0.tgz")
    refused(node + "victim/-/victim-1.0.0.tgz")
    assert journal[-1].rule == "name"
    assert "tells no upload times" in refused(node + "untold")
    for name in ("victim", quote("@other/victim", safe="@")):
        refused(node + name)
        assert journal[-1].rule == "name"


def test_uv_resolves_what_is_old_enough(index: Index, opened: Open, tmp_path: Path) -> None:
    index.dated("dep", {"dep-1.0-py3-none-any.whl": OLD, "dep-2.0-py3-none-any.whl": NEW}, wheel("dep"))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "uv"), "UV_NO_CONFIG": "1"}
    listing = tmp_path / "in.txt"
    listing.write_text("dep\n")

    def resolved(rules: IndexRules, *arguments: str) -> str:
        command = [uv_program(), "pip", "compile", "--no-header", "--no-deps", *arguments, str(listing)]
        shutil.rmtree(tmp_path / "uv", ignore_errors=True)
        done = subprocess.run(command, env=env | opened(rules), capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.partition("\n")[0] or done.stderr

    assert resolved(IndexRules(newest=DAY)) == "dep==1.0"
    assert resolved(IndexRules(), "--exclude-newer", "2020-05-17") == "dep==1.0"
    assert resolved(IndexRules()) == "dep==2.0"
