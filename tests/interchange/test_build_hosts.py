"""Commands of a Dockerfile that fetch from hosts which the user allows are commands of the build, and run as such."""

from __future__ import annotations

import http.server
import io
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from interchange.test_harbor_settings import FILES, Convert, convert, no_bench, taken
from repoassay.engine import GradingContext
from repoassay.interchange import import_suite
from repoassay.interchange.state_proof import StateProof, prove_state_task
from repoassay.sandbox import Cache, open_sandbox

__all__ = ["convert", "no_bench"]

HOST = "127.0.0.2"
"""The machine's own, but none that clients go to without the proxy."""
TERRAFORM = "https://releases.example.org/tool/${VERSION}/tool.zip"
FETCHING = f"""\
FROM python:3.11
ARG VERSION=1.9
WORKDIR /app
RUN curl -fsSL -o /tmp/tool.zip {TERRAFORM} && unzip -q /tmp/tool.zip -d /usr/local/bin
ENV PATH=/opt/more/bin:$PATH
"""


def test_hosts_that_nobody_allowed_are_named(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPOASSAY_PACKAGE_HOSTS", raising=False)
    (refusal,) = convert({"environment/Dockerfile": FETCHING}).refused
    assert "from hosts that builds may not reach" in refusal.why and refusal.line == 4
    assert refusal.text.startswith("REPOASSAY_PACKAGE_HOSTS='releases.example.org' lets them: RUN curl")


def test_what_an_allowed_host_gives_is_installed_in_the_environment(
    convert: Convert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", "*.example.org")
    fetch, starter = taken(convert({"environment/Dockerfile": FETCHING})).environment.build
    assert fetch.startswith("cd /app && export VERSION='1.9' && curl") and fetch.endswith("-d /env/bin")
    assert "/opt/more/bin/*" in starter


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("RUN curl -fsSL $ADDRESS | sh", "which builds cannot reach"),
        ("RUN git clone https://elsewhere.org/x", "hosts that builds may not reach"),
        ("RUN curl -fsSL https://releases.example.org/x https://elsewhere.org/y", "hosts that builds may not reach"),
        ("RUN for f in a b; do curl -O https://elsewhere.org/$f; done", "hosts that builds may not reach"),
    ],
)
def test_only_addresses_that_are_read_and_allowed_are_fetched_from(
    convert: Convert, monkeypatch: pytest.MonkeyPatch, line: str, why: str
) -> None:
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", "releases.example.org")
    (refusal,) = convert({"environment/Dockerfile": f"FROM debian\nWORKDIR /app\n{line}\n"}).refused
    assert why in refusal.why and refusal.line == 3


def test_modules_of_go_come_from_where_the_user_allows(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "environment/Dockerfile": "FROM golang:1.22\nWORKDIR /app\nCOPY go.mod .\nRUN go mod download\n",
        "environment/go.mod": "module x\nrequire github.com/a/b v1.2.3\n",
    }
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://packages.example.org/simple")
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", "proxy.golang.org")
    (refusal,) = convert(files).refused
    assert refusal.text.startswith("REPOASSAY_PACKAGE_HOSTS='sum.golang.org'")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[int]:
    """The port at which a server gives an archive with a program."""
    place = tmp_path / "served"
    place.mkdir()
    program = b"#!/bin/sh\necho built by $0: $*\n"
    with tarfile.open(place / "greet.tar.gz", "w:gz") as archive:
        about = tarfile.TarInfo("greet/bin/greet")
        about.size, about.mode = len(program), 0o755
        archive.addfile(about, io.BytesIO(program))
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(place))
    with http.server.ThreadingHTTPServer((HOST, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def proof_of(tmp_path: Path, changed: dict[str, str]) -> StateProof:
    """The proof of a task of Harbor's that is converted first."""
    for path, content in {**FILES, **changed}.items():
        place = tmp_path / "theirs/one" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    done = import_suite("harbor", tmp_path / "theirs", tmp_path / "suite", no_bench)
    assert done.refused == []
    cache = Cache()
    bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
    try:
        return prove_state_task(tmp_path / "suite/tasks/one", bench)
    finally:
        bench.oracle.close()


def test_a_clone_is_there_without_its_history(served: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", f"{HOST}:{served}")
    repo = tmp_path / "served/project"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    (repo / "answer.txt").write_text("41\n")
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "-A"], ["commit", "-qm", "one"], ["update-server-info"]):
        subprocess.run([*git, *words], check=True)
    dockerfile = f"""\
FROM debian
RUN git clone http://{HOST}:{served}/project/.git /app/project
WORKDIR /app/project
RUN git checkout -q -b work && git remote remove origin
"""
    test = """\
import os


def test_it():
    assert open('/app/project/answer.txt').read() == '42\\n'
    assert not os.path.exists('/app/project/' + '.gi' + 't')
"""
    proof = proof_of(tmp_path, {"environment/Dockerfile": dockerfile, "tests/test_outputs.py": test,
                                "solution/solve.sh": "echo 42 > answer.txt\n"})  # fmt: skip
    assert (proof.state, proof.why) == ("proven", "")


@pytest.mark.parametrize(
    "changed",
    [
        {"instruction.md": "Find the commit by git bisect, and write it to /app/out/sum.txt.\n"},
        {"solution/solve.sh": "git checkout HEAD~1 -- a\n"},
    ],
)
def test_a_task_that_needs_the_history_is_refused(
    convert: Convert, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str]
) -> None:
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", "releases.example.org")
    clone = "FROM debian\nWORKDIR /app\nRUN git clone https://releases.example.org/x\n"
    (refusal,) = convert({"environment/Dockerfile": clone, **changed}).refused
    assert "needs the history" in refusal.why


def test_a_program_that_a_build_fetches_is_there_for_agents_and_tests(
    served: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", f"{HOST}:{served}")
    dockerfile = f"""\
FROM debian
WORKDIR /app
RUN curl -fsSL http://{HOST}:{served}/greet.tar.gz | tar -xz -C /usr/local
ENV PATH=/usr/local/greet/bin:$PATH
"""
    test = "def test_it():\n    assert 'hello' in open('/app/out/sum.txt').read()\n"
    changed = {"environment/Dockerfile": dockerfile, "tests/test_outputs.py": test,
               "solution/solve.sh": "mkdir -p /app/out && greet hello > /app/out/sum.txt\n"}  # fmt: skip
    proof = proof_of(tmp_path, changed)
    assert (proof.state, proof.why) == ("proven", "")
