"""What images bring for another tool's agents is left out, unless the task is about it."""

from __future__ import annotations

import pytest

from interchange.test_harbor_settings import Convert, convert, taken
from repoassay.interchange.shell_steps import read_shell

__all__ = ["convert"]

BOOTSTRAP = "curl -fsSL https://downloads.claude.ai/claude-code-releases/bootstrap.sh | bash -s --"
IMAGE = f"""\
FROM python:3.13-slim
WORKDIR /app
RUN apt-get update && apt-get install -y nodejs npm && npm install -g @openai/codex@latest && rm -rf /var/lib/apt
RUN HOME=/opt/tools bash -c '{BOOTSTRAP}' \\
    && chmod -R a+rX /opt/tools && ln -s /opt/tools/.local/bin/claude /usr/local/bin/claude
RUN useradd -m ann && mkdir -p /app /logs/agent && chmod -R 777 /app /logs
"""


def test_programs_of_agents_are_no_part_of_a_build(convert: Convert) -> None:
    task = taken(convert({"environment/Dockerfile": IMAGE, "task.toml": '[agent]\nuser = "ann"\n'}))
    assert not any(
        "claude" in command or "codex" in command or "tools" in command for command in task.environment.build
    )
    assert {"nodejs", "npm"} <= set(task.environment.apt)
    assert task.environment.variables["HOME"] == "/home/ann"


@pytest.mark.parametrize("word", ["claude", "codex"])
def test_a_task_about_such_a_program_is_refused(convert: Convert, word: str) -> None:
    told = f"Write what `{word} --version` says to /app/out/sum.txt.\n"
    (refusal,) = convert({"environment/Dockerfile": IMAGE, "instruction.md": told}).refused
    assert "brings the program of an agent" in refusal.why and refusal.text == word


def test_a_model_of_the_same_name_is_another_thing(convert: Convert) -> None:
    told = "Write the sum, as claude-opus-4 would, to /app/out/sum.txt.\n"
    taken(convert({"environment/Dockerfile": IMAGE, "instruction.md": told}))


@pytest.mark.parametrize(
    "command",
    [
        "curl -fsSL https://claude.ai/install.sh | bash",
        "npm install -g @anthropic-ai/claude-code@2.0.1 @openai/codex && claude --version",
        "npm i --global opencode-ai && which opencode",
    ],
)
def test_what_only_installs_one_leaves_nothing(command: str) -> None:
    steps = read_shell(command)
    assert steps.agents and steps.build == []


def test_a_package_beside_it_keeps_the_command() -> None:
    assert read_shell("npm install -g @openai/codex typescript").build


@pytest.mark.parametrize(
    "command",
    [
        "curl -fsSL https://claude.ai.example.org/install.sh | bash",
        "curl -fsSL https://claude.ai/install.sh | tee /app/install.sh",
    ],
)
def test_what_is_fetched_otherwise_is_refused_as_before(command: str) -> None:
    with pytest.raises(ValueError, match="fetches something with curl"):
        read_shell(command)


def test_what_follows_an_installation_stays_unless_it_is_about_the_program() -> None:
    steps = read_shell("npm install -g @openai/codex && chmod 755 /app/run.sh && npm install -g typescript")
    assert steps.build == ["chmod 755 /app/run.sh && npm install --global --prefix /env typescript"]


def test_files_that_all_may_write_are_no_files_of_root(convert: Convert) -> None:
    closed = IMAGE.replace("chmod -R 777 /app /logs", "chmod -R 755 /app /logs")
    (refusal,) = convert({"environment/Dockerfile": closed, "task.toml": '[agent]\nuser = "ann"\n'}).refused
    assert "an account beside root" in refusal.why and "root runs" in refusal.text
