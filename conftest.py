"""Run the examples of README.md and docs/: shell as a newcomer would, TOML through the task reader."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

ROOT = Path(__file__).parent
# Examples that set things up, install, or take minutes are run by .ci/run and by the tests, not here.
NOT_HERE = re.compile(r"^(make|pip|git clone|apt-get) ", re.MULTILINE)


def run_shell(example: Example) -> None:
    """Run a shell block in a folder of its own that all blocks of one document share; it must succeed."""
    script = str(example.parsed)
    if NOT_HERE.search(script) or "my-agent" in script or "./my-tasks" in script:
        return
    if "folder" not in example.namespace:
        example.namespace["folder"] = tempfile.mkdtemp(prefix="repoassay-examples-")
    folder = example.namespace["folder"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    example.namespace["printed"] = done.stdout.decode()


def read_toml(example: Example) -> None:
    """A TOML block must parse, and a whole task must be one."""
    from repoassay.tasks import task_from_toml
    from repoassay.types import HiddenTests, StrengthSettings, Suite, TaskStep

    text = str(example.parsed)
    data = tomllib.loads(text)
    if "task" in data:
        task_from_toml(text)
    elif "suite" in data:
        Suite.model_validate(data["suite"])
        StrengthSettings.model_validate(data.get("strength", {}))
    elif "steps" in data:
        for step in data["steps"]:
            TaskStep.model_validate(step)
    elif "grading" in data:
        HiddenTests.model_validate(data["grading"]["tests"])


def remove_folder(namespace: dict[str, object]) -> None:
    """Remove what the shell blocks of a document left."""
    if "folder" in namespace:
        shutil.rmtree(str(namespace["folder"]), ignore_errors=True)


pytest_collect_file = Sybil(
    parsers=[
        CodeBlockParser("sh", run_shell),
        CodeBlockParser("toml", read_toml),
        PythonCodeBlockParser(),
    ],
    teardown=remove_folder,
    patterns=["README.md", "docs/*.md"],
    excludes=["docs/reference/*", "docs/python.md"],  # tests/test_public_api.py runs that guide in one piece
).pytest()
