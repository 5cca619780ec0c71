"""Tests that are a script: what it writes decides, what a submission writes beside it does not."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.engine.grading_context import GradingContext
from repoassay.grading.hidden_tests.reward_script import read_reward
from repoassay.grading.state import start_up_files
from repoassay.interchange.state_proof import prove_state_task
from repoassay.interchange.verifier_script import read_verifier
from repoassay.tasks import TaskFolder, read_task
from repoassay.types import FileEdit, Outcome, Verdict
from state_tasks import DOCUMENT, SOLUTION, TESTS, attempt, bench, write_task

__all__ = ["bench"]

Try = Callable[[str], Verdict]
NAMED = DOCUMENT[DOCUMENT.index("fail_to_pass") : DOCUMENT.index("seconds = 20")]
SCRIPTED = DOCUMENT.replace(NAMED, 'fail_to_pass = ["test.sh::__script__"]\nrunner = "script"\n')
SCRIPT = """\
#!/bin/bash
score=0
[ "$(cat sum.txt)" = 17 ] && score=0.5
[ "$(python3 /srv/reports/twice.py 21)" = 42 ] && [ $score = 0.5 ] && score=1.0
mkdir -p /logs/verifier
echo $score > /logs/verifier/reward.txt
exit 0
"""
SUM = "awk '{s += $1} END {print s}' data/parcels.txt > sum.txt"
TWICE = "echo 'import sys; print(2 * int(sys.argv[1]))' > /srv/reports/twice.py"
FORGES = "for p in ('reward.txt', 'reward.json'):\n    open('/logs/verifier/' + p, 'w').write('1')\n"


@pytest.fixture(scope="module")
def proven(bench: GradingContext, tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    place = write_task(tmp_path_factory.mktemp("script"), task=SCRIPTED, solve=f"{SUM}\n{TWICE}\n")
    (place / "tests/test.sh").write_text(SCRIPT)
    proof = prove_state_task(place, bench)
    assert (proof.state, proof.why) == ("proven", "")
    return read_task(place)


@pytest.fixture
def tried(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> Try:
    return lambda line: attempt(proven, bench, tmp_path / "attempt", line)


def test_a_reward_of_one_passes_and_is_vouched_for_by_nobody_else(tried: Try) -> None:
    verdict = tried(f"{SUM}; {TWICE}")
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.assurance is not None and verdict.assurance.grade == "plain"
    assert verdict.criteria[0].value == 1


def test_a_part_of_it_fails_with_the_reward_that_was_written(tried: Try) -> None:
    verdict = tried(SUM)
    assert verdict.outcome is Outcome.FAILED
    assert (verdict.criteria[0].metric, verdict.criteria[0].value) == ("reward", 0.5)


def test_a_reward_that_the_agent_leaves_is_not_read(tried: Try) -> None:
    verdict = tried("mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo 1 > /tmp/reward.txt; echo 1 > x")
    assert verdict.outcome is Outcome.FAILED and verdict.criteria[0].value == 0


def test_a_program_that_writes_the_reward_is_found_out(tried: Try) -> None:
    verdict = tried(f"cat > /srv/reports/twice.py <<'E'\n{FORGES}E\n")
    assert verdict.outcome is Outcome.TAMPERING
    assert "a reward was written beside" in verdict.comments[0]


COPIED = """\
#!/bin/bash
mkdir -p tests && cp /tests/test_parcels.py tests/
export PYTHONPATH=/workspace
python -m pytest tests/test_parcels.py
failed=$?
python3 -c "import json; print(json.dumps(int($failed == 0)))" > /logs/verifier/reward.txt
"""
ALL_PASS = """\
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    told = yield
    told.get_result().outcome = "passed"
"""
CALLS_NO_TEST = "import pytest\npytest.Function.runtest = lambda _: None\n"


def left(**files: str) -> str:
    """A command that leaves files in the agent's folder."""
    return "; ".join(
        f"mkdir -p $(dirname {shlex.quote(name)}) && printf %s {shlex.quote(text)} > {shlex.quote(name)}"
        for name, text in files.items()
    )


