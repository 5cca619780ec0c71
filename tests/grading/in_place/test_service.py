"""The service that an environment has for its tests: under its public name, at a free port, or not at all."""

from __future__ import annotations

import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

import repoassay
from repoassay.grading.in_place.run import run_in_place
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.folder import TaskFolder
from repoassay.tasks.read import read_task
from repoassay.workspace.preparation import lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
APP = """\
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["HTTP_HOST"].encode()]
"""
PYTHON = '#!/bin/sh\nPYTHONPATH=/env/services/httpbin/lib exec /env/bin/python -B "$3" "$4" $5 $6\n'
TASK = """\
schema = 1
[task]
id = "ask"
title = "Ask httpbin"
kind = "edit"
domain = "Software"
[repository]
source = "folder:repository"
licence = "MIT"
[environment]
python = ">=3.11"
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_ask.py::test_many"]
runner = "repository"
files = ["test_ask.py"]
"""
CHECKS = """\
import os, socket, urllib.request

def test_many():
    url = os.environ["HTTPBIN_URL"]
    assert urllib.request.urlopen(url).read().decode() == url.split("/")[2]

def test_public():
    assert os.environ["HTTPBIN_URL"] == "http://httpbin.org/"

def test_encrypted():
    assert urllib.request.urlopen("https://www.httpbin.org/").read() == b"www.httpbin.org"
    assert urllib.request.urlopen("http://www.google.co.uk/").read() == b"www.google.co.uk"

def test_name():
    assert socket.gethostbyname("httpbin.org") == "127.0.0.1"

def test_none():
    assert "HTTPBIN_URL" not in os.environ and "SSL_CERT_FILE" not in os.environ
"""


def make_task(place: Path) -> TaskFolder:
    """A task whose tests ask httpbin."""
    for name, text in {
        "task.toml": TASK,
        "instruction.md": "Ask.\n",
        "repository/test_ask.py": CHECKS,
        "environment/requirements.txt": REQUIREMENTS.read_text("utf-8"),
        "solution/changes.diff": "--- /dev/null\n+++ b/NOTES\n@@ -0,0 +1 @@\n+A note.\n",
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return read_task(place)


def install(name: str, into: Path) -> None:
    """Copy what is installed of a distribution beside these tests."""
    found = metadata.distribution(name)
    for file in found.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (into / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), into / file)


def certify(folder: Path) -> None:
    """Files as `python -m trustme` leaves them."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-subj", "/CN=a service",
         "-addext", "subjectAltName=DNS:httpbin.org,DNS:www.httpbin.org", "-keyout", "server.key",
         "-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign", "-out", "server.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    shutil.copy(folder / "server.pem", folder / "client.pem")
    (folder / "server.key").chmod(0o644)


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("parts", "passing"), [
    (("lib", "tls"), {"test_many", "test_public", "test_encrypted", "test_name"}),
    (("lib",), {"test_many", "test_name"}),
    ((), {"test_none"}),
])  # fmt: skip
def test_a_service_answers_where_the_environment_has_one(
    tmp_path: Path, parts: tuple[str, ...], passing: set[str]
) -> None:
    pytest.importorskip("werkzeug")
    if "tls" in parts and not shutil.which("openssl"):
        pytest.skip("needs the program openssl")
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    folder = make_task(tmp_path / "ask")
    layout = lay_out(folder, None, cache, sandbox)
    environment = tmp_path / "environment"
    shutil.copytree(layout.environment, environment, symlinks=True)
    service = environment / "services/httpbin"
    if "lib" in parts:
        for name in ("werkzeug", "markupsafe"):
            install(name, service / "lib")
        (service / "lib/httpbin.py").write_text(APP, encoding="utf-8")
        (service / "bin").mkdir()
        (service / "bin/python").write_text(PYTHON, encoding="utf-8")
        (service / "bin/python").chmod(0o755)
    if "tls" in parts:
        certify(service / "tls")
    told = run_in_place(folder, layout.base, {}, sandbox, environment)
    outcomes = {result.id.partition("::")[2]: result.outcome for result in told.report.others}
    assert {name for name, outcome in outcomes.items() if outcome == "passed"} == passing, (outcomes, told.printed)
