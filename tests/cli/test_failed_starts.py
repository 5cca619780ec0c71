"""Who is to blame for an agent that ends like a program that cannot start: never told by its own word alone."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from command_line import repoassay
from engine.metering import ASSETS

SOLVE = "cp /workspace/inputs/ledger.csv /workspace/output/totals.csv"
HARD = "grep -q hard /workspace/instruction.md"
GIVES_UP = {
    "exits": f"if {HARD}; then echo 'sh: my-tool: not found' >&2; exit 127; fi; {SOLVE}",
    "lacks": f"if {HARD}; then exec my-tool; fi; {SOLVE}",
    "imports": "python {agent}/late.py",
    "hides": "python {agent}/helped.py",
    "by-task": f"[ {{task}} = b-hard ] && exec my-tool; {SOLVE}",
    "detects": "if [ ! -s /workspace/inputs/ledger.csv ]; then exec my-tool; fi; "
    f"if {HARD}; then exec my-tool; fi; {SOLVE}",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A suite of an easy and a hard task, and an agent's folder."""
    mini = ASSETS / "suites" / "mini"
    for name in ("a-easy", "b-hard"):
        folder = shutil.copytree(mini / "tasks" / "sum-ledger", tmp_path / "suite" / "tasks" / name)
        task = (folder / "task.toml").read_text().replace('"sum-ledger"', f'"{name}"')
        if name == "b-hard":
            task = task.replace('path = ["src"]', 'path = ["."]')  # `import sums` works in the other task alone
        (folder / "task.toml").write_text(task)
        (folder / "instruction.md").write_text(f"This is {name.split('-')[1]}.\n")
    for name in ("suite.toml", "repositories"):
        source, target = mini / name, tmp_path / "suite" / name
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    agent = tmp_path / "agent"
    agent.mkdir()
    late = f"import shutil\nif 'hard' in open('/workspace/instruction.md').read():\n    import gone\n{_PYTHON}"
    (agent / "late.py").write_text(late)
    (agent / "helped.py").write_text(f"import helper\n{_PYTHON}")
    (agent / "helper.py").write_text("if 'hard' in open('/workspace/instruction.md').read():\n    import gone\n")
    (agent / "needs_sums.py").write_text(f"'''Needs it.'''\nimport json, sums\n{_PYTHON}")
    (agent / "needs_both.py").write_text(f"import needs_sums_too\n{_PYTHON}")
    (agent / "needs_sums_too.py").write_text("import sums\n")
    return tmp_path


_PYTHON = "import shutil\nshutil.copy('/workspace/inputs/ledger.csv', '/workspace/output/totals.csv')\n"


def outcomes(place: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """By agent and task: the outcome that counts and the comments of the verdict."""
    (run,) = (place / "runs").iterdir()
    found = {}
    for path in sorted(run.glob("attempts/*/attempt.json")):
        attempt, verdict = (json.loads((path.parent / f"{name}.json").read_text()) for name in ("attempt", "verdict"))
        found[attempt["agent"], attempt["task"]] = (verdict["outcome"], " ".join(verdict.get("comments", ())))
    return found


@pytest.mark.by_day(1)
@pytest.mark.parametrize("first", ["easy", "hard"])
@pytest.mark.long
def test_an_agent_that_can_start_does_not_leave_the_figures_by_its_word(place: Path, first: str) -> None:
    if first == "hard":
        for old, new in (("a-easy", "z-easy"), ("b-hard", "b-hard")):
            folder = (place / "suite" / "tasks" / old).rename(place / "suite" / "tasks" / new)
            (folder / "task.toml").write_text((folder / "task.toml").read_text().replace(f'"{old}"', f'"{new}"'))
    words = [word for name, line in GIVES_UP.items() for word in ("--agent-command", line, "--name", name)]
    done = repoassay("run", "suite", *words, "--agent-dir", "agent", "--no-preflight", "--workers", "1", cwd=place)
    assert done.returncode == 0, done.stderr
    found = outcomes(place)
    for name in GIVES_UP:
        outcome, told = found[name, "b-hard"]
        assert outcome == "no_output", (name, outcome, told)
        assert "so that this end is its own" in told
        assert found[name, "a-easy" if first == "easy" else "z-easy"][0] == "failed"


@pytest.mark.long
def test_what_is_not_there_for_one_task_alone_is_proven_and_excused(place: Path) -> None:
    lines = {
        "script": "python {agent}/needs_sums.py", "nested": "python -B {agent}/needs_both.py",
        "inline": f"python -c {shlex.quote('import sums; ' + _PYTHON)}",
    }  # fmt: skip
    words = [word for name, line in lines.items() for word in ("--agent-command", line, "--name", name)]
    done = repoassay("run", "suite", *words, "--agent-dir", "agent", cwd=place)
    assert done.returncode == 0, done.stderr
    found = outcomes(place)
    for name in lines:
        assert found[name, "a-easy"][0] == "failed"
        outcome, told = found[name, "b-hard"]
        assert outcome == "infra_fault", (name, outcome, told)
        assert "the Python module sums is missing, as RepoAssay found by its own look" in told


def test_an_agent_that_never_starts_is_excused_until_it_does(place: Path) -> None:
    """A line that proves nothing to a look is tried once more without a task."""
    lines = {"never": "true && exec my-tool", "never-python": "python -c 'import sys; import gone' && true"}
    words = [word for name, line in lines.items() for word in ("--agent-command", line, "--name", name)]
    done = repoassay("run", "suite", *words, "--no-preflight", cwd=place)
    assert done.returncode == 0, done.stderr
    for outcome, told in outcomes(place).values():
        assert outcome == "infra_fault" and "without a task as well" in told
    assert repoassay("resume", "latest", cwd=place).returncode == 2


@pytest.mark.parametrize("isolation", ["namespaces", "none"])
def test_what_cannot_start_is_refused_whatever_isolates_it(place: Path, isolation: str) -> None:
    for line, why in (("my-tool {instruction}", "there is no program my-tool"), ("python {agent}/gone.py", "gone.py")):
        done = repoassay(
            "run", "suite", "--agent-command", line, "--agent-dir", "agent", "--isolation", isolation, cwd=place
        )
        assert done.returncode == 2 and why in done.stderr and "cannot start" in done.stderr
    assert not (place / "runs").exists()


def test_resume_looks_first_as_well(place: Path) -> None:
    line = "sh {agent}/start.sh"
    start = place / "agent" / "start.sh"
    start.write_text("exit 127\n")
    run = ("run", "suite", "--agent-command", line, "--agent-dir", "agent")
    assert repoassay(*run, "--no-preflight", cwd=place).returncode == 0
    assert {outcome for outcome, _ in outcomes(place).values()} == {"infra_fault"}
    before = sorted(path.name for path in (place / "runs").glob("*/attempts/*"))
    done = repoassay("resume", "latest", cwd=place)
    assert done.returncode == 2 and "cannot start: exit code 127: command not found" in done.stderr
    assert sorted(path.name for path in (place / "runs").glob("*/attempts/*")) == before


def test_a_model_that_no_agent_asks_is_refused(place: Path) -> None:
    done = repoassay("run", "suite", "--agent", "reference,nothing", "--model", "scripted/x", cwd=place)
    assert done.returncode == 2
    assert "No agent of reference, nothing asks a model, and scripted/x is named" in done.stderr
    assert not (place / "runs").exists()