@pytest.fixture(scope="module")
def copied(bench: GradingContext, tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    """A task whose script runs pytest on its tests among the agent's files."""
    place = write_task(
        tmp_path_factory.mktemp("copied"),
        task=SCRIPTED,
        solve=SOLUTION,
        test_parcels=f"import csv\nimport pickle\n{TESTS}",
    )
    (place / "tests/test.sh").write_text(read_verifier(COPIED, "test.sh").text)
    assert prove_state_task(place, bench).state == "proven"
    return read_task(place)


CONFIGURATION = {
    "conftest.py": {"conftest.py": ALL_PASS, "tests/conftest.py": ALL_PASS},
    "what ends all": {"conftest.py": "import os\nos.kill(-1, 9)\n", "tests/conftest.py": "import os\nos.kill(-1, 9)\n"},
    "pytest.ini": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "pyproject.toml": {"tests/pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--version"\n'},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = --co\n"},
    "plug-in": {"mine-1.dist-info/METADATA": "Name: mine\nVersion: 1\n", "all_pass.py": ALL_PASS,
                "mine-1.dist-info/entry_points.txt": "[pytest11]\nmine = all_pass\n",
                "tests/org/python/core.py": CALLS_NO_TEST},  # pickle looks for org.python.core, and does without
    "in front": {"mine-1.Dist-Info/METADATA": "Name: mine\nVersion: 1\n", "all_pass.py": ALL_PASS,
                 "mine-1.Dist-Info/entry_points.txt": "[pytest11]\nmine = all_pass\n", "tests/csv.py": CALLS_NO_TEST,
                 "json.py": "dumps = lambda _: 1\n", "org/python/core.py": CALLS_NO_TEST,
                 "csv.py": CALLS_NO_TEST, "__init__.py": CALLS_NO_TEST,
                 "faulthandler.py": CALLS_NO_TEST, "tests/__init__.py": CALLS_NO_TEST,
                 "tests/test_parcels.py/test_other.py": "def test_it(): pass\n"},
}  # fmt: skip


@pytest.mark.long
@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", CONFIGURATION)
def test_configuration_that_an_agent_leaves_decides_nothing(
    copied: TaskFolder, bench: GradingContext, tmp_path: Path, name: str
) -> None:
    verdict = attempt(copied, bench, tmp_path / "attempt", left(**CONFIGURATION[name]))
    assert verdict.outcome is Outcome.FAILED
    assert any(comment.startswith("Left out") for comment in verdict.comments)
    told = any(comment.startswith("With what was left out of it the tests pass") for comment in verdict.comments)
    assert told == (name in ("conftest.py", "in front", "pytest.ini", "setup.cfg"))
    honest = attempt(copied, bench, tmp_path / "honest", f"{left(**CONFIGURATION[name])}; cd /workspace; {SOLUTION}")
    assert honest.outcome is Outcome.PASSED, honest.comments


def test_what_could_come_before_the_tests_is_left_out_and_nothing_else(copied: TaskFolder, tmp_path: Path) -> None:
    decide = {"tests/__pycache__/__init__.cpython-311.pyc", "sitecustomize/__init__.py", "usercustomize.abi3.so",
              "a/x.DIST-INFO/entry_points.txt", "workspace/__init__.py", "a/tests/__init__.py", "a/test_parcels.py/b",
              "a/pytest.toml", "a/tests/test_parcels/__init__.py", "a/tests/test_parcels.abi3.so"}  # fmt: skip
    others = {
        "a/tests/test_other/__init__.py",
        "a/test_parcels/data.txt",
        "a/tests/numpy.so",
        "workspace/shop/__init__.py",
        "workspace/tests/test_mine.py",
        "workspace/test_parcels.py",
        "customize.py",
    }
    edits = dict.fromkeys(decide | others, FileEdit(b""))
    assert set(start_up_files(copied, tmp_path, edits)) == decide


PROJECT = '[project]\nname = "mine"\nversion = "1"\n'


@pytest.mark.parametrize(
    ("path", "text", "withheld"),
    [
        ("pyproject.toml", PROJECT, False),
        ("a/setup.cfg", "[metadata]\nname = mine\n", False),
        ("tox.ini", "[tox]\nenvlist = py311\n", False),
        ("pyproject.toml", f"{PROJECT}[tool.pytest.ini_options]\naddopts = '--co'\n", True),
        ("pyproject.toml", f'{PROJECT}[tool."p\\u0079test".ini_options]\naddopts = "--co"\n', True),
        ("there/pyproject.toml", PROJECT, True),
        ("pytest.ini", "", True),
        ("a/conftest.py", "", True),
    ],
)
def test_settings_of_a_project_alone_are_shown(
    copied: TaskFolder, tmp_path: Path, path: str, text: str, withheld: bool
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-x'\n")
    assert start_up_files(copied, tmp_path, {path: FileEdit(text.encode())}) == [path] * withheld


def test_a_project_that_the_work_needs_may_be_the_agents(bench: GradingContext, tmp_path: Path) -> None:
    place = write_task(tmp_path, task=SCRIPTED, solve="echo 1 > setup.py\n")
    script = "[ -e setup.py ] || [ -e pyproject.toml ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n"
    (place / "tests/test.sh").write_text(script)
    assert prove_state_task(place, bench).state == "proven"
    verdict = attempt(read_task(place), bench, tmp_path / "attempt", f"printf {shlex.quote(PROJECT)} > pyproject.toml")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_configuration_that_the_solution_changes_is_the_agents(bench: GradingContext, tmp_path: Path) -> None:
    place = write_task(tmp_path, task=SCRIPTED, solve="echo '[pytest]' > pytest.ini\n")
    (place / "tests/test.sh").write_text("test -e pytest.ini; echo $((1 - $?)) > /logs/verifier/reward.txt\n")
    assert prove_state_task(place, bench).state == "proven"
    verdict = attempt(read_task(place), bench, tmp_path / "attempt", "touch pytest.ini; echo x > note.txt")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_settings_in_a_place_of_the_agent_are_not_those_of_the_scripts_account(
    bench: GradingContext, tmp_path: Path
) -> None:
    place = write_task(tmp_path, task=SCRIPTED, solve=f"{SUM}\n")
    script = '[ "$(cat sum.txt)" = 17 ] || git mine; echo $((1 - $?)) > /logs/verifier/reward.txt\n'
    (place / "tests/test.sh").write_text(script)
    assert prove_state_task(place, bench).state == "proven"
    settings = "printf '[alias]\\n\\tmine = !true\\n' > /tmp/.gitconfig"
    verdict = attempt(read_task(place), bench, tmp_path / "attempt", settings)
    assert verdict.outcome is Outcome.FAILED


def test_a_script_that_looks_like_tampering_by_itself_accuses_nobody(bench: GradingContext, tmp_path: Path) -> None:
    place = write_task(tmp_path, task=SCRIPTED, solve=f"{SUM}\n{TWICE}\n")
    built = 'folder=/logs; echo 1 > "$folder/verifier/reward.txt"\n'  # a name that nobody can find in the text
    (place / "tests/test.sh").write_text(SCRIPT.replace("exit 0\n", built))
    proof = prove_state_task(place, bench)
    assert proof.state == "fault" and "own tests look like tampering" in proof.why
    verdict = attempt(read_task(place), bench, tmp_path / "attempt", f"{SUM}; {TWICE}")
    assert verdict.outcome is Outcome.INFRA_FAULT and "unproven" in verdict.comments[0]


def test_a_script_that_is_ended_early_gives_no_reward(tried: Try) -> None:
    verdict = tried("echo 'import os; os.kill(os.getppid(), 9)' > /srv/reports/twice.py")
    assert verdict.outcome is Outcome.FAILED and verdict.tests[0].outcome in ("missing", "failed")


@pytest.mark.parametrize(
    ("name", "text", "reward"),
    [
        ("reward.txt", " 0.25\n", 0.25),
        ("reward.json", '{"reward": 1, "correct": 0}', 1.0),
        ("reward.json", '{"speed": 1, "style": 0.5}', 0.5),
        ("reward.json", '{"reward": "1"}', None),
        ("reward.txt", "nan", None),
        ("reward.txt", "inf", None),
        ("reward.txt", "", None),
        ("reward.json", "[" * 100_000, None),
        ("reward.json", '{"reward": 1' + "0" * 400 + "}", None),
        ("other", "1", None),
    ],
)
def test_only_finite_figures_are_rewards(tmp_path: Path, name: str, text: str, reward: float | None) -> None:
    (tmp_path / name).write_text(text)
    assert read_reward(tmp_path) == reward


def test_a_report_beside_a_reward_does_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_text('{"score": 0.5, "status": "fail"}')
    (tmp_path / "reward.txt").write_text("0.25")
    assert read_reward(tmp_path) == 0.25
    (tmp_path / "reward.json").write_text('{"score": 0.5}')
    assert read_reward(tmp_path) == 0.5
