"""`pytest my-suite`: the real pytest, as a program of its own, over folders of tasks and over those of strangers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

MINI = Path(__file__).parents[1] / "assets" / "suites" / "mini"
PLUG_IN = ("pytest: `pytest my-suite`", "pytest")
TRAP = "import pathlib\npathlib.Path({marker!r}).write_text('imported')\n"


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    others = ("randomly", "cacheprovider", "schemathesis", "hypothesispytest", "anyio")
    line = [sys.executable, "-m", "pytest", *(f"-pno:{name}" for name in others), *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a suite whose hidden tests bring a conftest.py, and ordinary tests beside it."""
    shutil.copytree(MINI, tmp_path / "suite")
    trap = TRAP.format(marker=str(tmp_path / "trapped"))
    for place in ("suite/conftest.py", "suite/tasks/fix-total/tests/conftest.py", "suite/tasks/sum-ledger/conftest.py"):
        (tmp_path / place).write_text(trap)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_unconfigure():\n"
        "    ours = sorted(name for name in sys.modules if name.partition('.')[0] in ('repoassay', 'pydantic'))\n"
        "    print('loaded:', *ours)\n"
    )
    (tmp_path / "plain" / "test_plain.py").write_text("def test_plain():\n    pass\n")
    return tmp_path


@pytest.mark.long
def test_a_suite_is_run_and_its_hidden_tests_are_not_collected(work: Path) -> None:
    done = run_pytest(work, "suite", "--junitxml=report.xml", "-n", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(work / "report.xml").iter("testcase")}
    assert sorted(map(str, cases)) == ["fix-total", "sum-ledger"]
    properties = {each.get("name"): each.get("value") for each in cases["sum-ledger"].iter("property")}
    assert properties == {"repoassay_agent": "reference", "repoassay_outcome": "passed"}
    error = cases["fix-total"].find("error")  # its environment has no pytest: no verdict on anybody
    assert error is not None and "has no pytest" in str(error.text)
    assert "Traceback" not in done.stdout and "test_every_value_counts" not in done.stdout
    assert not (work / "trapped").exists()


@pytest.mark.long
def test_an_agent_that_fails_is_told_in_a_few_lines(work: Path) -> None:
    done = run_pytest(
        work / "suite", "-k", "sum", "--repoassay-agent", "nothing", "--repoassay-runs", str(work / "runs")
    )
    assert done.returncode == 1
    assert "nothing on sum-ledger: no output\n" in done.stdout and "1 deselected" in done.stdout
    told = done.stdout.partition("task sum-ledger ___")[2].partition("====")[0].strip("_\n").splitlines()
    assert 2 <= len(told) <= 6 and told[-1].startswith("The run is in ")
    assert [each.name.endswith(told[-1][-6:-1]) for each in (work / "runs").iterdir()] == [True]


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("name", ["suite/tasks/sum-ledger", "suite/tasks/sum-ledger/task.toml", "suite/tasks"])
def test_a_task_is_named_in_any_way(work: Path, name: str) -> None:
    done = run_pytest(work, name, "-k", "sum", "-q")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    assert not (work / "trapped").exists()


@pytest.mark.exhaustive
def test_proofs_are_run_where_they_are_asked_for(work: Path) -> None:
    solution = next((work / "suite/tasks/sum-ledger/solution").iterdir())
    assert run_pytest(work, "suite/tasks/sum-ledger", "--repoassay-validate").returncode == 0
    solution.write_text("raise SystemExit(1)\n")
    done = run_pytest(work, "suite/tasks/sum-ledger", "--repoassay-validate")
    assert done.returncode == 1 and "sum-ledger cannot be trusted:\nproof reference: " in done.stdout


@pytest.mark.long
def test_a_run_of_strangers_costs_nothing_and_passes_hidden_tests_over(work: Path) -> None:
    trap = (work / "suite" / "conftest.py").read_text()
    (work / "below").mkdir()
    shutil.copytree(work / "suite" / "tasks" / "fix-total", work / "below" / "fix-total")
    for place in ("suite/repositories/own/tests", "suite/tasks/fix-total/further", "below/fix-total", "suite"):
        (work / place).mkdir(parents=True, exist_ok=True)
        for name in ("conftest.py", "test_own.py"):
            (work / place / name).write_text(trap)
    done = run_pytest(work, ".", "-s")
    assert done.returncode == 0 and "1 passed" in done.stdout
    assert "repoassay: 3 task folders passed over; name their suite to run them." in done.stdout
    loaded = run_pytest(work, "plain", "-s").stdout.partition("loaded: ")[2].split()
    ours = ("integrations", "integrations.pytest_plugin", "lazy", "tasks", "tasks.changed_files")
    assert loaded == ["repoassay", *(f"repoassay.{name}" for name in ours)]
    assert not (work / "trapped").exists()


def test_a_conftest_that_pytest_would_import_before_it_asks_is_refused(work: Path) -> None:
    """Of what it is told to collect, it imports that of each folder called `test*`."""
    found = work / "tests-of-a-stranger"
    (work / "suite").rename(found)
    done = run_pytest(work, ".")
    assert done.returncode == 4 and f"{found} holds tasks" in done.stderr, done.stdout + done.stderr
    (found / "conftest.py").unlink()
    done = run_pytest(work, ".")
    assert "1 passed" in done.stdout and "passed over" in done.stdout
    assert not (work / "trapped").exists()


