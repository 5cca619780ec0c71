"""What tests of `grade` and `serve` on many machines share: outputs, their outcomes here, a client of the service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repoassay.tasks import SuiteFolder, find_suite

__all__ = ["CLIENT", "PROGRAM", "here", "lines_of", "outcomes", "outputs", "suite"]

PROGRAM = str(Path(sys.executable).with_name("repoassay"))
CLIENT = """
import json, sys, urllib.request
patch = open(sys.argv[1]).read()
def ask(path, data=None):
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request("http://127.0.0.1:8765/v1/" + path, body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=200))
task = "edit-ledger-account-prefix"
rows = [{"id": task, "patch": patch if each % 2 else "", "key": str(each)} for each in range(300)]
ids = [each["submission"] for each in ask("submissions", rows)["submissions"]]
words = []
for each in ids:
    answer = {"status": ""}
    while answer["status"] != "done":
        answer = ask("submissions/" + each + "?wait=60")
    words.append(answer["verdict"]["outcome"])
    print("judged", flush=True)
print(json.dumps([words, len(set(ids))]), flush=True)
"""


@pytest.fixture(scope="module")
def suite() -> SuiteFolder:
    return find_suite("starter")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory, suite: SuiteFolder) -> Path:
    """A right output of every task."""
    place = tmp_path_factory.mktemp("given")
    for folder in suite.tasks:
        source = folder.solution if folder.task.kind.changes_repository else folder.tests
        shutil.copytree(source, place / folder.task.id)
    return place


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, outputs: Path) -> tuple[dict[str, str], Path]:
    """What this machine makes of them, and its cache: nodes reach no package index."""
    place = tmp_path_factory.mktemp("here")
    line: list[str | Path] = [PROGRAM, "grade", "starter", "--outputs", outputs, "--results", place / "r.jsonl"]
    subprocess.run(line, env=os.environ | {"REPOASSAY_CACHE": str(place / "cache")}, capture_output=True, check=True)
    return outcomes(place / "r.jsonl"), place / "cache"


def outcomes(results: Path) -> dict[str, str]:
    return {record["task"]: record["outcome"] for record in map(json.loads, lines_of(results))}


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
