"""An agent as data: what a TOML file says about installing it, running it, and finding what it recorded.

::

    schema = 1
    name = "my-agent"
    dialect = "chat"                       # what it speaks to the model proxy: chat, responses, messages, gemini
    install = { kind = "pip", requirements = ["my-agent==1.2"] }

    [run]
    command = ["/agent/bin/my-agent", "--model", "{model}", "--base-url", "{chat_url}", "--task", "{prompt}"]
    env = { MY_AGENT_KEY = "{key}" }

    [transcript]
    parser = "none"

Placeholders in command, environment and files: `{prompt}`, `{prompt_file}`, `{model}`, `{chat_url}`,
`{responses_url}`, `{messages_url}`, `{gemini_url}`, `{key}`, `{repo}`, `{workspace}`, `{home}`, `{transcript}`, and,
in `run.calls_args` alone, `{max_calls}`. Other braces stay as they are.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from repoassay import plugins
from repoassay.errors import BadInput
from repoassay.model_proxy import VENDORS
from repoassay.types import Identifier, Record, Size

__all__ = ["AgentSpec", "File", "Install", "Start", "Transcript", "builtin_specs", "read_spec"]

_LARGEST = 1 << 20
_PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")
_NAMES = {
    "prompt", "prompt_file", "model", "key", "repo", "workspace", "home", "transcript",
    *(f"{name}_url" for name in VENDORS),
}  # fmt: skip
_PIP = re.compile(r"^file:///\S+$|^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?(==[A-Za-z0-9.!+_-]+| @ \S+)$")
_NPM = re.compile(r"^(@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*@(\d[A-Za-z0-9.+-]*|file:\S+)$")
_NEED = re.compile(r"^(docker|git|network|(?:python|node)>=\d+(?:\.\d+)?)$")


def _need(value: str) -> str:
    if _NEED.match(value) is None:
        raise ValueError(f"has {value!r}; write docker, git, network, python>=3.12 or node>=20")
    return value


def _parser(value: str) -> str:
    """`none`, or the name of a bundled transcript reader or a plug-in's."""
    if value != "none" and not plugins.offers("repoassay.readers", value):
        readers = [*plugins.bundled_plugins("repoassay.readers"), *plugins.installed_plugins("repoassay.readers")]
        raise ValueError(f"is {value!r}; write none, or a transcript reader: {', '.join(readers)}")
    return value


def _inner(value: str) -> str:
    if not value.startswith(("{home}/", "{transcript}/")) or ".." in value.split("/"):
        raise ValueError("must begin with {home}/ or {transcript}/ and stay inside")
    return value


def _at_home(value: str) -> str:
    if not value.startswith("{home}/") or ".." in value.split("/"):
        raise ValueError("must begin with {home}/ and stay inside")
    return value


def _dialect(value: str) -> str:
    if value and value not in VENDORS:
        raise ValueError(f"is {value!r}; the model proxy speaks {', '.join(VENDORS)}")
    return value


class Install(Record):
    """How the agent comes onto the host: once, into the cache, mounted read-only at /agent.

    Attributes:
        kind: pip (a Python environment of its own, by uv), npm, folder (a folder or file of this machine as it is,
            mounted read-only at or below /agent), or none for what is there already.
        requirements: Packages with exact versions: `name==1.2` or `name @ URL` for pip, `name@1.2` for npm. A package's
            file or source folder is `./NAME`, from the agent's file on.
        folder: For kind folder: where it is, from the agent's file on.
        python: Lower and upper bound of its Python, such as `>=3.12,<3.13`.
        needs: What else it must have: `docker`, `git`, `node>=20` on the machine, `network` at work.
        scripts: Whether npm may run the packages' own install scripts, which few need.
        unpublished: Why the packages cannot be had from a registry, for agents to be installed by hand.
        megabytes: About how much it is when installed.
    """

    kind: Literal["pip", "npm", "folder", "none"] = "none"
    requirements: tuple[str, ...] = ()
    folder: str = ""
    python: Annotated[str, Field(pattern=r"^>=\d+\.\d+(,<\d+\.\d+)?$")] = ">=3.11"
    needs: tuple[Annotated[str, AfterValidator(_need)], ...] = ()
    scripts: bool = False
    unpublished: str = ""
    megabytes: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _exact(self) -> Self:
        if (self.kind in ("pip", "npm")) != bool(self.requirements):
            raise ValueError("has requirements exactly when kind is pip or npm")
        if (self.kind == "folder") != bool(self.folder):
            raise ValueError("has a folder exactly when kind is folder")
        pattern = _PIP if self.kind == "pip" else _NPM
        for requirement in self.requirements:
            if pattern.match(requirement) is None:
                example = "name==1.2.3" if self.kind == "pip" else "name@1.2.3"
                raise ValueError(f"has the requirement {requirement!r}; give an exact version, such as {example}")
        return self


class File(Record):
    """A file written before the agent starts: its path below {home} or {transcript}, content, and x bit."""

    path: Annotated[str, AfterValidator(_inner)]
    content: Annotated[str, Field(max_length=_LARGEST)]
    executable: bool = False


