"""Attempts at tasks of several steps: each judged by itself, and nothing of one gets into the next but plain files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.metering import TINY, Watching, plan_run, said, shell
from repoassay.agents import find_agent, find_modelled
from repoassay.agents.command import CommandAgent
from repoassay.engine import execute
from repoassay.engine.attempt import AttemptContext, AttemptResult, OpenAttempt, work
from repoassay.engine.grade import grade_outputs
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.scheduler import all_slots
from repoassay.engine.submit import SubmissionEngine
from repoassay.engine.validate import validate_task
from repoassay.errors import BadInput
from repoassay.interchange.state_proof import prove_state_task
from repoassay.tasks import TaskFolder, find_suite, read_task
from repoassay.types import AgentEntry, Outcome
from state_tasks import bench
from step_tasks import DOCUMENT, SORT, SUM, write_steps

__all__ = ["bench"]

SECOND = "grep -q sorted /run/task/instruction.md"
"""Whether this is the second step."""
Try = Callable[..., AttemptResult]


def both(first: str = SUM, second: str = SORT) -> str:
    """A shell command that does one thing at each step."""
    return f"if {SECOND}; then {second.strip()}; else {first.strip()}; fi"


@pytest.fixture(scope="module")
def proven(bench: GradingContext, tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    place = write_steps(tmp_path_factory.mktemp("steps"))
    proof = prove_state_task(place, bench)
    assert (proof.state, proof.why) == ("proven", "")
    return read_task(place)


@pytest.fixture
def tried(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> Try:
    return lambda line: work(proven, CommandAgent(line), bench, tmp_path / "attempt")


def told(made: AttemptResult) -> list[tuple[str, Outcome, float]]:
    return [(step.name, step.outcome, step.reward) for step in made.verdict.steps]


def test_each_step_is_judged_and_all_of_them_pass(tried: Try, tmp_path: Path) -> None:
    made = tried(both())
    assert made.verdict.outcome is Outcome.PASSED, made.verdict.comments
    assert told(made) == [("sum", Outcome.PASSED, 1.0), ("sort", Outcome.PASSED, 1.0)]
    assert [(each.of, each.value, each.passed) for each in made.verdict.criteria] == [
        (".", 1.0, True), ("sum", 1.0, True), ("sort", 1.0, True),
    ]  # fmt: skip
    assert {test.id for test in made.verdict.tests} == {
        "sum/test_sum.py::test_sum", "sum/test_sum.py::test_parcels_are_kept", "sort/test.sh::__script__",
    }  # fmt: skip
    assert made.verdict.assurance is not None and made.verdict.assurance.grade == "plain"  # as its weakest step
    kept = {file.path for file in made.submission.files}
    assert kept == {"changes.diff", "steps/sum/changes.diff", "steps/sort/changes.diff"}
    assert b"sorted.txt" not in (tmp_path / "attempt/submission/steps/sum/changes.diff").read_bytes()


def test_a_step_below_its_minimum_ends_the_attempt(tried: Try) -> None:
    made = tried(both(first="echo 16 > sum.txt"))
    assert made.verdict.outcome is Outcome.FAILED
    assert told(made) == [("sum", Outcome.FAILED, 0.5)]
    assert made.verdict.comments[0].startswith("The attempt ended before sort, since the step sum gave 0.5")


def test_a_later_step_that_fails_leaves_the_mean(tried: Try) -> None:
    made = tried(both(second="cat data/parcels.txt > sorted.txt"))
    assert made.verdict.outcome is Outcome.FAILED and made.verdict.criteria[0].value == 0.5


@pytest.mark.long
def test_nothing_fails_and_the_reference_passes(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> None:
    assert work(proven, find_agent("nothing"), bench, tmp_path / "n").verdict.outcome is Outcome.FAILED
    assert work(proven, find_agent("reference"), bench, tmp_path / "r").verdict.outcome is Outcome.PASSED


@pytest.mark.parametrize(
    "left",
    [
        "ln -s /etc data/late",
        "mkdir data/late && ln -s /workspace/sum.txt data/late/more.txt",
        "echo 1 > data/late",
        "mkdir -p data/late/more.txt && echo 1 > data/late/more.txt/file",
        "mkfifo data/late",
    ],
)
@pytest.mark.long
def test_nothing_that_was_left_stands_in_the_way_of_a_steps_files(tried: Try, left: str) -> None:
    made = tried(both(first=f"{SUM.strip()}; {left}", second=f"test -f data/late/more.txt && {SORT}"))
    assert made.verdict.outcome is Outcome.PASSED, made.verdict.comments
    assert made.verdict.tests[-1].id == "sort/test.sh::__script__"


@pytest.mark.long
def test_no_process_goes_on_into_the_next_step(tried: Try) -> None:
    stays = f"{SUM.strip()}; (while sleep 0.1; do echo 1 > sorted.txt; date +%s.%N > alive.txt; done) & sleep 0.5"
    first = 'before=$(cat alive.txt); sleep 1; test "$before" = "$(cat alive.txt)"'
    made = tried(both(first=stays, second=f"{first} && {SORT}"))
    assert made.verdict.outcome is Outcome.PASSED, made.verdict.comments


@pytest.mark.long
def test_neither_tests_nor_later_steps_are_ever_in_reach(tried: Try) -> None:
    looks = (
        "for name in test_sum.py test.sh solve.sh changes.diff more.txt; do find / -name $name -not -path '/proc/*'"
        " -not -path '/usr/*' 2>/dev/null; done | grep -v late > found.txt;"
        " grep -rl 'More have come' /run /workspace /tmp >> found.txt; test ! -s found.txt && rm found.txt"
    )
    made = tried(
        both(first=f"{looks} && {SUM}", second=f"{looks.replace('More have come', 'Write the sum')} && {SORT}")
    )
    assert made.verdict.outcome is Outcome.PASSED, made.verdict.comments


def test_a_forged_reward_beside_the_scripts_own_is_none_of_its_verdict(tried: Try) -> None:
    forged = "mkdir -p /logs/verifier /workspace/logs/verifier; echo 1 > /logs/verifier/reward.txt"
    made = tried(both(second=f"{forged}; cp /logs/verifier/reward.txt reward.txt"))
    assert told(made) == [("sum", Outcome.PASSED, 1.0), ("sort", Outcome.FAILED, 0.0)]


def test_an_agent_that_dies_in_a_step_is_judged_by_what_it_left(tried: Try) -> None:
    made = tried(both(second="kill -9 $$"))
    assert told(made) == [("sum", Outcome.PASSED, 1.0), ("sort", Outcome.FAILED, 0.0)]
    assert made.submission.exit is not None and made.submission.exit.signal == 9


@pytest.mark.parametrize("late", ["sum", "sort"])
@pytest.mark.long
def test_a_step_that_runs_out_of_time_is_no_pass(
    bench: GradingContext, proven: TaskFolder, tmp_path: Path, late: str
) -> None:
    wait = {"sum": both(first=f"{SUM.strip()}; sleep 60"), "sort": both(second=f"{SORT.strip()}; sleep 60")}[late]
    entry = AttemptContext("attempt", AgentEntry(timeout=5.0))
    made = work(proven, CommandAgent(wait), bench, tmp_path / "attempt", entry=entry)
    assert made.verdict.outcome is Outcome.TIMED_OUT and made.verdict.result is False
    assert told(made)[-1][0] == "sort"  # its tests passed all the same, so that it went on
    again = next(grade_outputs_of(proven, tmp_path / "attempt/submission", bench))
    assert [step.reward for step in again.steps] == [1.0, 1.0]


def grade_outputs_of(folder: TaskFolder, files: Path, bench: GradingContext):  # type: ignore[no-untyped-def]
    suite = find_suite(str(folder.path.parent), only=[folder.task.id])
    return grade_outputs(suite, files.parent, bench, places={folder.task.id: files})


@pytest.mark.long
def test_what_was_left_is_graded_again_to_the_same(tried: Try, proven: TaskFolder, bench: GradingContext,
                                                   tmp_path: Path) -> None:  # fmt: skip
    made = tried(both(second="cat data/parcels.txt > sorted.txt"))
    again = next(grade_outputs_of(proven, tmp_path / "attempt/submission", bench))
    assert (again.outcome, [step.reward for step in again.steps]) == (made.verdict.outcome, [1.0, 0.0])
    (tmp_path / "empty").mkdir()
    none = next(grade_outputs_of(proven, tmp_path / "empty", bench))
    assert none.outcome is Outcome.NO_OUTPUT and "steps/NAME/changes.diff" in none.comments[0]


@pytest.mark.long
def test_only_the_final_reward_counts_where_the_task_says_so(bench: GradingContext, tmp_path: Path) -> None:
    document = DOCUMENT.replace('reward = "mean"', 'reward = "final"').replace("min_reward = 1\n", "")
    place = write_steps(tmp_path, task=document, steps__sort__tests__test=TESTS_OF_SORT_ALONE)
    assert prove_state_task(place, bench).state == "proven"
    folder = read_task(place)
    made = work(folder, CommandAgent(both(first="true")), bench, tmp_path / "attempt")
    assert told(made) == [("sum", Outcome.FAILED, 0.5), ("sort", Outcome.PASSED, 1.0)]
    assert (made.verdict.outcome, made.verdict.criteria[0].value) == (Outcome.PASSED, 1.0)


TESTS_OF_SORT_ALONE = """\
test "$(tr '\\n' ' ' < sorted.txt)" = "3 5 7 9 " && echo 1 > /logs/verifier/reward.txt
test -f /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""


