"""Steps of state tasks as they are read: each disagreement of task.toml and folder is told; old folders are read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.errors import BadTask
from repoassay.formats import edit_task_toml
from repoassay.tasks import lint, read_task, step_files, step_folders, task_from_toml
from state_tasks import write_task
from step_tasks import DOCUMENT, write_steps


def test_each_step_is_a_state_task_by_itself(tmp_path: Path) -> None:
    folder = read_task(write_steps(tmp_path))
    first, second = step_folders(folder)
    assert (first.step, first.task.steps, first.task.limits.seconds) == ("sum", (), 30.0)
    assert first.instruction == "Write the sum of data/parcels.txt to sum.txt."
    assert (second.tests, second.task.limits.seconds) == (folder.path / "steps/sort/tests", 20.0)
    assert second.task.grading.tests is not None and second.task.grading.tests.runner == "script"
    assert len({folder.digest, first.digest, second.digest}) == 3
    assert {path: file.content for path, file in step_files(second).items()} == {"workspace/data/late/more.txt": b"7\n"}
    assert folder.instruction.startswith("# Step 1 of 2: sum") and "# Step 2 of 2: sort" in folder.instruction
    assert lint(folder.path) == [advice for advice in lint(folder.path) if advice.file == "task.toml"]


def test_a_task_without_steps_has_none_and_may_have_a_folder_of_that_name(tmp_path: Path) -> None:
    place = write_task(tmp_path)
    (place / "steps").mkdir()
    (place / "steps/notes.txt").write_text("old")
    folder = read_task(place)
    assert step_folders(folder) == [] and folder.task.steps == ()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    task = read_task(write_steps(tmp_path)).task
    assert task_from_toml(edit_task_toml(task)) == task


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda place: (place / "steps/sort/instruction.md").unlink(), "steps/sort/instruction.md: is missing"),
        (lambda place: (place / "steps/sort/tests/test.sh").unlink(), "steps[1].tests.fail_to_pass[0]"),
        (lambda place: (place / "steps/sort/solution/solve.sh").write_text(""), "solve.sh: is empty"),
        (lambda place: shutil.copytree(place / "steps/sum", place / "steps/more"), "is no part of a step"),
        (lambda place: (place / "steps/sort/notes.txt").write_text(""), "steps/sort/notes.txt: is no part of a step"),
        (lambda place: (place / "instruction.md").write_text("All"), "instruction.md: belongs to no step"),
        (lambda place: shutil.copytree(place / "steps/sum/tests", place / "tests"), "belongs to no step"),
        (lambda place: (place / "steps/sort/files/opt").mkdir() or (place / "steps/sort/files/opt/x").write_text(""),
         "lies in none of the task's places as '/opt/x'"),
        (lambda place: (place / "steps/sort/files/opt").symlink_to("/etc"), "is a link"),
    ],
)  # fmt: skip
def test_what_does_not_agree_is_told(tmp_path: Path, change: Change, told: str) -> None:
    place = write_steps(tmp_path)
    change(place)
    with pytest.raises(BadTask) as error:
        read_task(place)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "state"', 'kind = "edit"', "steps"),
        ('name = "sort"', 'name = "SUM"', "steps: two are called 'sum'"),
        ('name = "sort"', 'name = "../sort"', "must start with a letter or digit"),
        ("min_reward = 1", "min_rewards = 1", "is not a known key"),
        ("seconds = 20\n[steps.tests]", "seconds = 0\n[steps.tests]", "must be more than 0"),
        ('reward = "mean"', 'reward = "best"', "must be 'mean' or 'final'"),
        ('source = "folder:files"', 'source = "folder:steps"', "names what agents must not see"),
        ("[grading]\n", '[grading.tests]\nfail_to_pass = ["a.py::b"]\n[grading]\n', "tests of its own"),
    ],
)
def test_what_task_toml_cannot_mean_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in DOCUMENT
    with pytest.raises(BadTask) as error:
        read_task(write_steps(tmp_path, task=DOCUMENT.replace(old, new, 1)))
    assert told in str(error.value), error.value


@pytest.mark.long
def test_steps_are_shown(tmp_path: Path) -> None:
    place = write_steps(tmp_path)
    page = repoassay("tasks", "show", place, cwd=tmp_path).stdout
    assert "step 1:       sum, 30 s, ends the attempt below a reward of 1" in page
    assert "step 2:       sort, 20 s\n" in page and "must turn:    test.sh::__script__" in page
    assert "reward:       mean of 2 steps" in page
    told = data_of(repoassay("tasks", "show", place, "--json", cwd=tmp_path).stdout)
    assert [step["name"] for step in told["task"]["steps"]] == ["sum", "sort"]
