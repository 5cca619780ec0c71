"""Folders for own agents: what is written of a command line and of what an agent is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.agents import NewAgent, read_spec, write_agent_folder
from repoassay.agents.model_agent import ModelledAgent
from repoassay.errors import BadInput
from repoassay.sandbox import Cache


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.py").touch()
    (tmp_path / "plain").mkdir()
    for folder, name in (("sources", "pyproject.toml"), ("script", "package.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    (tmp_path / "it-1-py3-none-any.whl").touch()
    return tmp_path


def made(command: str, **more: object) -> tuple[tuple[str, ...], str, str]:
    spec = write_agent_folder(Path("mine"), NewAgent(command=command, name="mine", **more))  # type: ignore[arg-type]
    return spec.run.command, spec.run.prompt, spec.install.kind


@pytest.mark.parametrize(
    ("bring", "kind", "program"),
    [
        ("", "none", "python"),
        ("one.py", "folder", "python"),
        ("plain", "folder", "python"),
        ("sources", "pip", "/agent/bin/python"),
        ("it-1-py3-none-any.whl", "pip", "/agent/bin/python"),
        ("name==1.2", "pip", "/agent/bin/python"),
        ("script", "npm", "/agent/node_modules/.bin/python"),
        ("@scope/name@1.2.3", "npm", "/agent/node_modules/.bin/python"),
    ],
)
def test_what_it_is_made_of_decides_how_it_is_installed(home: Path, bring: str, kind: str, program: str) -> None:
    assert made("python -m it {prompt}", bring=bring) == ((program, "-m", "it", "{prompt}"), "arg", kind)
    spec = read_spec(home / "mine" / "agent.toml")
    if bring and "==" not in bring and "@" not in bring:
        named = spec.install.folder or spec.install.requirements[0]
        assert named.endswith(str(home / bring))  # wherever it is read from


@pytest.mark.parametrize(
    ("line", "argv", "prompt"),
    [
        ("it --task {instruction}", ("it", "--task", "{prompt}"), "arg"),
        ("it 'a b' {instruction_file}", ("it", "a b", "{prompt_file}"), "file"),
        ("it", ("it",), "stdin"),
        ("it {prompt} | tee log", ("/bin/sh", "-c", 'it "$1" | tee log', "agent", "{prompt}"), "arg"),
        ("it '{prompt}' >log", ("/bin/sh", "-c", "it ''\"$1\"'' >log", "agent", "{prompt}"), "arg"),
        ('it "Do {prompt}" >log', ("/bin/sh", "-c", 'it "Do ""$1""" >log', "agent", "{prompt}"), "arg"),
        ("it <{prompt_file} >log", ("/bin/sh", "-c", "it <{prompt_file} >log", "agent"), "file"),
    ],
)
def test_a_command_line_becomes_arguments_and_no_prompt_meets_the_shell(
    home: Path, line: str, argv: tuple[str, ...], prompt: str
) -> None:
    assert made(line)[:2] == (argv, prompt)


def test_an_endpoint_has_a_file_and_an_agent_without_a_model_no_address(home: Path) -> None:
    made("it", endpoint="http://127.0.0.1:8000/v1", key_env="MY_KEY", dialect="messages")
    assert 'dialects = ["messages"]' in Path("mine/models.toml").read_text()
    assert read_spec(Path("mine/agent.toml")).run.env["ANTHROPIC_BASE_URL"] == "{messages_url}"
    spec = write_agent_folder(Path("plainer"), NewAgent(command="it", name="plainer", dialect=""))
    assert (spec.dialect, spec.run.env) == ("", {})


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"command": "it {promt}"}, "Did you mean"),
        ({"command": "{agent}/it"}, "nothing is brought along"),
        ({"command": ""}, "empty"),
        ({"command": "it 'x"}, "quotes"),
        ({"name": "../x"}, "no name"),
        ({"bring": "gone"}, "no file or folder gone"),
        ({"bring": "name>=1"}, "exact version"),
        ({"dialect": "chta"}, "Did you mean chat"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence_and_leaves_nothing(home: Path, more: dict[str, str], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        write_agent_folder(Path("mine"), NewAgent(**{"command": "it", "name": "mine", **more}))  # type: ignore[arg-type]
    assert not Path("mine").exists()


def test_nothing_is_written_over(home: Path) -> None:
    made("it")
    with pytest.raises(BadInput, match="is there already"):
        made("it")


def test_a_source_folder_is_installed_anew_when_it_changes(home: Path) -> None:
    from repoassay.agents.install import _content

    requirement = f"file://{home / 'sources'}"
    before = _content(requirement)
    (home / "sources" / "new.py").write_text("1")
    changed = _content(requirement)
    (home / "sources" / "__pycache__").mkdir()
    (home / "sources" / "__pycache__" / "x.pyc").touch()
    assert before and before != changed == _content(requirement)


def test_a_folder_is_shown_as_it_is(home: Path) -> None:
    made("it {agent}", bring="plain")
    agent = ModelledAgent(read_spec(home / "mine" / "agent.toml"))
    agent.prepare(Cache(home / "cache"), None)  # type: ignore[arg-type]
    assert agent._installed is not None and agent._installed.tree == home / "plain"


def test_an_agent_that_uses_an_address_says_what_it_speaks(home: Path) -> None:
    (home / "x.toml").write_text('schema = 1\nname = "x"\n[run]\ncommand = ["x", "{prompt}", "{chat_url}"]\n')
    with pytest.raises(BadInput, match="names no dialect"):
        read_spec(home / "x.toml")
