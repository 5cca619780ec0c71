"""`agents check` on the smallest agent there is: through sandbox, port forward and model proxy, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("aiohttp")

from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.spec import read_spec
from repoassay.engine.agent_check import check_agent
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import Usage

TINY = Path(__file__).parents[1] / "assets" / "agents" / "tiny.py"
HEAD = """\
schema = 1
name = "tiny"
dialect = "chat"
[run]
command = ["/env/bin/python", "{home}/tiny.py", "{prompt}"]
env = { OPENAI_BASE_URL = "{chat_url}", OPENAI_API_KEY = "{key}" }
[[run.file]]
path = "{home}/tiny.py"
"""


def agent(folder: Path, script: str) -> ModelledAgent:
    path = folder / "tiny.toml"
    path.write_text(f"{HEAD}content = '''\n{script}\n'''\n")
    return ModelledAgent(read_spec(path))


def test_an_agent_that_works_passes_and_is_metered_exactly(tmp_path: Path) -> None:
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    tiny = agent(tmp_path, TINY.read_text())
    tiny.prepare(cache, sandbox)
    (found,) = check_agent(tiny, cache, sandbox, tmp_path / "out", seconds=60, only="deliverable")
    assert found.verdict.outcome.value == "passed"
    assert found.sound
    assert found.left == ("daily.csv",)
    assert found.totals.usage == found.sent == Usage(input=8600, output=580, cached=5800)
    assert found.totals.calls == 4
    assert found.figures == "it tells no tokens"
    assert "deliverable" in found.folder.parts
    for name in ("prompt.md", "trajectory.json", "usage.jsonl", "log.txt", "submission/daily.csv"):
        assert (found.folder / name).is_file()


def test_an_agent_that_reaches_further_finds_nothing(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "for place in (('1.1.1.1', 80), ('127.0.0.1', 22), ('169.254.169.254', 80), ('example.org', 80)):\n"
        "    try:\n"
        "        socket.create_connection(place, timeout=3)\n"
        "        print('reached', place)\n"
        "    except OSError:\n"
        "        pass\n"
        "sys.exit(3)\n"
    )
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    lost = agent(tmp_path, script)
    lost.prepare(cache, sandbox)
    (found,) = check_agent(lost, cache, sandbox, tmp_path / "out", seconds=60, only="deliverable")
    assert not found.sound
    assert found.verdict.outcome.value == "no_output"
    assert found.exit.code == 3
    assert "reached" not in (found.folder / "log.txt").read_text()
