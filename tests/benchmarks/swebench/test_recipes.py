"""What a recipe's commands leave, where they are run for real."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from repoassay.benchmarks.swebench.recipes import RepositoryRecipe
from repoassay.sandbox import uv_program

SETUP = "from setuptools import setup\nsetup(name='probe', version='1', packages=['probe'])\n"
BUILD = "[build-system]\nrequires = ['setuptools>=64']\nbuild-backend = 'setuptools.build_meta'\n"


@pytest.mark.long
@pytest.mark.parametrize(("project", "there"), [("", True), (BUILD, False)])
def test_a_root_is_on_the_search_path_where_pip_put_it_there(project: str, there: bool, tmp_path: Path) -> None:
    repository, environment = tmp_path / "repository", tmp_path / "environment"
    (repository / "probe").mkdir(parents=True)
    (repository / "probe/__init__.py").touch()
    (repository / "setup.py").write_text(SETUP)
    if project:
        (repository / "pyproject.toml").write_text(project)
    subprocess.run([uv_program(), "venv", "--quiet", str(environment)], check=True, cwd=tmp_path)
    path = f"{environment / 'bin'}:{Path(uv_program()).parent}:{os.environ['PATH']}"
    variables = {**os.environ, "VIRTUAL_ENV": str(environment), "PATH": path}
    (command,) = RepositoryRecipe(python="3.11").commands("1", "3.11", frozen=True)
    subprocess.run(["/bin/sh", "-ec", command], check=True, capture_output=True, env=variables, cwd=repository)
    asked = [str(environment / "bin/python"), "-I", "-c", "import probe, sys; print(*sys.path, sep='\\n')"]
    found = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=tmp_path).stdout.splitlines()
    assert (str(repository) in found) is there
