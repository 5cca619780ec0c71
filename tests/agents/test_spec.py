"""Agents as data: what a file may say, and how it is told what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay import plugins
from repoassay.agents import find_agent
from repoassay.agents.find import find_modelled
from repoassay.agents.spec import builtin_specs, read_spec
from repoassay.errors import BadInput

GOOD = """\
schema = 1
name = "mine"
dialect = "chat"
[run]
command = ["mine", "{prompt}"]
"""


def wrong(folder: Path, text: str) -> str:
    path = folder / "agent.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_spec(path)
    return str(caught.value)


def test_every_builtin_agent_can_be_read_and_is_found_by_its_name() -> None:
    found = builtin_specs()
    assert set(found) == {
        "aider", "claude-code", "cline", "codex", "copilot", "crush", "gemini-cli", "goose", "gptme", "inspect-react",
        "kimi", "mini-swe-agent", "mistral-vibe", "opencode", "openhands", "pi", "qwen-code", "swe-agent",
    }  # fmt: skip
    for name, path in found.items():
        spec = read_spec(path)
        assert spec.name == name
        assert spec.status
        assert spec.version in " ".join(spec.install.requirements) or spec.install.kind == "none"
        assert find_agent(name).name == name


def test_every_parser_is_there() -> None:
    for name in plugins.bundled_plugins("repoassay.readers"):
        assert callable(plugins.load("repoassay.readers", name).read)


def test_an_agent_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    assert find_agent(str(tmp_path / "mine.toml")).name == "mine"


def test_unknown_names_are_told_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="claude-code"):
        find_modelled("clod-code")


def test_an_agent_without_a_file_is_not_said_to_be_unknown() -> None:
    with pytest.raises(BadInput, match=r"^The agent reference has no TOML file\. Only agents that have one"):
        find_modelled("reference")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('name = "mine"\ncolour = "red"', "wrong at colour: is not a key"),
        ('name = "../mine"', "wrong at name"),
        ('name = "mine"\ninstall = { kind = "pip", requirements = ["mine>=1"] }', "exact version"),
        ('name = "mine"\ninstall = { kind = "npm", requirements = ["mine@latest"] }', "exact version"),
        ('name = "mine"\ninstall = { kind = "npm", requirements = ["--global@1.0"] }', "exact version"),
        ('name = "mine"\ninstall = { kind = "pip", requirements = ["--index-url=x"] }', "exact version"),
        ('name = "mine"\ninstall = { kind = "pip" }', "requirements exactly when"),
        ('name = "mine"\ninstall = { needs = ["a good day"] }', "write docker, git"),
        ('name = "mine"\ntranscript = { keep = ["/etc"] }', "must begin with {home}/"),
        ('name = "mine"\ntranscript = { keep = ["{home}/../../etc"] }', "must begin with {home}/"),
        ('name = "mine"\ntranscript = { parser = "perl" }', "wrong at transcript.parser"),
    ],
)
def test_wrong_files_are_told_where_and_what(tmp_path: Path, change: str, said: str) -> None:
    assert said in wrong(tmp_path, GOOD.replace('name = "mine"', change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('["mine"]', "lacks {prompt}"),
        ('["mine", "{prompt}", "{api_key}"]', "unknown placeholder {api_key}"),
        ('["mine", "{prompt}", "{max_calls}"]', "unknown placeholder {max_calls}"),
        ("[]", "at least 1 item"),
        ('["mine", "{prompt}"]\nfile = [{ path = "/etc/passwd", content = "" }]', "must begin with"),
        ('["mine", "{prompt}"]\nfile = [{ path = "{home}/../x", content = "" }]', "must begin with"),
        ('["mine", "{prompt}"]\nscratch = ["/workspace"]', "wrong at run.scratch"),
        ('["mine", "{prompt}"]\nscratch = ["/root/../workspace"]', "wrong at run.scratch"),
        ('["mine", "{prompt}"]\nenv = { "A=B" = "1" }', "wrong at run.env"),
    ],
)
def test_wrong_commands_are_told_where_and_what(tmp_path: Path, change: str, said: str) -> None:
    assert said in wrong(tmp_path, GOOD.replace('["mine", "{prompt}"]', change))


def test_files_that_are_no_toml_or_not_there_are_told(tmp_path: Path) -> None:
    assert "cannot be read" in wrong(tmp_path, "= 3")
    (tmp_path / "agent.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot be read"):
        read_spec(tmp_path / "agent.toml")
    with pytest.raises(BadInput, match="There is no agent file"):
        read_spec(tmp_path / "none.toml")
    assert "larger than" in wrong(tmp_path, GOOD + "#" * (1 << 20))


def test_braces_of_other_languages_stay(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(GOOD + "file = [{ path = '{home}/x', content = '{{observation}} {\"a\": {}}' }]\n")
    assert read_spec(path).run.file[0].content == '{{observation}} {"a": {}}'


def test_the_digest_is_of_everything_it_does(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(GOOD)
    before = read_spec(path).digest
    path.write_text(GOOD + 'env = { A = "1" }\n')
    assert read_spec(path).digest != before
