"""`repoassay agents`: list and refuse, as a person and as a program see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import BadInput, RepoAssayError

TINY = Path(__file__).parents[1] / "assets" / "agents" / "tiny.py"


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["agents", *(str(word) for word in words)])


@pytest.mark.long
def test_the_list_names_every_agent_and_why_one_cannot_run() -> None:
    result = call("list", "--json")
    assert result.exit_code == 0, result.output
    rows = {row["name"]: row for row in data_of(result.output)}
    assert {"mini-swe-agent", "aider", "claude-code", "codex", "gemini-cli", "swe-agent", "openhands", "inspect-react",
            "command", "reference"} <= set(rows)  # fmt: skip
    for row in rows.values():
        assert row["state"] in {"installed", "available", "missing", "built in"}
        assert row["state"] != "missing" or (row["why"] and row["remedy"])
    text = call("list").output
    for name, row in rows.items():
        assert name in text
        assert row["state"] != "missing" or row["why"] in text
    assert "not verified here" in text  # SWE-agent


def test_unknown_agents_and_full_folders_are_refused(tmp_path: Path) -> None:
    for words in (("install", "nobody"), ("check", "nobody"), ("check", tmp_path / "none.toml")):
        error = call(*words).exception
        assert isinstance(error, RepoAssayError), error
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    error = call("check", "codex", "--out", tmp_path / "full").exception
    assert isinstance(error, BadInput) and "not empty" in str(error)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_check_prints_what_it_found(tmp_path: Path, as_json: bool) -> None:
    pytest.importorskip("aiohttp")
    (tmp_path / "tiny.toml").write_text(f"""\
schema = 1
name = "tiny"
dialect = "chat"
[run]
command = ["/env/bin/python", "{{home}}/tiny.py", "{{prompt}}"]
env = {{ OPENAI_BASE_URL = "{{chat_url}}", OPENAI_API_KEY = "{{key}}" }}
[[run.file]]
path = "{{home}}/tiny.py"
content = '''
{TINY.read_text()}
'''
""")
    words = ["check", tmp_path / "tiny.toml", "--kind", "deliverable", "--out", tmp_path / "out"]
    result = call(*words, *(["--json"] if as_json else []))
    assert result.exit_code == 0, result.output
    if as_json:
        facts = data_of(result.output)
        assert facts["outcome"] == "passed" and facts["gateway"] == facts["sent"]
        assert facts["left"] == ["daily.csv"] and facts["calls"] == 4
    else:
        assert "tiny on sensor-log-daily: passed" in result.output
        assert "4 calls, 8,600 tokens in (5,800 cached), 580 out, equal to what the model sent" in result.output
