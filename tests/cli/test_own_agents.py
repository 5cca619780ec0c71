"""Own command lines: what cannot start is refused before anything is laid out, or blamed on the set-up."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from command_line import repoassay
from engine.metering import ASSETS, said, write_dialogue

MINI = (str(ASSETS / "suites" / "mini"), "--task", "sum-ledger")


def run(cwd: Path, *words: str | Path) -> CompletedProcess[str]:
    return repoassay("run", *MINI, *words, cwd=cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An agent's folder with programs that do not start, and one that does."""
    place = tmp_path / "agent"
    place.mkdir()
    (place / "needy.py").write_text("import a_module_that_nobody_has\n")
    (place / "keyed.py").write_text("import os\nos.environ['OPENAI_API_KEY']\n")
    (place / "good.py").write_text("open('/workspace/output/totals.csv', 'w').write('month,amount\\n')\n")
    (place / "plain.txt").write_text("no program\n")
    return place


@pytest.mark.parametrize(
    ("line", "why", "remedy"),
    [
        ("my-agent --prompt {instruction}", "there is no program my-agent (exit code 127", "repoassay agents new"),
        ("{agent}/plain.txt", "it is not executable (exit code 126", "chmod +x"),
        ("python {agent}/gone.py", "there is no file /agent/gone.py", "--agent-dir"),
        ("python {agent}/needy.py", "the Python module a_module_that_nobody_has is missing", 'kind = "pip"'),
        ("python {agent}/keyed.py", "it wants OPENAI_API_KEY", "--model PROVIDER/NAME"),
        ("echo {instrction}", "unknown placeholder {instrction}", "Did you mean instruction?"),
    ],
)
def test_what_cannot_start_is_refused_before_a_run_folder(folder: Path, line: str, why: str, remedy: str) -> None:
    done = run(folder.parent, "--agent-command", line, "--agent-dir", folder)
    assert done.returncode == 2, done.stderr
    told = done.stderr.strip().splitlines()[-1]
    assert why in told and remedy in told
    assert "Traceback" not in done.stdout
    assert not (folder.parent / "runs").exists()


@pytest.mark.parametrize(
    "line", ["python {agent}/good.py", "awk '{print}' /dev/null; echo ${HOME}", "sleep 30", "exit 3"]
)
def test_what_starts_is_let_through(folder: Path, line: str) -> None:
    done = run(folder.parent, "--agent-command", line, "--agent-dir", folder, "--timeout", "2")
    assert done.returncode == 0, done.stderr


def test_an_agent_that_never_started_is_no_failure_of_its_own(folder: Path) -> None:
    lines = {
        "absent": "my-agent", "needy": "python {agent}/needy.py",
        "worked": "python {agent}/good.py; my-agent", "failed": "exit 1",
    }  # fmt: skip
    words = [word for name, line in lines.items() for word in ("--agent-command", line, "--name", name)]
    done = run(folder.parent, *words, "--agent-dir", folder, "--no-preflight")
    assert done.returncode == 0, done.stderr
    (place,) = (folder.parent / "runs").iterdir()
    assert "absent-needy-worked" in place.name
    verdicts = [json.loads(path.read_text()) for path in place.glob("attempts/*/verdict.json")]
    assert len(verdicts) == 4  # none is made again
    shown = repoassay("show", "latest", cwd=folder.parent).stdout
    outcomes = {line.split(" by ")[1].strip(): line.split()[1] for line in shown.splitlines()}
    assert outcomes["absent"] == outcomes["needy"] == "infra_fault"
    assert outcomes["failed"] == "no_output"
    assert outcomes["worked"] == "failed"  # it left a file, so that it had started

    for name, reason in (("absent", "my-agent: not found"), ("needy", "No module named"), ("worked", "my-agent:")):
        attempt = next(line.split()[0] for line in shown.splitlines() if line.endswith(f" by {name}"))
        for verb in ("show", "diagnose"):
            told = repoassay(verb, f"latest/{attempt}", cwd=folder.parent).stdout
            assert "The agent printed last" in told and reason in told, told
    whole = repoassay("diagnose", "latest", cwd=folder.parent).stdout
    assert "the agent could not start: there is no program my-agent (exit code 127: command not found)" in whole
    pages = [path.read_text() for path in place.glob("report*/*.html")]
    assert any("code 127: command not found" in page and "my-agent: not found" in page for page in pages)


def test_own_agents_have_names_that_are_their_own(tmp_path: Path) -> None:
    two = ("--agent-command", "true", "--agent-command", "true")
    for words in ((*two, "--name", "a"), two, (*two, "--name", "a", "--name", "a"),
                  ("--agent-command", "true", "--name", "reference"), ("--agent-command", "true", "--name", "a b"),
                  ("--name", "a"), ()):  # fmt: skip
        assert run(tmp_path, *words).returncode == 2, words
    assert not (tmp_path / "runs").exists()


def upstream(folder: Path, port: int, **more: str) -> Path:
    path = folder / "models.toml"
    rest = "".join(f'{key} = "{value}"\n' for key, value in more.items())
    path.write_text(f'[upstream.mine]\nbase_url = "http://127.0.0.1:{port}/v1"\n{rest}')
    return path


def test_a_model_nobody_serves_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    models = upstream(tmp_path, port)
    done = run(tmp_path, "--agent-command", "true", "--model", "mine/x", "--model-upstream", models)
    assert done.returncode == 2
    assert f"Nobody answers for mine/x at http://127.0.0.1:{port}/v1" in done.stderr and "Start it" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_agent_of_another_dialect_is_refused_before_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    (tmp_path / "mine.toml").write_text(
        'schema = 1\nname = "mine"\ndialect = "gemini"\n[run]\ncommand = ["true", "{prompt}"]\n'
    )
    models = upstream(tmp_path, 9)
    models.write_text(models.read_text() + "translate = false\n")
    done = run(tmp_path, "--agent", "./mine.toml", "--model", "mine/x", "--model-upstream", models)
    assert done.returncode == 2
    assert "speaks gemini" in done.stderr and "'mine' does not" in done.stderr


def agent_file(folder: Path, program: str, rest: str = "") -> str:
    """An agent's file whose program is a line of Python, with whatever else the file says at its top."""
    path = folder / "mine.toml"
    path.write_text(f"""\
schema = 1
name = "mine"
{rest}
[run]
command = ["python", "-c", "{program}", "{{prompt}}"]
""")
    return "./mine.toml"


def test_a_file_s_agent_that_ends_before_it_asks_its_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    dialogue = write_dialogue(tmp_path, [said()])
    model = ("--model", "scripted/x", "--dialogue", dialogue)
    file = agent_file(tmp_path, "print('no such option'); raise SystemExit(5)", 'dialect = "chat"')
    done = run(tmp_path, "--agent", file, *model)
    assert done.returncode == 2
    assert "mine @ scripted/x ended before it asked its model (exit code 5). It printed: no such option." in done.stderr
    assert not (tmp_path / "runs").exists()
    file = agent_file(tmp_path, "pass", 'dialect = "chat"\ninstall = { needs = ["network"] }')
    done = run(tmp_path, "--agent", file, *model)
    assert done.returncode == 2
    assert "needs the network" in done.stderr and "--network open" in done.stderr


def test_a_file_s_agent_may_ask_no_model(tmp_path: Path) -> None:
    program = "open('/workspace/output/totals.csv', 'w').write('month')"
    done = run(tmp_path, "--agent", agent_file(tmp_path, program))
    assert done.returncode == 0, done.stderr
    assert "failed       sum-ledger by mine" in done.stderr
