"""Harbor tasks of several steps become state tasks with steps, or are refused with what no step can be given here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.agents.command import CommandAgent
from repoassay.engine import GradingContext
from repoassay.engine.attempt import work
from repoassay.interchange import import_suite, prove_state_tasks
from repoassay.tasks import TaskFolder, find_suite, step_folders
from repoassay.types import Outcome, TaskStep
from state_tasks import bench

__all__ = ["bench"]

ABOUT = """\
schema_version = "1.1"
[environment]
allow_internet = true
[agent]
timeout_sec = 120.0
[[steps]]
name = "1_sum"
min_reward = 1.0
dependencies = []
[steps.agent]
timeout_sec = 60.0
[steps.verifier]
timeout_sec = 30.0
[[steps]]
name = "2_sort"
inherit_prior_session = true
"""
BY_EXIT = """\
#!/bin/bash
python3 -m pytest /tests/test_sum.py -rA
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
SORT = """\
#!/bin/bash
score=0
[ "$(tr '\\n' ' ' < /app/sorted.txt)" = "3 5 7 " ] && score=1
echo $score > /logs/verifier/reward.txt
"""
FILES = {
    "task.toml": ABOUT,
    "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY parcels.txt .\n",
    "environment/parcels.txt": "5\n3\n",
    "steps/1_sum/instruction.md": "Write the sum of /app/parcels.txt to /app/sum.txt.",
    "steps/1_sum/tests/test.sh": BY_EXIT,
    "steps/1_sum/tests/test_sum.py": "def test_sum():\n    assert open('/app/sum.txt').read().strip() == '8'\n",
    "steps/1_sum/solution/solve.sh": "echo 8 > /app/sum.txt\n",
    "steps/2_sort/instruction.md": "More came to /app/late.txt: write all, sorted, to /app/sorted.txt.",
    "steps/2_sort/workdir/late.txt": "0\n",
    "steps/2_sort/workdir/setup.sh": 'test -f parcels.txt && echo 7 > late.txt\nrm -- "$0"\n',
    "steps/2_sort/tests/test.sh": SORT,
    "steps/2_sort/solution/solve.sh": "cat parcels.txt late.txt | sort -n > sorted.txt\n",
}
Write = Callable[..., Path]


@pytest.fixture
def theirs(tmp_path: Path) -> Write:
    def write(**changed: str | None) -> Path:
        """The task's files; `changed` by path, with `__` for `/` and without the ending; None leaves one out."""
        named = {name.rpartition(".")[0].replace("/", "__") or name: name for name in FILES} | {"task": "task.toml"}
        extra = {path: text for path, text in changed.items() if path not in named}
        for path, name in named.items():
            if (text := changed.get(path, FILES[name])) is not None:
                place = tmp_path / "theirs/parcels" / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
        for path, text in extra.items():
            place = tmp_path / "theirs/parcels" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text or "")
        return tmp_path / "theirs"

    return write


def no_bench() -> GradingContext:
    """Nothing of these tasks runs while they are converted."""
    raise AssertionError("something was to run")


def taken(source: Path) -> TaskFolder:
    done = import_suite("harbor", source, source.parent / "suite", no_bench)
    assert [refusal.why for refusal in done.refused] == []
    return find_suite(str(done.path)).tasks[0]


def test_each_step_is_what_its_files_say(theirs: Write) -> None:
    folder = taken(theirs())
    first, second = folder.task.steps
    assert (first.name, first.seconds, first.min_reward, first.tests.seconds) == ("1_sum", 60, 1.0, 30)
    assert (first.tests.runner, first.tests.fail_to_pass) == ("pytest", ("test_sum.py::test_sum",))
    assert (second.name, second.seconds, second.min_reward, second.tests.seconds) == ("2_sort", 120, None, 600)
    assert (second.tests.runner, second.tests.fail_to_pass) == ("script", ("test.sh::__script__",))
    assert folder.task.grading.tests is None and folder.task.grading.reward == "mean"
    assert folder.task.state is not None and folder.task.state.work == "/app"
    place = folder.path / "steps/2_sort"
    assert (place / "files/app/late.txt").read_text() == "0\n" and (place / "setup.sh").is_file()
    assert not (place / "files/app/setup.sh").exists() and not (folder.path / "tests").exists()
    assert [step.instruction for step in step_folders(folder)] == [
        FILES["steps/1_sum/instruction.md"], FILES["steps/2_sort/instruction.md"],
    ]  # fmt: skip


def step(theirs: Write, about: str, number: int = 1) -> TaskStep:
    return taken(theirs(task=about)).task.steps[number]


def test_the_strategy_and_what_a_step_asks_for_are_kept(theirs: Write) -> None:
    about = f'multi_step_reward_strategy = "final"\n{ABOUT}min_reward = {{ reward = 0.5 }}\n'
    folder = taken(theirs(task=about))
    assert folder.task.grading.reward == "final"
    assert [each.min_reward for each in folder.task.steps] == [1.0, 0.5]


def test_a_step_judged_by_name_asks_for_all_or_nothing_as_its_script_does(theirs: Write) -> None:
    assert step(theirs, ABOUT.replace("min_reward = 1.0", "min_reward = 0.3"), 0).min_reward == 1.0