@pytest.mark.long
def test_hidden_tests_are_found_behind_links_and_patterns(work: Path) -> None:
    hidden = work / "suite/tasks/sum-ledger/tests"
    (hidden / "conftest.py").write_text(TRAP.format(marker=str(work / "trapped")))
    shutil.copy(hidden / "conftest.py", hidden / "test_hidden.py")
    (work / "testlink").symlink_to(hidden)
    for arguments in (["testlink"], ["."]):
        done = run_pytest(work, *arguments)
        assert done.returncode == 4 and "testlink" in done.stderr, done.stdout + done.stderr
    modules = ("suite.tasks.sum-ledger.tests.test_hidden", "tasks.sum-ledger.tests", "sum-ledger.tests.test_hidden")
    for module, top in zip(modules, (".", "suite", "suite/tasks"), strict=True):
        done = run_pytest(work, "--pyargs", module, "--override-ini", f"pythonpath={top}")
        assert done.returncode == 4 and "whose tests are hidden" in done.stderr, done.stdout + done.stderr
    done = run_pytest(work, "--pyargs", "plain/test_plain.py")
    assert done.returncode == 0, done.stdout + done.stderr
    (work / "testlink").rename(work / "plain" / "link")
    done = run_pytest(work, "plain")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    (work / "pytest.ini").write_text("[pytest]\ntestpaths = suite/*/*/tests\n")
    done = run_pytest(work)
    assert done.returncode == 4 and "whose tests are hidden" in done.stderr, done.stdout + done.stderr
    assert not (work / "trapped").exists()


@pytest.mark.long
def test_folders_of_a_suite_are_no_packages_and_a_task_may_be_named_by_a_link(work: Path) -> None:
    for folder in ("suite", "suite/tasks", "suite/tasks/sum-ledger"):
        shutil.copy(work / "suite" / "conftest.py", work / folder / "__init__.py")
    (work / "link").symlink_to("suite/tasks/sum-ledger")
    done = run_pytest(work, "suite/tasks/sum-ledger", "link", "--repoassay-runs", "/proc/none")
    assert (done.returncode, "2 errors" in done.stdout) == (1, True), done.stdout + done.stderr
    assert "/proc/none" in done.stdout and "Traceback" not in done.stdout and "site-packages" not in done.stdout
    assert not (work / "trapped").exists()


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("settings", "named"),
    [("suite/pytest.ini", "suite"), ("suite/pytest.ini", "suite/tasks/sum-ledger"), ("suite/tox.ini", "suite/tasks"),
     ("suite/tasks/pytest.ini", "suite/tasks"), ("suite/tasks/sum-ledger/pytest.ini", "suite/tasks/sum-ledger")],
)  # fmt: skip
@pytest.mark.long
def test_settings_that_come_with_tasks_are_refused(work: Path, settings: str, named: str) -> None:
    """They would choose no sandbox, or files of the user's to write over."""
    (work / settings).write_text("[pytest]\naddopts = --repoassay-isolation none --junitxml=/tmp/of-a-stranger.xml\n")
    done = run_pytest(work, named, "-k", "sum")
    assert done.returncode == 4 and "lies among the tasks" in done.stderr, done.stdout + done.stderr
    (work / "mine.ini").write_text("[pytest]\n")
    done = run_pytest(work, "-c", "mine.ini", named, "-k", "sum")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.long
def test_settings_that_are_found_by_the_name_of_the_tasks_alone_are_refused(work: Path) -> None:
    """Those of a repository that was fetched with its suite: they hold where pytest is started in there alone."""
    fetched = work / "fetched"
    fetched.mkdir()
    (work / "suite").rename(fetched / "suite")
    (fetched / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    done = run_pytest(work, "fetched/suite")
    assert done.returncode == 4 and "lies among the tasks" in done.stderr, done.stdout + done.stderr
    assert "2 tests collected" in run_pytest(fetched, "suite").stdout


@pytest.mark.long
def test_tasks_of_other_tools_are_left_alone(work: Path) -> None:
    other = work / "others" / "task"
    (other / "tests").mkdir(parents=True)
    (other / "task.toml").write_text('schema_version = "1.1"\n\n[task]\nname = "org/task"\n')
    (other / "tests" / "test_outputs.py").write_text("def test_output():\n    pass\n")
    for name in ("others", "others/task", "others/task/tests/test_outputs.py"):
        assert "1 passed" in run_pytest(work, name).stdout


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["suite/tasks/fix-total/tests/test_total.py"], "is part of the task fix-total, whose tests are hidden"),
        (["suite/tasks/fix-total/tests"], "is part of the task fix-total, whose tests are hidden"),
        (["suite", "plain"], "named together (plain)"),
        (["suite", "plain/test_plain.py::test_plain"], "named together (plain/test_plain.py::test_plain)"),
    ],
)
def test_what_cannot_be_run_together_is_refused(work: Path, names: list[str], told: str) -> None:
    done = run_pytest(work, *names)
    assert done.returncode == 4 and told in done.stderr
    assert not (work / "trapped").exists()


@pytest.mark.long
def test_a_task_with_problems_is_an_error_that_names_them(work: Path) -> None:
    task = work / "suite" / "tasks" / "sum-ledger" / "task.toml"
    task.write_text(task.read_text().replace('kind = "deliverable"', 'kind = "delivery"'))
    done = run_pytest(work, "suite")
    assert done.returncode == 2 and "task.kind" in done.stdout and "Traceback" not in done.stdout


@pytest.mark.exhaustive
def test_an_unknown_agent_is_a_sentence(work: Path) -> None:
    done = run_pytest(work, "suite/tasks/sum-ledger", "--repoassay-agent", "codx")
    assert "There is no agent called 'codx'. Did you mean codex?" in done.stdout
