"""State tasks: what crosses decides, and nothing that an agent leaves decides how it is judged."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from command_line import repoassay
from repoassay.agents import find_modelled
from repoassay.agents.command import CommandAgent
from repoassay.engine.attempt import work
from repoassay.engine.grading_context import GradingContext
from repoassay.grading.edit import grade_edit
from repoassay.interchange.state_proof import prove_state_task
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome, Verdict
from repoassay.workspace import lay_out
from state_tasks import DOCUMENT, SOLUTION, TESTS, attempt, bench, whole, write_task

__all__ = ["bench"]

Try = Callable[[str], Verdict]


@pytest.fixture(scope="session")
def proven(bench: GradingContext, tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    place = write_task(tmp_path_factory.mktemp("state"))
    proof = prove_state_task(place, bench)
    assert (proof.state, proof.why) == ("proven", "")
    return whole(place)


@pytest.fixture
def tried(proven: TaskFolder, bench: GradingContext, tmp_path: Path) -> Try:
    return lambda line: attempt(proven, bench, tmp_path / "attempt", line)


@pytest.mark.long
def test_a_solution_passes_and_is_assured(tried: Try) -> None:
    verdict = tried(f"cd /workspace && {SOLUTION.strip().replace(chr(10), ' && ')}")
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.criteria[0].metric == "reward" and verdict.criteria[0].value == 1
    assert verdict.assurance is not None and verdict.assurance.grade in ("attested", "doubted")


@pytest.mark.long
def test_a_solution_that_left_links_passes(tried: Try) -> None:
    line = (
        SOLUTION.replace("sum.txt", "~/kit/sum").replace("/srv/reports/", "releases/1/").replace("parcels.py", "now.py")
    )
    line = (
        f"mkdir -p ~/kit releases/1; {line} ln -s ~/kit/sum sum.txt; ln -s releases/1 latest; ln -s now.py parcels.py; "
    )
    verdict = tried(f"cd /workspace; {line} ln -s /workspace/latest/twice.py /srv/reports/twice.py")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


@pytest.mark.long
def test_a_folder_with_nothing_in_it_crosses(bench: GradingContext, tmp_path: Path) -> None:
    looked = 'def test_folder():\n    assert [*Path("/srv/reports/old").iterdir()] == []\n'
    document = DOCUMENT.replace(
        '"test_parcels.py::test_sum"', '"test_parcels.py::test_folder", "test_parcels.py::test_sum"'
    )
    line = f"{SOLUTION}mkdir -p /srv/reports/old\n"
    place = write_task(tmp_path, test_parcels=f"{TESTS}\n\n{looked}", solve=line, task=document)
    assert prove_state_task(place, bench).state == "proven"
    line = line.strip().replace("\n", " && ")
    for more, outcome in ((":", Outcome.PASSED), ("echo > /srv/reports/old/one", Outcome.FAILED)):
        verdict = attempt(whole(place), bench, tmp_path / outcome, f"cd /workspace && {line} && {more}")
        assert verdict.outcome is outcome, verdict.comments


@pytest.mark.long
def test_right_work_beside_an_environment_of_many_files_passes(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path
) -> None:
    line = "cd /workspace; mkdir -p env/bin env/lib; touch env/pyvenv.cfg; (cd env/lib; seq 12000 | xargs touch); "
    done = work(proven, CommandAgent(line + SOLUTION.strip().replace("\n", "; ")), bench, tmp_path / "attempt")
    assert done.verdict.outcome is Outcome.PASSED, done.verdict.comments
    (left_out,) = done.submission.rejected
    assert left_out.path == "workspace/env" and "environment of packages" in left_out.reason


def test_part_of_it_fails_with_the_share_that_passed(tried: Try) -> None:
    verdict = tried("echo 17 > sum.txt")
    assert verdict.outcome is Outcome.FAILED
    assert (verdict.criteria[0].value, verdict.criteria[0].passed) == (0.5, False)


def test_the_agent_stands_in_its_folder_and_reads_the_instruction(tried: Try) -> None:
    verdict = tried('test "$PWD" = /workspace && grep -q sum /run/task/instruction.md && echo 17 > sum.txt')
    assert "test_parcels.py::test_sum" in {test.id for test in verdict.tests if test.outcome == "passed"}


ALL_PASS = """\
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    told = yield
    told.get_result().outcome = "passed"
"""
ALMOST = SOLUTION.replace("print s", "print s - 1")
"""Everything is right but the sum."""
LEAVE = "import os; os._exit(0)\n"
BELIEVES_ITSELF = "class A:\n    def __eq__(self, other): return True\ndef heaviest(weights): return A()\n"
PATCHES_PYTEST = """\
import _pytest.reports
_pytest.reports.TestReport.failed = property(lambda report: False)
_pytest.reports.TestReport.passed = property(lambda report: True)
def heaviest(weights): return 0
"""
WRITES_TO_THE_CHANNEL = """\
import os
for process in os.listdir("/proc"):
    for number in range(3, 30):
        try: os.write(os.open(f"/proc/{process}/fd/{number}", 1), b"x\\n")
        except OSError: pass