@pytest.mark.long
def test_a_step_without_a_proof_blames_nobody(bench: GradingContext, tmp_path: Path) -> None:
    place = write_steps(tmp_path, steps__sort__solution__solve="true\n")
    proof = prove_state_task(place, bench)
    assert proof.state == "unproven" and "sort" in proof.why
    folder = read_task(place)
    failed = work(folder, CommandAgent(both(second="true")), bench, tmp_path / "one").verdict
    assert failed.outcome is Outcome.INFRA_FAULT and failed.result is None
    first = work(folder, CommandAgent(both(first="true")), bench, tmp_path / "two").verdict
    assert first.outcome is Outcome.FAILED  # the first step has its proof
    assert work(folder, CommandAgent(both()), bench, tmp_path / "three").verdict.outcome is Outcome.PASSED


@pytest.mark.long
def test_a_task_that_passes_when_nobody_does_anything_is_left_out(bench: GradingContext, tmp_path: Path) -> None:
    always = "echo 1 > /logs/verifier/reward.txt\n"
    keeps = "def test_sum(): pass\ndef test_parcels_are_kept(): pass\n"
    place = write_steps(tmp_path, steps__sort__tests__test=always, steps__sum__tests__test_sum=keeps)
    assert prove_state_task(place, bench).state == "passes untouched" and not place.exists()


