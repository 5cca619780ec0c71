"""A folder for an agent of one's own: its TOML file, a README, and where its models are, out of a command line.

Nothing is run or installed here; what is brought along is copied or named, never looked into.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from repoassay.agents.command import in_shell
from repoassay.agents.spec import AgentSpec, read_spec
from repoassay.errors import BadInput
from repoassay.model_proxy import VENDORS, known_upstreams
from repoassay.text import suggest

__all__ = ["NewAgent", "write_agent_folder"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SHELL = re.compile(r"[|&;<>$`*?~]")
_WORD = re.compile(r"(?<![${])\{([a-z_]+)\}")
_SAME = {"instruction": "prompt", "instruction_file": "prompt_file"}
_KNOWN = ("agent", "home", "instruction", "instruction_file", "key", "model", "prompt", "prompt_file", "repo",
          "transcript", "workspace", *(f"{name}_url" for name in VENDORS))  # fmt: skip
_PINNED = re.compile(r"^(?P<pip>[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?==\S+)$|^(?P<npm>@?[a-z0-9][\w./~-]*@\d\S*)$")
_SYSTEM = ("bash", "env", "node", "sh")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAgent:
    """What is known of an agent before it has a file.

    Attributes:
        command: Its command line, with placeholders as `--agent-command` has them, and those of agents' files.
        name: As reports show it.
        bring: What it is made of: a package with its version (`name==1.2`, `name@1.2`), a source folder with
            pyproject.toml or package.json, a wheel, a folder or file of programs; empty for what is in /usr already.
        dialect: What it speaks to its model; empty when it asks none.
        endpoint: Base URL of a server of models of one's own. `key_env`: the variable its key is in.
        tools: Whether it calls tools.
    """

    command: str
    name: str
    bring: str = ""
    dialect: str = "chat"
    endpoint: str = ""
    key_env: str = ""
    tools: bool = True


def write_agent_folder(place: Path, new: NewAgent) -> AgentSpec:
    """Write `agent.toml`, `README.md` and, where there is an endpoint, `models.toml`; returns the agent as read back.

    Args:
        place: A folder; files in it stay, but none of these may be there.
        new: The agent.

    Raises:
        BadInput: Something in it cannot be, or a file is there already.
    """
    if not _NAME.fullmatch(new.name):
        raise BadInput(
            f"{new.name!r} is no name for an agent.", "Use small letters, digits, dots, dashes, underscores."
        )
    install, kind = _install(place, new.bring)
    files = {"agent.toml": _agent(new, install, kind), "README.md": _readme(place, new)}
    if new.endpoint:
        files["models.toml"] = _models(new)
    for name in files:
        if (place / name).exists():
            raise BadInput(f"{place / name} is there already.", "Choose another folder, or remove it.")
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (place / name).write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{place} cannot be written: {error.strerror}.", "Choose another folder.") from error
    try:
        known_upstreams([place / "models.toml"] if new.endpoint else [])
        return read_spec(place / "agent.toml")
    except BadInput:  # what was asked for cannot be, and nothing is left of it
        for name in files:
            (place / name).unlink()
        with suppress(OSError):  # files of somebody's stay
            place.rmdir()
        raise


def _install(place: Path, bring: str) -> tuple[list[str], str]:
    """The lines of [install], and its kind."""
    if not bring:
        return ['kind = "none"'], "none"
    source = Path(bring)
    if not source.exists():
        found = _PINNED.fullmatch(bring)
        if found is None:
            raise BadInput(
                f"There is no file or folder {bring}, and it is no package with an exact version.",
                "Give a path, name==1.2 for a Python package, or name@1.2 for an npm one.",
            )
        kind = "pip" if found["pip"] else "npm"
        return [f'kind = "{kind}"', f"requirements = [{_text(bring)}]"], kind
    named = _from(place, source)
    if source.suffix == ".tgz" or (source / "package.json").is_file():
        return ['kind = "npm"', f"requirements = [{_text(named)}]"], "npm"
    if source.suffix in (".whl", ".gz") or any((source / name).is_file() for name in ("pyproject.toml", "setup.py")):
        return ['kind = "pip"', f"requirements = [{_text(named)}]"], "pip"
    return ['kind = "folder"', f"folder = {_text(named)}"], "folder"


def _from(place: Path, source: Path) -> str:
    """A path as the agent's file is to have it: from the file on, beginning with a dot."""
    whole, here = source.resolve(), place.resolve()
    up = 0
    while not whole.is_relative_to(here):
        here, up = here.parent, up + 1
    inner = whole.relative_to(here).as_posix()
    return "/".join([*([".."] * up or ["."]), *([] if inner == "." else [inner])])