print(42)
"""
CHANGES_THE_TESTS = """\
import glob
for file in [*glob.glob("/tests/*"), "/workspace/sum.txt"]:
    try: open(file, "w").write("17")
    except OSError: pass
print(42)
"""


def put(text: str, *places: str) -> str:
    """A command that writes a text to files."""
    return f"printf %s {shlex.quote(text)} | tee {' '.join(places)} >/dev/null"


ATTACKS = {
    "conftest": put(ALL_PASS, "conftest.py", "/tmp/conftest.py", "/srv/conftest.py"),
    "configuration": put("[pytest]\naddopts = --collect-only -p parcels\n", "pytest.ini", "/tmp/pytest.ini", "tox.ini"),
    "sitecustomize": put(LEAVE, "sitecustomize.py", "usercustomize.py", "/tmp/sitecustomize.py"),
    "own pytest": "mkdir -p pytest _pytest; "
    + put(LEAVE, "pytest/__init__.py", "_pytest/__init__.py", "pathlib.py", "subprocess.py", "/tmp/subprocess.py"),
    "tests replaced": "mkdir -p tests; "
    + put("def test_sum(): pass\n", "/tests/test_parcels.py", "tests/test_parcels.py", "test_parcels.py"),
    "programs on the path": "mkdir -p bin $HOME/.local/bin; "
    + put("#!/bin/sh\necho 42\n", "python3", "bin/python3", "/tmp/python3", "$HOME/.local/bin/python3")
    + "; chmod +x python3 bin/python3 /tmp/python3; export PATH=/workspace:$PATH",
    "user site": "site=$HOME/.local/lib/python3.11/site-packages; mkdir -p $site; "
    + put(LEAVE, "$site/usercustomize.py", "$site/x.pth"),
    "path file": put(LEAVE, "x.pth", "/tmp/x.pth", "/srv/x.pth"),
    "link to an answer": "rm sum.txt; ln -s /etc/passwd sum.txt; ln -s /env /tmp/env; ln -s / /srv/reports/root",
    "link for a folder": "rm -rf data; ln -s /etc data",
    "links nowhere": "for to in /tests/test_parcels.py /logs/verifier/reward.txt /proc/self/fd/1 /dev/null loop;"
    " do ln -sf $to sum.txt; ln -s $to loop; ln -sf sum.txt /srv/reports/loop; done; ln -s /tests own; ln -s . here",
    "left running": "setsid sh -c 'sleep 1; while true; do echo 17 > /workspace/sum.txt; done' >/dev/null 2>&1 &"
    " kill -STOP 1; true",
    "module that ends the run": put(LEAVE, "parcels.py"),
    "module that believes itself": put(BELIEVES_ITSELF, "parcels.py"),
    "module that patches pytest": put(PATCHES_PYTEST, "parcels.py"),
    "program that writes to the channel": put(WRITES_TO_THE_CHANNEL, "/srv/reports/twice.py"),
    "program that changes the tests": put(CHANGES_THE_TESTS, "/srv/reports/twice.py"),
    "no plain files": "rm -f sum.txt /srv/reports/twice.py; mkfifo sum.txt /srv/reports/twice.py;"
    " python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"heard\")'; mknod null c 1 3",
    "hard link": "ln -f data/parcels.txt sum.txt; ln /env/bin/python3 python3",
    "hole of a terabyte": "truncate -s 1T /tmp/hole hole",
    "attributes of git": put(
        "* filter=own diff=own merge=own -text eol=crlf ident working-tree-encoding=UTF-16\n",
        ".gitattributes",
        "/tmp/.gitattributes",
    )
    + "; "
    + put("*\n", ".gitignore", "/srv/.gitignore"),
    "start-up files": put("echo 42; exit 0\n", "$HOME/.bashrc", "$HOME/.profile", "$HOME/.bash_profile", ".bash_env")
    + "; "
    + put(LEAVE, "$HOME/.pythonrc.py", "$HOME/.pdbrc", "/tmp/.pythonrc"),
    "environment of their own": put(
        "home = /workspace/bin\ninclude-system-site-packages = true\n",
        "pyvenv.cfg",
        "/srv/pyvenv.cfg",
        "/tmp/pyvenv.cfg",
    ),
    "library to preload": "(echo /workspace/x.so > /etc/ld.so.preload; cp /bin/true /env/bin/pytest;"
    " cp /bin/true /env/bin/python; echo 1 > /run/runner.py) 2>/dev/null",
    "program with rights": "cp /bin/sh sh; chmod 6777 sh; chmod 000 data/parcels.txt",
}


@pytest.mark.long
@pytest.mark.by_day(6)
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_but_the_work_passes(tried: Try, attack: str) -> None:
    verdict = tried(f"cd /workspace; {ALMOST} {attack}")
    assert verdict.result is False, (verdict.outcome, verdict.comments)
    assert verdict.outcome is not Outcome.PASSED


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("attack", ["conftest", "configuration", "sitecustomize", "tests replaced", "path file",
                                    "programs on the path", "attributes of git", "start-up files",
                                    "environment of their own", "library to preload"])  # fmt: skip
def test_what_they_leave_does_not_fail_a_solution_either(tried: Try, attack: str) -> None:
    verdict = tried(f"cd /workspace; ({ATTACKS[attack]}); {SOLUTION}")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


@pytest.mark.long
@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", ["a\\b", "git~1", ".git ", "GIT~1/config", "\uff0egit"])
def test_a_stray_name_that_no_patch_may_have_fails_no_solution(tried: Try, name: str) -> None:
    code = f"import os; p = {name!r}; os.makedirs(os.path.dirname(p) or '.', exist_ok=True); open(p, 'w').write('x')"
    verdict = tried(f"cd /workspace; python3 -c {shlex.quote(code)} && {SOLUTION}")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


@pytest.mark.exhaustive
def test_a_huge_tree_is_refused(tried: Try) -> None:
    line = "mkdir many && cd many && i=0; while [ $i -lt 12000 ]; do : > $i; i=$((i+1)); done"
    verdict = tried(line)
    assert verdict.result is False
    assert any("12000 new files" in comment for comment in verdict.comments)


@pytest.mark.parametrize("path", ["tests/test_parcels.py", "run/runner.py", "env/bin/x", "etc/x", "workspacex/y", "x"])
def test_a_patch_reaches_nothing_but_the_places(proven: TaskFolder, bench: GradingContext, path: str) -> None:
    layout = lay_out(proven, None, bench.cache, bench.sandbox)
    patch = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    verdict = grade_edit(
        proven, patch.encode(), bench.sandbox, base=layout.base, environment=layout.environment, oracle=bench.oracle
    )
    assert verdict.outcome is Outcome.PATCH_FAILED
    assert f"/{path}" in verdict.comments[0]


def test_without_proof_nobody_is_blamed(bench: GradingContext, tmp_path: Path) -> None:
    folder = whole(write_task(tmp_path))
    verdict = attempt(folder, bench, tmp_path / "attempt", "echo 17 > sum.txt")
    assert verdict.outcome is Outcome.INFRA_FAULT and verdict.result is None
    assert "unproven" in verdict.comments[0]
    untouched = attempt(folder, bench, tmp_path / "nothing", "true")
    assert untouched.outcome is Outcome.NO_OUTPUT


def test_a_solution_that_does_not_pass_proves_nothing(bench: GradingContext, tmp_path: Path) -> None:
    place = write_task(tmp_path, solve="echo 16 > sum.txt\n")
    proof = prove_state_task(place, bench)
    assert proof.state == "unproven" and "test_sum" in proof.why
    assert not (place / "solution/changes.diff").exists()


def test_tests_that_pass_untouched_are_told(bench: GradingContext, tmp_path: Path) -> None:
    kept = "def test_sum():\n    pass\n\n\ndef test_program():\n    pass\n\n\ndef test_module():\n    pass\n"
    place = write_task(tmp_path, test_parcels=f"{kept}\n\ndef test_parcels_are_kept():\n    pass\n")
    assert prove_state_task(place, bench).state == "passes untouched"


def test_an_attempt_ends_after_it_began_though_the_clock_is_set_back(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SetBack(datetime):
        hours = 20

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> SetBack:
            cls.hours -= 1
            return cls(2026, 1, 1, cls.hours, tzinfo=tz)

    monkeypatch.setattr("repoassay.engine.attempt.datetime", SetBack)
    made = work(proven, CommandAgent("true"), bench, tmp_path / "attempt")
    assert timedelta() < made.ended - made.started < timedelta(hours=1)


def test_an_agent_that_gives_up_at_once_is_judged_as_any(proven: TaskFolder, tmp_path: Path) -> None:
    """It is started again without the task, in folders that are there and empty, to see whose doing that was."""
    done = repoassay(
        "run", proven.path, "--agent-command", "sh -c '! test -e data'", "--name", "quits", "--no-preflight", "--out",
        tmp_path / "runs", cwd=tmp_path,
    )  # fmt: skip
    assert "could not be set up" not in done.stderr and "infra_fault" not in done.stderr, done.stderr
    assert "[1/1]" in done.stderr, done.stderr


def test_an_agent_of_a_file_stands_in_that_folder_too(
    proven: TaskFolder, bench: GradingContext, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        'schema = 1\nname = "mine"\n[run]\nprompt = "stdin"\n'
        'command = ["/bin/sh", "-c", "cat > told.txt; test \\"$PWD\\" = {repo} && echo 17 > {workspace}/sum.txt"]\n'
    )
    agent = find_modelled(str(tmp_path / "mine.toml"))
    agent.prepare(bench.cache, bench.sandbox)
    verdict = work(proven, agent, bench, tmp_path / "attempt").verdict
    assert "test_parcels.py::test_sum" in {test.id for test in verdict.tests if test.outcome == "passed"}
