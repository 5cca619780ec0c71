"""Packages of plug-ins as tests install them: the example, and made-up ones, each in a folder for PYTHONPATH."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from command_line import repoassay
from repoassay.sandbox.programs import uv_program

__all__ = ["EXAMPLE", "METRIC", "grade", "install_example", "repoassay", "suite_with", "write_package"]

EXAMPLE = Path(__file__).parents[1] / "examples/plugin"
METRIC = """\
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

@metric({name!r}, unit="yes or no", span="[0, 1]", better="larger", source="a test")
def {name}(of):
    {body}
"""
"""A module with one metric, to be filled in with its name and body."""


def install_example(place: Path, *, editable: bool = False) -> Path:
    """Install the example package to a folder; uv brings its build backend, so that no network is needed."""
    how = ["--editable"] if editable else []
    subprocess.run(
        [uv_program(), "pip", "install", "--offline", "--no-deps", "--quiet", "--no-config", "--python",
         sys.executable, "--target", str(place), *how, str(EXAMPLE)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return place


def write_package(
    place: Path, name: str, entries: Mapping[str, Mapping[str, str]], modules: Mapping[str, str], version: str = "1.0"
) -> Path:
    """Lay a distribution out as an installer would: modules by name, and metadata with its entry points."""
    info = place / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = (
        f"[repoassay.{group}]\n" + "".join(f"{key} = {value}\n" for key, value in names.items())
        for group, names in entries.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    for module, text in modules.items():
        (place / f"{module}.py").write_text(text)
    return place


def suite_with(metric: str, place: Path) -> Path:
    """A copy of the example's suite, graded by another metric, and an output for its task."""
    folder = Path(shutil.copytree(EXAMPLE / "src/repoassay_example/suite", place / "suite"))
    task = folder / "tasks/wrap-notes/task.toml"
    task.write_text(task.read_text().replace('"wrapped_share"', f'"{metric}"').replace("options = { width = 72 }", ""))
    (place / "outputs/wrap-notes").mkdir(parents=True)
    shutil.copyfile(folder / "tasks/wrap-notes/inputs/notes.txt", place / "outputs/wrap-notes/wrapped.txt")
    return folder


def grade(place: Path, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Grade what `suite_with` laid out."""
    return repoassay("grade", "suite", "--outputs", "outputs", "--json", *more, cwd=place, path=(path,))
