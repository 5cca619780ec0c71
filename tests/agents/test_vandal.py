"""The vandal, let loose in the real sandbox with small limits: it breaks nothing, and leaves what it should."""

from __future__ import annotations

import sys
import uuid
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import repoassay
from repoassay.agents import find_agent
from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import ExportSpec
from repoassay.tasks import TaskFolder, digest_folder
from repoassay.types import Limits, Task, TaskKind
from repoassay.workspace.preparation import PreparedTask

OUTPUTS = ("a.csv", "b.png", "c/d.json", "e.txt", "f.pdf", "g", "h", "i", "j", "k")
LIMITS = Limits(seconds=60, memory=128 * 2**20, disk=16 * 2**20, processes=32, output=2**16)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def layout(tmp_path: Path, kind: TaskKind, name: str) -> PreparedTask:
    """A task laid out by hand: a small repository, one input, and the base interpreter as its environment."""
    grading: dict[str, object] = {"tests": {"fail_to_pass": ["test_x.py::test"]}}
    if kind is TaskKind.DELIVERABLE:
        grading = {"result": [{"metric": "exists", "of": OUTPUTS[0], "equals": 1}]}
    data = {
        "id": name,
        "title": "A task",
        "kind": kind,
        "domain": "tests",
        "repository": {"source": "bundled:x", "licence": "MIT"},
        "inputs": {"files": ["given.csv"]},
        "outputs": {"files": OUTPUTS if kind is TaskKind.DELIVERABLE else ()},
        "grading": grading,
    }
    for folder in ("base/src/pkg", "base/tests", "base/.git/hooks", "inputs", "environment/bin", "task"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "base/src/pkg/__init__.py").write_text("def total(items):\n    return sum(items)\n")
    (tmp_path / "base/.git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "inputs/given.csv").write_text("a,b\n1,2\n")
    interpreter = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    (tmp_path / "environment/bin/python").symlink_to(interpreter)
    (tmp_path / "environment/pyvenv.cfg").write_text("as it was\n")
    for folder in ("base", "inputs", "environment"):
        settle(tmp_path / folder)
    task = TaskFolder(tmp_path / "task", Task.model_validate(data), "Do it.", "0" * 64)
    return PreparedTask(task, tmp_path / "base", tmp_path / "inputs", tmp_path / "environment")


def test_no_attack_on_the_sandbox_succeeds_and_nothing_of_it_is_left(tmp_path: Path, cache: Cache) -> None:
    made, got, mark = layout(tmp_path, TaskKind.DELIVERABLE, "some-task"), tmp_path / "got", uuid.uuid4().hex
    command = find_agent("vandal").command(made, LIMITS)
    command = replace(command, env={**command.env, "MARK": mark}, collect=(ExportSpec("/workspace/output", got),))
    before = {name: digest_folder(tmp_path / name) for name in ("base", "inputs", "environment")}
    done = NamespaceSandbox(cache).run(command)
    said = done.stdout.decode()
    assert "BROKE" not in said
    for attack in (
        "read ground truth",
        "reach a network",
        "write outside",
        "enter the kernel",
        "kill everything",
        "daemon",
    ):
        assert f"{attack}: held" in said
    # Its bombs take gigabytes when left alone; how far above the limit one look finds a tree is the machine's pace.
    assert done.exit.peak_memory is not None and done.exit.peak_memory < 2**30
    assert {name: digest_folder(tmp_path / name) for name in before} == before
    assert not any(path.is_symlink() or path.is_fifo() for path in got.rglob("*"))
    assert not (got / "late.txt").exists()
    assert "everything" in {item.path for item in done.rejected}
    assert [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and carries(entry, mark)] == []


def carries(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def test_tasks_meet_different_submissions() -> None:
    part = Path(repoassay.__file__).parent / "agents/scripts/vandal_submission.py"
    kinds = {"__name__": "part"}
    exec(compile(part.read_text(), str(part), "exec"), kinds)
    chosen = {zlib.crc32(f"task-{number}".encode()) % len(kinds["EDITS"]) for number in range(120)}
    assert len(chosen) == len(kinds["EDITS"])


@pytest.mark.parametrize("variant", range(12))
def test_every_variant_of_a_hostile_edit_is_left(tmp_path: Path, variant: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the script that works in a folder of ours, as the sandbox adds nothing here but time."""
    part = Path(repoassay.__file__).parent / "agents/scripts/vandal_submission.py"
    made = layout(tmp_path, TaskKind.EDIT, "some-task")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(part.read_text().replace("/workspace/repo", str(made.base)), str(part), "exec"), names)
    edits = names["EDITS"]
    assert isinstance(edits, tuple) and len(edits) == 12
    before = digest_folder(made.base)
    edits[variant]()
    assert digest_folder(made.base) != before


def test_without_a_sandbox_it_attacks_nothing(tmp_path: Path) -> None:
    made = layout(tmp_path, TaskKind.EDIT, "some-task")
    before = digest_folder(made.base)
    done = NoSandbox().run(find_agent("vandal").command(made, LIMITS))
    assert done.stdout == b"This is no sandbox. The vandal attacks nothing else.\n", done.stderr
    assert digest_folder(made.base) == before
    assert [path.name for path in (tmp_path / "inputs").iterdir()] == ["given.csv"]
