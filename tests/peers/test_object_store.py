"""Runs on an object store: the real S3 driver against a server that speaks S3 on loopback (moto)."""

from __future__ import annotations

import filecmp
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from peers.python import PYTHON, ROOT, needs_peers, run_peer

pytestmark = [needs_peers, pytest.mark.timeout(600)]
KEYS = {"AWS_ACCESS_KEY_ID": "no-secret", "AWS_SECRET_ACCESS_KEY": "no-secret", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """Where an empty bucket `runs` is served."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    argv = [str((ROOT / PYTHON).absolute()), "-m", "moto.server", "-p", url.rpartition(":")[2]]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(argv, stdout=log, stderr=log, env={**os.environ, **KEYS})
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/runs", method="PUT"), timeout=10).close()
                break
            except urllib.error.URLError:
                assert server.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
        yield url
    finally:
        server.kill()
        server.wait()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_run_goes_to_an_object_store_and_comes_back_whole(tmp_path: Path, endpoint: str) -> None:
    env = {**KEYS, "AWS_ENDPOINT_URL": endpoint, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    back = tmp_path / "back"
    task = ("--task", "phone-*", "--out", str(tmp_path / "runs"), "--no-preflight")
    run_peer("-m", "repoassay", "run", "starter", "--agent", "nothing", *task, **env)
    (run,) = (tmp_path / "runs").glob("*-starter-*")
    run_peer("-m", "repoassay", "store", "push", str(run), "s3://runs/night/12", **env)
    assert "phone-list-clean" in run_peer("-m", "repoassay", "show", "s3://runs/night/12", **env)
    run_peer("-m", "repoassay", "store", "pull", "s3://runs/night/12", str(back), **env)
    assert files(back) <= files(run)
    assert (back / "run.json").is_file()
    assert all(filecmp.cmp(run / name, back / name, shallow=False) for name in files(back))
    again = run_peer("-m", "repoassay", "store", "push", str(run), "s3://runs/night/12", **env)
    assert " 0 of them copied now" in again
