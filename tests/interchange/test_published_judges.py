"""A program of the image that a test script judges by is run as it was published, unless the task is about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from interchange.test_build_hosts import proof_of
from interchange.test_harbor_settings import Convert, convert, no_bench, taken

__all__ = ["convert", "no_bench"]

SCRIPT = "# bash seen.sh\ncd /app\n{run}\nif [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; fi\n"
JUDGED = {
    "environment/Dockerfile": "FROM python:3.11\nWORKDIR /app\nCOPY . /app/\n",
    "environment/grade.py": "assert open('/app/out/sum.txt').read() == '8\\n'\n",
    "environment/main.py": "print(8)\n",
    "tests/test.sh": SCRIPT.format(run="python3 /app/main.py && python3 -u grade.py"),
}


def test_what_judges_is_put_back_and_what_is_worked_on_is_not(convert: Convert) -> None:
    done = convert(JUDGED)
    taken(done)
    tests = done.path / "tasks/one/tests"
    assert (tests / "published-0-grade.py").read_text() == JUDGED["environment/grade.py"]
    assert (tests / "test.sh").read_text().count("cp /tests/published-") == 1
    assert not list(tests.glob("published-1*"))


@pytest.mark.parametrize(
    "changed",
    [{"instruction.md": "Mend /app/grade.py.\n"}, {"solution/right.patch": "--- a/grade.py\n+++ b/grade.py\n"}],
)
def test_a_judge_that_the_task_speaks_of_is_the_agents(convert: Convert, changed: dict[str, str]) -> None:
    done = convert({**JUDGED, **changed})
    taken(done)
    assert not list((done.path / "tasks/one/tests").glob("published-*"))


@pytest.mark.long
@pytest.mark.parametrize("instruction", ["Write to /app/out/sum.txt.\n", "Have /app/grade.py say that it is well.\n"])
def test_who_empties_the_judge_does_not_pass(tmp_path: Path, instruction: str) -> None:
    cheat = "for place in /app/gr*.py; do : > $place; done\n"
    proof = proof_of(tmp_path, {**JUDGED, "instruction.md": instruction, "solution/solve.sh": cheat})
    assert proof.state == ("proven" if "grade" in instruction else "unproven")
