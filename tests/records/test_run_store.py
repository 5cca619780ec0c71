"""Runs on stores: copied whole or not seen, never sent twice, and nothing of a hostile store leaves its folder."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import pytest

from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.records import RunFolder, is_store_url, pull_run, push_run, store_url
from repoassay.records.durable_write import write_once
from repoassay.records.remote_store import RemoteStore
from repoassay.types import Attempt, Outcome, Plan, Submission, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_run(path: Path, name: str = "R") -> RunFolder:
    plan = Plan(
        id=name, created=NOW, suite="mini", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )
    return RunFolder.create(path, plan)


def add_attempt(run: RunFolder, name: str) -> None:
    write_once(run.attempt_folder(name) / "submission/deep/changes.diff", f"of {name}\n".encode())
    run.record(
        Attempt(
            id=name, run="R", task="t", task_digest="d", agent="a", started=NOW, ended=NOW, submission=Submission()
        ),
        Verdict(
            task="t", task_digest="d", outcome=Outcome.PASSED, process=True, result=True, grader="g", graded_at=NOW
        ),
    )


@pytest.fixture(params=["file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"file://{tmp_path}/store/run" if request.param == "file" else f"memory://{uuid.uuid4().hex}/run"


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_pushed_comes_back_the_same_and_is_sent_once(tmp_path: Path, url: str) -> None:
    run = make_run(tmp_path / "run")
    for name in ("A1", "A2"):
        add_attempt(run, name)
    first = push_run(run.path, url)
    assert (first.attempts, first.copied) == (2, 2)
    assert (push_run(run.path, url).copied, push_run(run.path, url).files) == (0, 0)
    pulled = pull_run(url, tmp_path / "copy")
    assert (pulled.attempts, pulled.copied) == (2, 2)
    assert content_of(tmp_path / "copy") == content_of(run.path)

    add_attempt(run, "A3")
    write_once(run.attempt_folder("A1") / "verdict.2.json", b"{}")  # graded again later
    assert push_run(run.path, url).copied == 2
    assert pull_run(url, tmp_path / "copy").copied == 2
    assert content_of(tmp_path / "copy") == content_of(run.path)
    assert pull_run(url, tmp_path / "copy").files == 0


def test_an_attempt_at_work_and_a_line_being_written_wait_for_the_next_push(tmp_path: Path, url: str) -> None:
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    write_once(run.attempt_folder("A2") / "log.txt", b"at work")
    with (run.path / "journal.jsonl").open("a") as journal:
        journal.write('{"event": "finished", "attempt": "A2"')
    push_run(run.path, url)
    pull_run(url, tmp_path / "copy")
    assert [done.attempt.id for done in RunFolder(tmp_path / "copy").finished()] == ["A1"]
    assert not (tmp_path / "copy/attempts/A2").exists()


def test_a_push_that_breaks_changes_nothing_and_goes_on(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    push_run(run.path, url)
    for number in range(20):
        add_attempt(run, f"B{number}")
    calls = 0
    whole = RemoteStore.write

    def breaks(self: RemoteStore, name: str, content: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls > 30:
            raise InfraFault("the network is gone")
        whole(self, name, content)

    with monkeypatch.context() as patch:
        patch.setattr(RemoteStore, "write", breaks)
        with pytest.raises(InfraFault):
            push_run(run.path, url)
    assert pull_run(url, tmp_path / "copy").attempts == 1
    again = push_run(run.path, url)
    assert again.files < 20 * 3  # what had arrived was not sent again
    assert pull_run(url, tmp_path / "copy").attempts == 21


def test_another_run_is_never_written_over(tmp_path: Path, url: str) -> None:
    push_run(make_run(tmp_path / "one", "R1").path, url)
    with pytest.raises(BadInput, match="holds another run"):
        push_run(make_run(tmp_path / "two", "R2").path, url)
    with pytest.raises(BadInput, match="holds something else"):
        pull_run(url, tmp_path / "two")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds something else"):
        pull_run(url, tmp_path / "mine")


def rewrite(url: str, change: Any, *, attempt: bool = False) -> None:
    """Change the manifest, or the list of its one attempt, as a hostile store would."""
    files, root = fsspec.core.url_to_fs(store_url(url))
    document = json.loads(files.cat_file(f"{root}/manifest.json"))
    if attempt:
        listed = next(iter(document["attempts"].values()))
        digest = listed["sha256"]
        tree = json.loads(files.cat_file(f"{root}/objects/{digest[:2]}/{digest}"))
        change(tree["files"])
        data = json.dumps(tree).encode()
        digest = hashlib.sha256(data).hexdigest()
        files.makedirs(f"{root}/objects/{digest[:2]}", exist_ok=True)
        files.pipe_file(f"{root}/objects/{digest[:2]}/{digest}", data)
        document["attempts"] = {"A1": {"sha256": digest, "size": len(data)}}
    else:
        change(document)
    files.pipe_file(f"{root}/manifest.json", json.dumps(document).encode())


HOSTILE = (
    "../evil",
    "/etc/evil",
    "a/../../evil",
    "a//b",
    "./a",
    "a/.",
    "a\\..\\b",
    "",
    ".",
    "..",
    "a\nb",
    "x" * 300,
    "a/",
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("attempt", [False, True])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str, attempt: bool) -> None:
    url = f"file://{tmp_path}/store"
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    push_run(run.path, url)

    def change(document: dict[str, Any]) -> None:
        files = document if attempt else document["files"]
        files[name] = next(iter(files.values()))

    rewrite(url, change, attempt=attempt)
    with pytest.raises(BadInput):
        pull_run(url, tmp_path / "inner/copy")
    assert not list(tmp_path.rglob("evil"))


def test_ids_of_attempts_and_odd_files_of_a_manifest_are_refused(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    push_run(run.path, url)
    whole = (tmp_path / "store/manifest.json").read_bytes()
    one = json.loads(whole)["attempts"]["A1"]
    for change in (
        lambda document: document["attempts"].update({"../../up": one}),
        lambda document: document["files"].pop("run.json"),
        lambda document: document["files"].update({"attempts": one}),
        lambda document: document["files"].update({".lock": one}),
        lambda document: document["files"].update({"attempts/A1/x": one}),
        lambda document: document.update({"unknown": 1}),
        lambda document: document["files"]["run.json"].update({"sha256": "../" * 20}),
        lambda document: document["files"]["run.json"].update({"size": 10**15}),
    ):
        (tmp_path / "store/manifest.json").write_bytes(whole)
        rewrite(url, change)
        with pytest.raises(BadInput):
            pull_run(url, tmp_path / "copy")


def test_a_content_that_is_not_of_its_digest_is_refused(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    push_run(run.path, url)
    digest = hashlib.sha256(b"of A1\n").hexdigest()
    place = tmp_path / f"store/objects/{digest[:2]}/{digest}"
    for content in (b"of A2\n", b"of A1\nand more", b""):
        place.write_bytes(content)
        with pytest.raises(BadInput, match="has not what its manifest names"):
            pull_run(url, tmp_path / "copy")
        assert not [path for path in (tmp_path / "copy").rglob("*") if "part" in path.name]
    place.unlink()
    with pytest.raises(BadInput, match="has not what its manifest names"):
        pull_run(url, tmp_path / "copy")
    push_run(run.path, url)


def test_links_are_neither_sent_nor_followed(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    run = make_run(tmp_path / "run")
    add_attempt(run, "A1")
    push_run(run.path, url)
    outside = tmp_path / "outside"
    outside.mkdir()
    pull_run(url, tmp_path / "copy")
    for path in sorted((tmp_path / "copy/attempts/A1/submission").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (tmp_path / "copy/attempts/A1/submission/deep").symlink_to(outside)
    with pytest.raises(BadInput, match="in the way"):
        pull_run(url, tmp_path / "copy")
    assert not list(outside.iterdir())
    (run.attempt_folder("A1") / "submission/link").symlink_to("/etc/passwd")
    with pytest.raises(BadInput, match="no plain file"):
        push_run(run.path, url)
    os.mkfifo(run.path / "pipe")
    with pytest.raises(BadInput):
        push_run(run.path, url)


def test_what_cannot_be_asked_is_a_sentence(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with pytest.raises(BadInput, match="cannot be used"):
        push_run(run.path, "nowhere://a/b")
    with pytest.raises(Unavailable, match="needs a driver"):
        push_run(run.path, "hdfs://a/b")
    with pytest.raises(BadInput, match="no URL"):
        pull_run("simplecache::s3://bucket/run", tmp_path / "copy")
    with pytest.raises(BadInput, match="holds no run"):
        pull_run(f"file://{tmp_path}/nothing", tmp_path / "copy")
    (tmp_path / "file").write_text("")
    with pytest.raises(InfraFault, match="cannot be"):
        push_run(run.path, f"file://{tmp_path}/file/below")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("s3://bucket/run", "s3://bucket/run"),
        ("s3:/bucket/run", "s3://bucket/run"),
        ("file:///tmp/x", "file:///tmp/x"),
        ("file:/tmp/x/", "file:///tmp/x"),
        ("runs/a", None),
        ("latest", None),
        ("C:x", None),
    ],
)
def test_a_url_survives_being_taken_for_a_path(text: str, meant: str | None) -> None:
    assert is_store_url(Path(text)) is (meant is not None)
    if meant:
        assert store_url(Path(text)) == store_url(text) == meant


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", ["manifest.json", "object"])
def test_what_is_no_file_of_a_shared_folder_is_not_waited_for(tmp_path: Path, kind: str, name: str) -> None:
    run, url = make_run(tmp_path / "run"), f"file://{tmp_path}/store/run"
    add_attempt(run, "A1")
    push_run(run.path, url)
    store = tmp_path / "store/run"
    place = store / name if name == "manifest.json" else next((store / "objects").rglob("?" * 64))
    place.unlink()
    os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="is a pipe, a device or a folder"):
        pull_run(url, tmp_path / "copy")