class Start(Record):
    """How the agent is started, standing in the task's repository.

    Attributes:
        command: The arguments; `{calls_args}` as a whole argument stands for `calls_args`.
        calls_args: Arguments with `{max_calls}`, left out when calls are not limited.
        protocol: `acp` for an agent that speaks the Agent Client Protocol over its standard input and output: our
            client starts it, sends the prompt, and keeps what both say. Empty for one that is told all at once.
        prompt: How the prompt comes: `arg` and `file` through placeholders of the command, or `stdin`.
        cwd: Where it stands.
        scratch: Folders outside its home that it writes to, below /root, /opt or /srv; empty and thrown away.
        memory, disk: Bytes the agent itself needs beyond what the task allows. `processes`: the same, in number.
        exits: What its exit codes mean, for people.
    """

    command: Annotated[tuple[str, ...], Field(min_length=1)]
    calls_args: tuple[str, ...] = ()
    protocol: Literal["", "acp"] = ""
    prompt: Literal["arg", "stdin", "file"] = "arg"
    cwd: Literal["repo", "workspace"] = "repo"
    env: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(default_factory=dict)
    file: tuple[File, ...] = ()
    scratch: Annotated[tuple[Annotated[str, Field(pattern=r"^/(root|opt|srv)(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$")], ...],
                       Field(max_length=8)] = ()  # fmt: skip
    memory: Size = 2**30
    disk: Size = 512 * 2**20
    processes: int = Field(default=64, ge=0, le=2048)
    exits: dict[Annotated[str, Field(pattern=r"^\d{1,3}$")], str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _placeholders(self) -> Self:
        texts = [*self.command, *self.env.values(), *(part for item in self.file for part in (item.path, item.content))]
        for text in texts:
            self._check(text, _NAMES | {"calls_args"} if text == "{calls_args}" else _NAMES)
        for text in self.calls_args:
            self._check(text, _NAMES | {"max_calls"})
        placeholder = "{prompt}" if self.prompt == "arg" else "{prompt_file}"
        if not self.protocol and self.prompt != "stdin" and not any(placeholder in part for part in self.command):
            raise ValueError(f"passes the prompt by {self.prompt}, but its command lacks {placeholder}")
        return self

    @staticmethod
    def _check(text: str, known: set[str]) -> None:
        for name in _PLACEHOLDER.findall(text):
            if name not in known:
                raise ValueError(f"has the unknown placeholder {{{name}}}; known are {', '.join(sorted(known))}")


class Transcript(Record):
    """What the agent records: all of `{transcript}` is kept, with what it printed, and `parser` reads it.

    `keep` names folders that are kept beside it, below {home}; they are made before the agent starts.
    """

    parser: Annotated[str, AfterValidator(_parser)] = "none"
    keep: Annotated[tuple[Annotated[str, AfterValidator(_at_home)], ...], Field(max_length=8)] = ()


class AgentSpec(Record):
    """One agent.

    Attributes:
        dialect: What it speaks to the model proxy; empty for an agent that asks no model.
        tools: Whether it calls tools; the scripted dialogue of `agents check` differs for one that does not.
        status: How far it was tried: `verified` end to end, or what is missing.
        notes: What a user must know.
    """

    schema_: Literal[1] = Field(alias="schema")
    name: Identifier
    title: str = ""
    version: str = ""
    homepage: str = ""
    licence: str = ""
    dialect: Annotated[str, AfterValidator(_dialect)] = ""
    tools: bool = True
    status: str = ""
    notes: tuple[str, ...] = ()
    install: Install = Install()
    run: Start
    transcript: Transcript = Transcript()

    @model_validator(mode="after")
    def _spoken(self) -> Self:
        texts = [*self.run.command, *self.run.env.values(), *(item.content for item in self.run.file)]
        used = {name for text in texts for name in _PLACEHOLDER.findall(text)}
        if not self.dialect and (asks := used & {"model", "key", *(f"{name}_url" for name in VENDORS)}):
            raise ValueError(f"uses {{{min(asks)}}}, but names no dialect; say which of {', '.join(VENDORS)} it speaks")
        return self

    @property
    def digest(self) -> str:
        """Identity of everything that changes what it does."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()


def read_spec(path: Path) -> AgentSpec:
    """Read an agent's file.

    Raises:
        BadInput: It is missing, too large, no TOML, or says something an agent's file cannot say.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"The agent file {path} is larger than {_LARGEST} bytes.")
        return AgentSpec.model_validate(_placed(tomllib.loads(path.read_text("utf-8")), path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = "is not a key an agent's file has"
        raise BadInput(f"The agent file {path} is wrong at {place}: {what}.", "See docs/real-agents.md.") from error
    except FileNotFoundError as error:
        raise BadInput(f"There is no agent file {path}.", "Write one with `repoassay agents new`.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"The agent file {path} cannot be read: {error}.", "See docs/real-agents.md.") from error


def _placed(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """What a file says, with paths that begin with a dot as whole ones: they are meant from the file on."""
    install = data.get("install")
    if not isinstance(install, dict):
        return data
    here = path.absolute().parent
    npm = install.get("kind") == "npm"
    listed = install.get("requirements")
    if isinstance(listed, list):
        named = [item if not isinstance(item, str) or not item.startswith(".") else _file_url(here / item, npm=npm)
                 for item in listed]  # fmt: skip
        install = {**install, "requirements": named}
    if isinstance(folder := install.get("folder"), str) and folder:
        install = {**install, "folder": str((here / folder).resolve())}
    return {**data, "install": install}


def _file_url(place: Path, *, npm: bool) -> str:
    """A package's file or source folder as pip or npm name it."""
    whole = place.resolve()
    return f"{re.sub(r'[^a-z0-9._~-]', '-', whole.name.lower())}@file:{whole}" if npm else f"file://{whole}"


def builtin_specs() -> dict[str, Path]:
    """Name and file of every agent that comes with the package."""
    folder = Path(str(files("repoassay.agents"))) / "builtin"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}