def _agent(new: NewAgent, install: list[str], kind: str) -> str:
    lines = ["schema = 1", f"name = {_text(new.name)}"]
    if new.dialect:
        if new.dialect not in VENDORS:
            raise BadInput(f"There is no dialect {new.dialect!r}.", suggest(new.dialect, VENDORS))
        lines.append(f"dialect = {_text(new.dialect)}")
    if not new.tools:
        lines.append("tools = false")
    argv, prompt = _argv(new.command, kind)
    lines += ["", "[install]", *install, "", "[run]", f"command = [{', '.join(map(_text, argv))}]"]
    lines += [f"prompt = {_text(prompt)}", 'cwd = "workspace"']
    if new.dialect:
        env = VENDORS[new.dialect].client_env(f"{{{new.dialect}_url}}", "{key}")
        lines += ["", "[run.env]", *(f"{name} = {_text(value)}" for name, value in env.items())]
        lines.append('REPOASSAY_MODEL = "{model}"')
    return "\n".join([*lines, "", "[transcript]", 'parser = "none"', ""])


def _argv(line: str, kind: str) -> tuple[list[str], str]:
    """The arguments of a command line, and how the prompt comes; a line for the shell gets the prompt apart.

    Raises:
        BadInput: It is empty, has an open quote or an unknown placeholder.
    """
    for name in _WORD.findall(line):
        if name not in _KNOWN:
            raise BadInput(f"The command line has the unknown placeholder {{{name}}}.", suggest(name, _KNOWN))
    if "{agent}" in line and kind == "none":
        raise BadInput("The command line uses {agent}, but nothing is brought along.", "Say what with --bring.")
    line = line.replace("{agent}", "/agent")
    for name, same in _SAME.items():
        line = line.replace(f"{{{name}}}", f"{{{same}}}")
    prompt = "arg" if "{prompt}" in line else "file" if "{prompt_file}" in line else "stdin"
    if _SHELL.search(line):
        read = re.sub(r"\{prompt\}", lambda place: in_shell(line, place, '"$1"'), line)
        return ["/bin/sh", "-c", read, "agent", *(["{prompt}"] * (prompt == "arg"))], prompt
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise BadInput(f"The command line cannot be split: {error}.", "Close its quotes.") from error
    if not argv:
        raise BadInput("The command line is empty.", "Give one with --command.")
    return [_program(argv[0], kind), *argv[1:]], prompt


def _program(word: str, kind: str) -> str:
    """Where a program of that name is once it is installed."""
    if "/" in word or kind not in ("pip", "npm") or word in _SYSTEM:
        return word
    if kind == "npm":
        return f"/agent/node_modules/.bin/{word}"
    return "/agent/bin/python" if re.fullmatch(r"python3?(\.\d+)?", word) else f"/agent/bin/{word}"


def _models(new: NewAgent) -> str:
    lines = [f"[upstream.{new.name.replace('.', '-')}]", f"base_url = {_text(new.endpoint)}"]
    if new.dialect:
        lines.append(f"dialects = [{_text(new.dialect)}]")
    return "\n".join([*lines, *([f"key_env = {_text(new.key_env)}"] if new.key_env else []), ""])


def _readme(place: Path, new: NewAgent) -> str:
    models = f" --model {new.name.replace('.', '-')}/MODEL --model-upstream {place}/models.toml" if new.endpoint else (
        " --model PROVIDER/MODEL" if new.dialect else ""
    )  # fmt: skip
    return (
        f"# {new.name}\n\nAn agent for RepoAssay: `agent.toml` says how it is installed and started.\n\n"
        f"    repoassay agents check ./{place.name}      # two small tasks, no money\n"
        f"    repoassay run SUITE --agent ./{place.name}{models}\n\n"
        "What the file may say is in docs/real-agents.md, what the sandbox shows in docs/agents.md.\n"
    )


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are among TOML's."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
