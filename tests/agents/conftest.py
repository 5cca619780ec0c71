"""What the tests of agents share: the real sandbox, a layout, and the smallest agent as a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.protocol import AccessPoint
from repoassay.agents.spec import read_spec
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace.preparation import PreparedTask, lay_out

ASSETS = Path(__file__).parents[1] / "assets"


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The cache in force, so that environments are built once."""
    return Cache()


@pytest.fixture(scope="session")
def sandbox(cache: Cache) -> Sandbox:
    """The real one."""
    return open_sandbox("namespaces", cache)


@pytest.fixture
def layout(cache: Cache, sandbox: Sandbox) -> PreparedTask:
    """A deliverable task of the starter suite."""
    suite = find_suite("starter", only=["sensor-log-daily"])
    return lay_out(suite.tasks[0], suite.repositories, cache, sandbox)


@pytest.fixture
def tiny(tmp_path: Path) -> ModelledAgent:
    """An agent of nothing but the standard library."""
    script = (ASSETS / "agents" / "tiny.py").read_text()
    path = tmp_path / "tiny.toml"
    path.write_text(f"""\
schema = 1
name = "tiny"
version = "1"
dialect = "chat"
[run]
command = ["/env/bin/python", "{{home}}/inner/tiny.py", "{{prompt}}", "{{calls_args}}"]
calls_args = ["--calls", "{{max_calls}}"]
env = {{ OPENAI_BASE_URL = "{{chat_url}}", OPENAI_API_KEY = "{{key}}" }}
[[run.file]]
path = "{{home}}/inner/tiny.py"
content = '''
{script}
'''
[transcript]
keep = ["{{home}}/inner/notes"]
""")
    return ModelledAgent(read_spec(path))


@pytest.fixture
def access() -> AccessPoint:
    """An access point that leads nowhere."""
    urls = {dialect: f"http://127.0.0.1:9/{dialect}" for dialect in ("chat", "responses", "messages", "gemini")}
    return AccessPoint(model="m", key="sk-ra-test", urls=urls, env={"HTTPS_PROXY": "http://127.0.0.1:8"})