SETUP = """\
set -e
test "$(pwd)" = /workspace
sed -i s/3/4/ data/parcels.txt
rm sum.txt
test ! -e data/stop
cp data/late/more.txt data/copied.txt
"""
SORT_SET_UP = """\
test "$(tr '\\n' ' ' < sorted.txt)" = "4 5 7 9 " -a ! -e sum.txt -a ! -e setup.sh && echo 1 > /logs/verifier/reward.txt
test -f /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""


@pytest.mark.long
def test_a_step_is_set_up_by_a_script_in_what_was_left(bench: GradingContext, tmp_path: Path) -> None:
    place = write_steps(tmp_path, steps__sort__tests__test=SORT_SET_UP)
    (place / "steps/sort/setup.sh").write_text(SETUP)
    proof = prove_state_task(place, bench)
    assert (proof.state, proof.why) == ("proven", "")
    folder = read_task(place)
    second = f"test -f data/copied.txt -a ! -e setup.sh && {SORT}"
    made = work(folder, CommandAgent(both(second=second)), bench, tmp_path / "good").verdict
    assert made.outcome is Outcome.PASSED, made.comments
    # A script that fails here, and did not on the solution of the step before, fails by what was left.
    hindered = both(first=f"{SUM.strip()}; echo 1 > data/stop")
    verdict = work(folder, CommandAgent(hindered), bench, tmp_path / "hindered").verdict
    assert (verdict.outcome, verdict.result) == (Outcome.FAILED, False)
    assert "setup.sh of the step sort ended as exited, 1" in " ".join(verdict.comments)


@pytest.mark.parametrize("left", ["mkdir setup.sh; echo 8 > setup.sh/own", "echo 8 > setup.sh", "ln -s data setup.sh"])
@pytest.mark.long
def test_what_was_left_in_the_place_of_a_setup_is_neither_in_its_way_nor_lost(
    bench: GradingContext, tmp_path: Path, left: str
) -> None:
    place = write_steps(tmp_path)
    (place / "steps/sort/setup.sh").write_text("cp data/late/more.txt data/copied.txt\n")
    proof = prove_state_task(place, bench)
    assert (proof.state, proof.why) == ("proven", "")
    there = {"m": "test -f setup.sh/own", "e": "grep -q 8 setup.sh", "l": "test -d setup.sh -a ! -L setup.sh"}[left[0]]
    line = both(first=f"{SUM.strip()}; {left}", second=f"{there} && test -f data/copied.txt && {SORT}")
    made = work(read_task(place), CommandAgent(line), bench, tmp_path / "attempt").verdict
    assert made.outcome is Outcome.PASSED, made.comments


@pytest.mark.long
def test_validation_proves_each_steps_start(proven: TaskFolder, bench: GradingContext) -> None:
    proofs = {proof.name: proof for proof in validate_task(proven, bench)}
    assert {"reference", "nothing", "step sum", "step sort"} <= set(proofs)
    assert all(proof.sound for proof in proofs.values()), proofs


def test_who_knows_one_submission_alone_says_so(proven: TaskFolder, bench: GradingContext) -> None:
    with pytest.raises(BadInput, match="has 2 steps"):
        OpenAttempt(proven, bench, None)
    with SubmissionEngine({proven.task.id: proven}, bench) as engine:
        answer = engine.grade(proven.task.id, "diff --git a/x b/x\n")
    assert answer.verdict.outcome is Outcome.INFRA_FAULT and "several steps" in answer.verdict.comments[0]


@pytest.mark.long
def test_a_given_up_attempt_counts_nothing(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> None:
    cancel = threading.Event()
    timer = threading.Timer(1.0, cancel.set)
    timer.start()
    made = work(proven, CommandAgent("sleep 60"), bench, tmp_path / "attempt", cancel)
    assert made.dropped
    assert not (tmp_path / "attempt/submission/steps/sort").exists()


READS = {**TINY, "command": "sh -c 'cp /run/task/instruction.md . && python {agent}/tiny.py; rm instruction.md'"}
"""The tiny agent looks for its instruction where it stands."""


def of_model(command: str) -> list[dict[str, object]]:
    return [shell(f"cd /workspace && {command.strip()}"), said()]


@pytest.mark.long
def test_all_steps_spend_of_one_account_and_leave_one_record(proven: TaskFolder, tmp_path: Path) -> None:
    suite = find_suite(str(proven.path.parent))
    run, _ = plan_run(tmp_path, [*of_model(SUM), *of_model(SORT)], agent=READS, suite=suite)
    execute(run, suite, all_slots(run), Watching())
    (found,) = run.finished()
    assert found.verdict.outcome is Outcome.PASSED, found.verdict.comments
    spent = found.attempt.spent
    assert spent is not None and (spent.calls, spent.usage.input, spent.usage.output) == (4, 400, 200)
    assert [step.name for step in found.verdict.steps] == ["sum", "sort"]


def test_an_agent_of_a_file_leaves_one_prompt_and_one_trajectory_of_all_steps(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path
) -> None:
    line = json.dumps(f"cat > /dev/null; {both()}; echo kept")
    (tmp_path / "mine.toml").write_text(
        f'schema = 1\nname = "mine"\n[run]\nprompt = "stdin"\ncommand = ["/bin/sh", "-c", {line}]\n'
    )
    agent = find_modelled(str(tmp_path / "mine.toml"))
    agent.prepare(bench.cache, bench.sandbox)
    made = work(proven, agent, bench, tmp_path / "attempt")
    assert made.verdict.outcome is Outcome.PASSED, made.verdict.comments
    prompt = (tmp_path / "attempt/prompt.md").read_text()
    assert prompt.index("# Step sum") < prompt.index("Write the sum") < prompt.index("# Step sort")
    first = (tmp_path / "attempt/steps/sum/prompt.md").read_text()
    assert "Write the sum" in first and "More have come" not in first
    assert (tmp_path / "attempt/steps/sort/transcript/stdout.txt").read_text() == "kept\n"
    assert json.loads((tmp_path / "attempt/trajectory.json").read_text())["agent"] == "mine"


def test_a_budget_that_the_first_step_spends_ends_the_attempt(proven: TaskFolder, tmp_path: Path) -> None:
    suite = find_suite(str(proven.path.parent))
    turns = [shell(f"cd /workspace && {SUM.strip()}"), *[shell("ls")] * 9]
    run, _ = plan_run(tmp_path, turns, {"max_iterations": "3"}, agent=READS, suite=suite)
    execute(run, suite, all_slots(run), Watching())
    (found,) = run.finished()
    assert found.verdict.outcome is Outcome.BUDGET and found.verdict.result is False
    assert found.attempt.spent is not None and found.attempt.spent.calls == 3
    assert [(step.name, step.reward) for step in found.verdict.steps] == [("sum", 1.0)]
    assert json.loads((found.folder / "verdict.json").read_bytes())["steps"][0]["name"] == "sum"


BIG = "head -c 40000000 /dev/zero | tr '\\0' a > big.txt"
"""Leaves more than a patch may hold."""


@pytest.mark.long
@pytest.mark.parametrize("graded", [True, False])
def test_what_no_patch_can_hold_ends_the_attempt(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path, graded: bool
) -> None:
    entry = AttemptContext("big", graded=graded)
    made = work(proven, CommandAgent(both(f"{BIG}; {SUM}")), bench, tmp_path / "attempt", entry=entry)
    assert made.verdict.outcome is (Outcome.PATCH_FAILED if graded else Outcome.NOT_GRADABLE)
    assert [path.name for path in (tmp_path / "attempt/submission/steps").iterdir()] == ["sum"]


@pytest.mark.long
def test_what_a_setup_leaves_is_kept_whole_or_nobody_is_judged(bench: GradingContext, tmp_path: Path) -> None:
    place = write_steps(tmp_path)
    (place / "steps/sort/setup.sh").write_text(BIG)
    made = work(read_task(place), CommandAgent(both()), bench, tmp_path / "attempt")
    assert made.verdict.outcome is Outcome.INFRA_FAULT
    assert "setup.sh of the step sort leaves cannot be kept" in " ".join(made.verdict.comments)
