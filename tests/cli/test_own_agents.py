"""Own command lines: what cannot start is refused before anything is laid out, or blamed on the set-up."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

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
    (place / "login.py").write_text("import sys\nsys.exit('Error: no API key found. Please log in')\n")
    (place / "remote.py").write_text("import socket\nsocket.create_connection(('8.8.8.8', 53), timeout=1)\n")
    (place / "ollama.py").write_text("import socket\nsocket.create_connection(('127.0.0.1', 11434))\n")
    (place / "strict.py").write_text("import argparse\nargparse.ArgumentParser().parse_args()\n")
    (place / "torn.py").write_text("print('x'\n")
    for name, text in (("dos.sh", "#!/bin/sh\r\ntrue\r\n"), ("alien.py", "#!/usr/bin/env no-python\n")):
        (place / name).write_bytes(text.encode())
        (place / name).chmod(0o755)
    return place


@pytest.mark.by_day(8)
@pytest.mark.parametrize(
    ("line", "why", "remedy"),
    [
        ("my-agent --prompt {instruction}", "there is no program my-agent (exit code 127", "repoassay agents new"),
        ("{agent}/plain.txt", "it is not executable (exit code 126", "chmod +x"),
        ("python {agent}/gone.py", "there is no file /agent/gone.py", "whose place is {agent}"),
        ("python {agent}/needy.py", "the Python module a_module_that_nobody_has is missing", 'kind = "pip"'),
        ("python {agent}/keyed.py", "it wants OPENAI_API_KEY", "--model PROVIDER/NAME"),
        ("python {agent}/login.py", "wants a key or an account (no API key found", "--model PROVIDER/NAME"),
        ("python {agent}/remote.py", "it wants the network (Network is unreachable)", "--network open"),
        ("python {agent}/ollama.py", "nobody answers where it connects to", "is not this machine's"),
        ("python {agent}/strict.py -p x", "does not take its command line (unrecognized arguments", "Correct the"),
        ("python {agent}/torn.py", "no valid program (SyntaxError", "Correct it"),
        ("{agent}/dos.sh", "its first line ends as Windows ends lines", "exit code 127"),
        ("{agent}/alien.py", "its interpreter no-python is missing", "--agent-dir"),
        ("echo {instrction}", "unknown placeholder {instrction}", "Did you mean instruction?"),
        ("echo {instruction", "unknown placeholder {instruction.", "Did you mean instruction?"),
        ("echo {{instruction}}", "unknown placeholder {{instruction}}", "Did you mean instruction?"),
        ("echo {Instruction}", "unknown placeholder {Instruction}", "Did you mean instruction?"),
    ],
)
def test_what_cannot_start_is_refused_before_a_run_folder(folder: Path, line: str, why: str, remedy: str) -> None:
    done = run(folder.parent, "--agent-command", line, "--agent-dir", folder)
    assert done.returncode == 2, done.stderr
    told = done.stderr.strip().splitlines()[-1]
    assert why in told and remedy in told
    assert "Traceback" not in done.stdout
    assert not (folder.parent / "runs").exists()


@pytest.mark.long
@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    "line",
    [
        "python {agent}/good.py",
        "awk '{print}' /dev/null; echo ${HOME}",
        "sleep 30",
        "exit 3",
        "f() { task a; }; f | true",
    ],
)
def test_what_starts_is_let_through(folder: Path, line: str) -> None:
    done = run(folder.parent, "--agent-command", line, "--agent-dir", folder, "--timeout", "2")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_new_agent_that_calls_no_tools_is_told_of_the_option(tmp_path: Path) -> None:
    (tmp_path / "text.py").write_text(
        "import json, os, urllib.request as net\n"
        "asked = {'model': 'x', 'messages': [{'role': 'user', 'content': 'Say what to run.'}]}\n"
        "url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'\n"
        "head = {'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']}\n"
        "net.urlopen(net.Request(url, json.dumps(asked).encode(), head)).read()\n"
    )
    done = repoassay("agents", "new", "mine", "--bring", "text.py", "--command", "python {agent}/text.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "add --no-tools" in done.stderr


@pytest.mark.long
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


class Stingy(BaseHTTPRequestHandler):
    """A server that shows its list to anybody, and answers calls with what its class says."""

    status, body, kind = 404, b"{}", "application/json"

    def do_GET(self) -> None:
        self._send(200, b'{"data": [{"id": "x"}]}' if self.kind.endswith("json") else self.body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(self.status, self.body)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


REFUSALS = [
    ({"status": 401}, "refuses the key in MY_KEY", "credentials (it refuses the key)"),
    (
        {"status": 402, "body": b'{"error": {"message": "no credits"}}'},
        "nothing is left to spend (no credits)",
        "quota",
    ),
    (
        {"status": 404, "body": b'{"detail": "no such route"}'},
        "does not serve mine/x in chat (status 404",
        "status 404",
    ),
    ({"status": 200, "kind": "text/html", "body": b"<html>"}, "is no server of models (text/html", ""),
]


@pytest.mark.by_day(2)
@pytest.mark.parametrize(("answers", "why", "later"), REFUSALS)
def test_a_server_that_will_answer_no_call_is_refused_or_blamed(
    tmp_path: Path, answers: dict[str, Any], why: str, later: str
) -> None:
    pytest.importorskip("aiohttp")
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "asks.py").write_text(
        "import os, urllib.request\nurllib.request.urlopen(urllib.request.Request(os.environ['OPENAI_BASE_URL'] + "
        "'/chat/completions', b'{\"messages\": []}', {'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']}))\n"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (Stingy,), answers)) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        models = upstream(tmp_path, server.server_address[1], key_env="MY_KEY")
        words = ("run", *MINI, "--agent-command", "python {agent}/asks.py", "--agent-dir", "agent", "--model", "mine/x",
                 "--model-upstream", models, "--yes")  # fmt: skip
        done = repoassay(*words, cwd=tmp_path, env={"MY_KEY": "EMPTY"})
        assert done.returncode == 2 and why in done.stderr.splitlines()[-1], done.stderr
        assert not (tmp_path / "runs").exists()
        if later:  # the server may also begin to refuse after the look
            done = repoassay(*words, "--no-preflight", "--retries", "0", cwd=tmp_path, env={"MY_KEY": "EMPTY"})
            assert "infra_fault" in done.stderr and later in done.stderr, done.stderr
        server.shutdown()


def test_calls_that_are_rejected_as_no_question_of_ours_is_are_the_agents_own(tmp_path: Path) -> None:
    """A server that rejects what the agent asks, and answers us."""
    pytest.importorskip("aiohttp")

    class Choosy(Stingy):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            good = (
                b'{"choices": [{"message": {"content": "Hi"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}'
            )
            self._send(*(404, b"{}") if b"nonsense" in asked else (200, good))

    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "asks.py").write_text(
        "import os, urllib.request\nurllib.request.urlopen(urllib.request.Request(os.environ['OPENAI_BASE_URL'] + "
        '\'/chat/completions\', b\'{"messages": [{"role": "user", "content": "nonsense"}]}\', '
        "{'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']}))\n"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Choosy) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        done = run(tmp_path, "--agent-command", "python {agent}/asks.py", "--agent-dir", "agent", "--model", "mine/x",
                   "--model-upstream", upstream(tmp_path, server.server_address[1]))  # fmt: skip
        server.shutdown()
    assert done.returncode == 0 and "no_output" in done.stderr, done.stderr


REPLIES = "import json; n = json.loads(input())['id']; print(json.dumps({'id': n, %s}))"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-acp", "--acp"], "there is no program no-such-acp"),
        (["sh", "-c", "echo cannot open its settings >&2; exit 1"], "it opened no session"),
        (["python", "-c", "print(1); print(2)"], "it opened no session"),
        (["python", "-c", REPLIES % "'error': {'message': 'Authentication required'}"], "Authentication required"),
        (["python", "-c", REPLIES % "'result': 5"], "it opened no session"),
    ],
)
def test_an_agent_of_the_client_protocol_that_opens_no_session_is_refused(
    tmp_path: Path, command: str, why: str
) -> None:
    (tmp_path / "mine.toml").write_text(f'schema = 1\nname = "mine"\n[run]\nprotocol = "acp"\ncommand = {command}\n')
    done = run(tmp_path, "--agent", "./mine.toml")
    assert done.returncode == 2 and why in done.stderr.splitlines()[-1], done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "runs").exists()


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
    file = agent_file(tmp_path, "print('no luck today'); raise SystemExit(5)", 'dialect = "chat"')
    done = run(tmp_path, "--agent", file, *model)
    assert done.returncode == 2
    assert "mine @ scripted/x ended before it asked its model (exit code 5). It printed: no luck today." in done.stderr
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
