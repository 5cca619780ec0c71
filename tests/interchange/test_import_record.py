"""Proofs of imported tasks have a time each, are kept as they come, and are not made twice."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.engine import GradingContext
from repoassay.errors import Terminated
from repoassay.interchange import StateProof, import_suite, keep_proof, kept_proofs, prove_state_tasks
from state_tasks import bench

__all__ = ["bench"]

TEST = "def test_sum():\n    assert open('/app/sum.txt').read() == '8'\n"
SCRIPT = "pytest /tests/test_outputs.py\nif [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nfi\n"
SLOW = "FROM debian\nWORKDIR /app\nRUN python3 -c 'import time; time.sleep(500)'\n"


def write_theirs(folder: Path, **dockerfiles: str) -> Path:
    for name, text in dockerfiles.items():
        for path, content in {
            "task.toml": 'version = "1.0"\n', "instruction.md": "Write the sum.\n", "environment/Dockerfile": text,
            "tests/test.sh": SCRIPT, "tests/test_outputs.py": TEST, "solution/solve.sh": "printf 8 > /app/sum.txt\n",
        }.items():  # fmt: skip
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
    return folder


@pytest.mark.long
def test_a_proof_that_takes_too_long_is_named_with_its_step_and_tried_again_alone(tmp_path: Path) -> None:
    write_theirs(tmp_path / "theirs", quick="FROM debian\nWORKDIR /app\n", slow=SLOW)
    call = ("import", "theirs", "--as", "harbor", "--out", "suite", "--prove", "--timeout", "25")
    done = repoassay(*call, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    quick, slow = data_of(done.stdout)["proofs"]
    assert (quick["task"], quick["state"]) == ("quick", "proven"), quick
    assert (slow["task"], slow["state"]) == ("slow", "over time"), slow
    assert slow["why"].startswith("Making its environment did not come to an end within the 25 s")
    again = repoassay(*call[:-1], "5", cwd=tmp_path)
    assert again.returncode == 0 and "1 of 2 are proved already" in again.stderr, again.stderr
    assert "[2/2] slow: over time" in again.stderr and "quick: proven" not in again.stderr
    write_theirs(tmp_path / "theirs", third="FROM debian\nWORKDIR /app\n")
    other = repoassay(*call, cwd=tmp_path)
    assert other.returncode == 2 and "another import" in other.stderr


@pytest.mark.long
def test_an_interruption_drops_what_is_under_way_and_keeps_the_rest(tmp_path: Path, bench: GradingContext) -> None:
    source = write_theirs(tmp_path / "theirs", quick="FROM debian\nWORKDIR /app\n", slow=SLOW)
    done = import_suite("harbor", source, tmp_path / "suite", lambda: bench)
    cancel, started = threading.Event(), time.monotonic()
    proofs = prove_state_tasks(
        [done.path / "tasks" / name for name in done.tasks], bench, workers=2, cancel=cancel,
        progress=lambda proof: cancel.set(),
    )  # fmt: skip
    assert [(proof.task, proof.state) for proof in proofs] == [("quick", "proven")], proofs
    assert time.monotonic() - started < 300


@pytest.mark.long
def test_what_is_under_way_is_given_up_when_the_program_is_ended(tmp_path: Path, bench: GradingContext) -> None:
    """By SIGTERM or a second Ctrl-C, which are raised in the thread that waits for proofs."""
    source = write_theirs(tmp_path / "theirs", quick="FROM debian\nWORKDIR /app\n", slow=SLOW)
    done = import_suite("harbor", source, tmp_path / "suite", lambda: bench)
    cancel = threading.Event()

    def end(_: StateProof) -> None:
        raise Terminated

    with pytest.raises(Terminated):
        prove_state_tasks(
            [done.path / "tasks" / name for name in done.tasks], bench, workers=2, seconds=90, cancel=cancel,
            progress=end,
        )  # fmt: skip
    assert cancel.is_set(), "what was under way was waited for"


def test_a_proof_of_a_task_that_is_another_now_does_not_count(tmp_path: Path, bench: GradingContext) -> None:
    source = write_theirs(tmp_path / "theirs", one="FROM debian\nWORKDIR /app\n", two="FROM debian\nWORKDIR /app\n")
    suite = import_suite("harbor", source, tmp_path / "suite", lambda: bench).path
    for name, state in (("one", "unproven"), ("two", "fault"), ("gone", "passes untouched")):
        keep_proof(suite, StateProof(name, state))
    with (suite / "proofs.jsonl").open("a") as file:
        file.write('{"schema_version": 1, "task": "one", "sta')
    assert set(kept_proofs(suite)) == {"one", "gone"}
    (suite / "tasks/one/instruction.md").write_text("Write another.\n")
    assert set(kept_proofs(suite)) == {"gone"}
