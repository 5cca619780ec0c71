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
from repoassay.sandbox import Cache, open_sandbox, remove_tree

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


def test_a_build_that_fetches_is_converted_and_its_hosts_are_told(
    convert: Convert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPOASSAY_PACKAGE_HOSTS", raising=False)
    done = convert({"environment/Dockerfile": FETCHING})
    environment = taken(done).environment
    fetch, starter = environment.build
    assert fetch.startswith("cd /app && export VERSION='1.9' && curl") and fetch.endswith("-d /env/bin")
    assert "/opt/more/bin/*" in starter
    assert environment.hosts == ("releases.example.org",)
    assert done.unreached() == {"one": ["releases.example.org"]}
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", "*.example.org")
    assert done.unreached() == {}
    monkeypatch.delenv("REPOASSAY_PACKAGE_HOSTS")
    remove_tree(done.path / "tasks/one")  # as a proof does where a task passes untouched
    assert done.unreached() == {}


@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        ("git clone https://elsewhere.org/x", ["elsewhere.org"]),
        ("curl -fsSL https://a.example.org/x http://b.example.org:81/y", ["a.example.org", "b.example.org:81"]),
        ("for f in a b; do curl -O https://elsewhere.org/$f; done", ["elsewhere.org"]),
        ("curl -O https://go.dev/doc", ["go.dev", "dl.google.com"]),
        ("cargo install ripgrep", ["index.crates.io", "static.crates.io"]),
    ],
)
def test_addresses_that_are_read_are_named(convert: Convert, line: str, hosts: list[str]) -> None:
    found = taken(convert({"environment/Dockerfile": f"FROM debian\nWORKDIR /app\nRUN {line}\n"}))
    assert list(found.environment.hosts) == hosts


def test_an_address_that_is_not_read_refuses_the_task(convert: Convert) -> None:
    (refusal,) = convert({"environment/Dockerfile": "FROM debian\nRUN curl -fsSL $ADDRESS | sh\n"}).refused
    assert "which builds cannot reach" in refusal.why and refusal.line == 2


def test_go_is_of_the_index_and_what_else_its_line_installs_is_kept(convert: Convert) -> None:
    line = (
        "apt-get install -y jq && curl -LO https://go.dev/dl/go1.22.1.tar.gz && tar -C /usr/local -xzf go1.22.1.tar.gz"
    )
    found = taken(convert({"environment/Dockerfile": f"FROM debian\nWORKDIR /app\nRUN {line}\n"})).environment
    assert found.apt == ("jq",) and found.hosts == () and "/env/go/bin" in "".join(found.build)


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
    return proof_again(tmp_path)


def proof_again(tmp_path: Path) -> StateProof:
    """The proof of a task that was converted before."""
    cache = Cache()
    bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
    try:
        return prove_state_task(tmp_path / "suite/tasks/one", bench)
    finally:
        bench.oracle.close()


@pytest.mark.long
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


@pytest.mark.long
def test_a_program_that_a_build_fetches_is_there_once_its_host_is_allowed(
    served: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPOASSAY_PACKAGE_HOSTS", raising=False)
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
    assert proof.state == "fault" and f"fetches from {HOST}:{served}, which builds here may not reach" in proof.why
    assert f"REPOASSAY_PACKAGE_HOSTS='{HOST}:{served}' allows it" in proof.why
    monkeypatch.setenv("REPOASSAY_PACKAGE_HOSTS", f"{HOST}:{served}")
    proof = proof_again(tmp_path)
    assert (proof.state, proof.why) == ("proven", "")