def test_steps_without_tests_share_those_of_the_task(theirs: Write) -> None:
    folder = taken(theirs(steps__2_sort__tests__test=None, **{"tests/test.sh": SORT}))
    assert (folder.path / "steps/2_sort/tests/test.sh").read_text() == SORT
    assert (folder.path / "steps/1_sum/tests/test_sum.py").is_file()


def test_one_step_that_begins_with_files_is_one_too(theirs: Write) -> None:
    about = ABOUT.partition("[[steps]]")[0] + '[[steps]]\nname = "2_sort"\n'
    folder = taken(theirs(task=about))
    assert [each.name for each in folder.task.steps] == ["2_sort"]


HEALTH = '[steps.healthcheck]\ncommand = "true"\n'
SHARED = {"tests/test.sh": SORT, "tests/help.py": "x = 1\n"}
REFUSED = {
    "healthcheck": ({"task": ABOUT + HEALTH}, "waits for a service"),
    "account": ({"task": f'{ABOUT}[steps.agent]\nuser = "agent"\n'}, "an account beside root"),
    "variables": ({"task": f'{ABOUT}[steps.verifier.env]\nA = "1"\n'}, "settings that are not read"),
    "separate": ({"task": f'{ABOUT}[steps.verifier]\nenvironment_mode = "separate"\n'}, "settings that are not read"),
    "figures": ({"task": f"{ABOUT}min_reward = {{ quality = 0.5 }}\n"}, "figures beside its reward"),
    "name": ({"task": ABOUT.replace("2_sort", "../2_sort")}, "no name that a folder can have"),
    "instruction": ({"steps__2_sort__instruction": None}, "no instruction.md"),
    "script": ({"steps__2_sort__tests__test": None}, "no tests/test.sh"),
    "beside": (SHARED, "beside those that all steps share"),
    "conversation": ({"steps/2_sort/trajectory.json": "{}"}, "begins with a conversation"),
    "services": (
        {"steps__2_sort__tests__test": f"curl http://localhost:80/\n{SORT}"},
        "ask a service that the agent leaves",
    ),
}


@pytest.mark.parametrize(("changed", "why"), REFUSED.values(), ids=REFUSED)
def test_what_a_step_cannot_be_given_refuses_its_task(theirs: Write, changed: dict[str, str | None], why: str) -> None:
    source = theirs(**changed)
    done = import_suite("harbor", source, source.parent / "suite", no_bench)
    assert done.tasks == [] and why in done.refused[0].why, done.refused


@pytest.mark.long
def test_the_steps_are_proven_and_judged(theirs: Write, bench: GradingContext, tmp_path: Path) -> None:
    folder = taken(theirs())
    (proof,) = prove_state_tasks([folder.path], bench)
    assert (proof.state, proof.why) == ("proven", "")
    folder = find_suite(str(folder.path.parents[1])).tasks[0]
    told = "grep -q sorted /run/task/instruction.md"
    for first, second, outcome in (
        ("echo 8 > sum.txt", "cat parcels.txt late.txt | sort -n > sorted.txt", Outcome.PASSED),
        ("echo 8 > sum.txt", "sort -n parcels.txt > sorted.txt", Outcome.FAILED),
        ("echo 9 > sum.txt", "cat parcels.txt late.txt | sort -n > sorted.txt", Outcome.FAILED),
    ):
        agent = CommandAgent(f"if {told}; then {second}; else {first}; fi")
        made = work(folder, agent, bench, tmp_path / f"{first} {second}".replace("/", "-"))
        assert made.verdict.outcome is outcome, made.verdict.comments


STAGES = """\
import shutil
from pathlib import Path


def test_sum():
    assert Path("/app/sum.txt").read_text().strip() == "8"
    Path("/app/seen.txt").write_text("of the solution alone")


def test_zz_lays_out_what_comes_next():
    Path("/app/next").mkdir(exist_ok=True)
    Path("/app/next/late.txt").write_text("7\\n")
"""


@pytest.mark.long
def test_what_tests_lay_out_for_the_next_step_is_there_when_it_begins(
    theirs: Write, bench: GradingContext, tmp_path: Path
) -> None:
    folder = taken(
        theirs(
            steps__1_sum__tests__test_sum=STAGES, steps__2_sort__workdir__setup=None, steps__2_sort__workdir__late=None,
            steps__2_sort__solution__solve="cat parcels.txt next/late.txt | sort -n > sorted.txt\n",
        )
    )  # fmt: skip
    (proof,) = prove_state_tasks([folder.path], bench)
    assert (proof.state, proof.why) == ("proven", "")
    laid = folder.path / "steps/2_sort/files"
    assert [path.relative_to(laid).as_posix() for path in laid.rglob("*") if path.is_file()] == ["app/next/late.txt"]
    folder = find_suite(str(folder.path.parents[1])).tasks[0]
    agent = CommandAgent("if test -f next/late.txt; then cat parcels.txt next/late.txt | sort -n > sorted.txt;"
                         " else echo 8 > sum.txt; fi")  # fmt: skip
    assert work(folder, agent, bench, tmp_path / "attempt").verdict.outcome is Outcome.PASSED
