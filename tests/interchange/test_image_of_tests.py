"""Tests with an image of their own see what Harbor takes into it, and nothing else of the agent's container."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.interchange import import_suite
from repoassay.interchange.state_proof import prove_state_task
from repoassay.tasks import TaskFolder, find_suite, read_task
from repoassay.types import Outcome
from state_tasks import attempt, bench

__all__ = ["bench"]

SETTINGS = 'artifacts = ["/app/out"]\n[verifier]\nenvironment_mode = "separate"\n'
DOCKERFILE = "FROM debian:12\nENV PYTHONPATH=/app/out LIMIT=3 SHARED=a\nWORKDIR /app\n"
OF_TESTS = (
    "FROM debian:12\nENV SHARED=b OWN=/app/out KEPT=/opt/checks\nWORKDIR /app/out\nCOPY test.sh check.py /tests/\n"
)
SCRIPT = """\
#!/bin/bash
set -u
[ ! -e /app/notes.txt ] && [ "$SHARED$OWN$PWD" = b/app/out/app/out ] && python3 /tests/check.py
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
CHECK = "import json\n\nraise SystemExit(json.load(open('sum.txt')) != 8)\n"
FILES = {
    "task.toml": SETTINGS,
    "instruction.md": "Write the sum of 3 and 5 to /app/out/sum.txt.\n",
    "environment/Dockerfile": DOCKERFILE,
    "tests/Dockerfile": OF_TESTS,
    "tests/test.sh": SCRIPT,
    "tests/check.py": CHECK,
    "solution/solve.sh": "mkdir -p /app/out\necho 8 > /app/out/sum.txt\n",
}
FORGED = "mkdir -p /app/out && echo 8 > /app/out/sum.txt && "


def no_bench() -> GradingContext:
    """Nothing of these tasks runs while they are converted."""
    raise AssertionError("something was to run")


def converted(place: Path, changed: dict[str, str]) -> TaskFolder:
    for name, text in {**FILES, **changed}.items():
        file = place / "theirs/sums" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    done = import_suite("harbor", place / "theirs", place / "suite", no_bench)
    assert done.refused == []
    return find_suite(str(done.path)).tasks[0]


@pytest.fixture(scope="module")
def proven(bench: GradingContext, tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    folder = converted(tmp_path_factory.mktemp("image"), {})
    proof = prove_state_task(folder.path, bench)
    assert (proof.state, proof.why) == ("proven", "")
    return read_task(folder.path)


def test_its_variables_folder_and_artifacts_are_those_of_the_tests(tmp_path: Path) -> None:
    folder = converted(tmp_path, {})
    state = folder.task.state
    assert state is not None and state.artifacts == ("/app/out", "/logs/artifacts")
    script = (folder.tests / "test.sh").read_text()
    begins = (
        "#!/bin/bash\nunset LIMIT PYTHONPATH\nexport SHARED=b\nexport OWN=/app/out\n[ ! -d /app/out ] || cd /app/out\n"
    )
    assert script.startswith(begins), script
    assert folder.task.environment.variables["PYTHONPATH"] == "/app/out"


def test_an_image_of_the_tests_without_a_folder_stands_in_the_root(tmp_path: Path) -> None:
    tests = {
        "tests/Dockerfile": "FROM debian:12\nCOPY test.sh check.py /tests/\n",
    }
    assert "\n[ ! -d / ] || cd /\n" in (converted(tmp_path, tests).tests / "test.sh").read_text()
    script = f'if [ "$PWD" = "/" ]; then exit 1; fi\n{SCRIPT}'
    (tmp_path / "theirs/sums/tests/test.sh").write_text(script)
    done = import_suite("harbor", tmp_path / "theirs", tmp_path / "refused", no_bench)
    assert [refusal.why[:21] for refusal in done.refused] == ["Harbor passes nobody:"]


def test_a_folder_that_task_toml_names_is_that_of_the_tests_too(tmp_path: Path) -> None:
    told = f'{SETTINGS}[environment]\nworkdir = "/app/work"\n'
    assert " cd " not in (converted(tmp_path, {"task.toml": told}).tests / "test.sh").read_text()


@pytest.mark.parametrize(
    "settings", [SETTINGS.replace("separate", "shared"), '[verifier]\nenvironment_mode = "shared"\n']
)
def test_tests_in_the_agents_container_see_all_of_it(tmp_path: Path, settings: str) -> None:
    folder = converted(tmp_path, {"task.toml": settings})
    assert folder.task.state is not None and folder.task.state.artifacts == ()
    assert "unset" not in (folder.tests / "test.sh").read_text()


@pytest.mark.parametrize(
    ("left", "outcome"),
    [
        ("echo done > /app/notes.txt", Outcome.PASSED),
        ("echo 'raise SystemExit(0)' > /app/out/json.py; echo 9 > /app/out/sum.txt", Outcome.FAILED),
        ("mkdir /app/out/encodings && echo 'import os; os._exit(0)' > /app/out/encodings/__init__.py"
         "; echo 9 > /app/out/sum.txt", Outcome.FAILED),
    ],
    ids=["beside the artifacts", "a module", "a package of Python's own"],
)  # fmt: skip
def test_what_the_agent_leaves_for_a_variable_of_its_own_image_decides_nothing(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path, left: str, outcome: Outcome
) -> None:
    verdict = attempt(proven, bench, tmp_path / "attempt", FORGED + left)
    assert verdict.outcome is outcome, verdict.comments


def test_what_does_not_cross_is_told(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> None:
    verdict = attempt(proven, bench, tmp_path / "attempt", f"{FORGED}echo x > /app/notes.txt")
    assert "Not shown to the tests, since it is beside the task's artifacts: app/notes.txt." in verdict.comments
