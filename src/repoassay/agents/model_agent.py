"""Agents that ask a model, out of their TOML files: install, command, and what they recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repoassay.agents.install import obtain
from repoassay.agents.prompting import render_prompt
from repoassay.agents.protocol import AccessPoint, Agent, AgentKind, in_workspace
from repoassay.agents.spec import AgentSpec
from repoassay.agents.transcripts import read_transcript
from repoassay.errors import BadInput
from repoassay.records import to_json
from repoassay.sandbox import Cache, Command, Completed, ExportSpec, Mount, Sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit, Limits, Trajectory
from repoassay.workspace import Installed, PreparedTask

__all__ = ["HOME", "TRANSCRIPT", "ModelledAgent", "needs_network"]

HOME = "/home/agent"
TRANSCRIPT = "/transcript"
_PROMPT = "/run/prompt.md"
_ACP = "/run/acp_client.py"
_KEPT_BYTES = 64 * 2**20
_KEPT_FILES = 2000
_PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")


class ModelledAgent:
    """An agent from a TOML file. See `repoassay.agents.protocol.AsksModel` for how a run uses it.

    Args:
        spec: What its file says.
        template: A prompt template instead of ours.
    """

    kind = AgentKind(options=("folder_sha256", "sha256", "template", "template_sha256", "version"))

    def __init__(self, spec: AgentSpec, template: Path | None = None) -> None:
        self.spec = spec
        self.name = spec.name
        self.dialect: str = spec.dialect
        self.template = template
        self._installed: Installed | None = None

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Always."""
        return True

    def prepare(self, cache: Cache, sandbox: Sandbox) -> None:
        """See `AsksModel.prepare`."""
        self._installed = obtain(self.spec, cache, sandbox)

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """Refuses: what it records needs a place.

        Raises:
            BadInput: Always.
        """
        raise BadInput(f"The agent {self.name} needs an attempt's folder.", "Run it with `repoassay run`.")

    def at(self, access: AccessPoint, into: Path) -> ConfiguredAgent:
        """See `AsksModel.at`."""
        if self._installed is None:
            raise BadInput(f"The agent {self.name} is not installed.", f"Run: repoassay agents install {self.name}")
        return ConfiguredAgent(self, self._installed, access, into)


def needs_network(agent: Agent) -> bool:
    """Whether an agent's file says that it cannot work without the network."""
    return isinstance(agent, ModelledAgent) and "network" in agent.spec.install.needs


class ConfiguredAgent:
    """An agent with the access point of one attempt; made by `ModelledAgent.at`."""

    def __init__(self, agent: ModelledAgent, installed: Installed, access: AccessPoint, into: Path) -> None:
        self.name = agent.name
        self._agent, self._installed, self._access, self._into = agent, installed, access, into

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Always."""
        return True

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command for one task; the prompt is kept in `prompt.md` beside the transcript."""
        run = self._agent.spec.run
        prompt = render_prompt(layout.folder, self._agent.template, layout.repository)
        self._into.mkdir(parents=True, exist_ok=True)
        (self._into / "prompt.md").write_text(prompt, "utf-8")
        values = self._values(prompt, layout)
        edits: dict[str, FileEdit | None] = {
            _fill(item.path, values): FileEdit(_fill(item.content, values).lstrip("\n").encode(), item.executable)
            for item in run.file
        }
        edits[_PROMPT] = FileEdit(prompt.encode())
        argv = tuple(self._argv(values))
        if run.protocol:
            edits[_ACP] = FileEdit((Path(__file__).with_name("scripts") / "acp_client.py").read_bytes())
            argv = ("/env/bin/python", "-I", "-B", _ACP, f"{TRANSCRIPT}/acp.jsonl", *argv)
        installed = self._installed
        target = f"/agent/{installed.tree.name}" if installed.tree.is_file() else "/agent"
        mounts = (Mount(installed.tree, target), *installed.mounts) if self._agent.spec.install.kind != "none" else ()
        command = in_workspace(
            layout,
            _with_headroom(limits, run.memory, run.disk, run.processes),
            argv,
            env=self._env(layout, values),
            stdin=prompt.encode() if run.protocol or run.prompt == "stdin" else b"",
            mounts=mounts,
            edits=edits,
        )
        return replace(
            command,
            cwd=values["repo"] if run.cwd == "repo" else values["workspace"],
            scratch=(*command.scratch, TRANSCRIPT, *self._own_folders(values), *run.scratch),
            doors=self._access.doors,
            collect=self._collect(values),
        )

    def read(self, done: Completed) -> Trajectory:
        """See `PlacedAgent.read`. What the agent printed is kept as `stdout.txt` and `stderr.txt`."""
        spec = self._agent.spec
        kept = self._into / "transcript"
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "stdout.txt").write_bytes(done.stdout)
        (kept / "stderr.txt").write_bytes(done.stderr)
        trajectory = read_transcript(spec.transcript.parser, kept, agent=spec.name, model=self._access.model)
        if not trajectory.version:
            trajectory = trajectory.model_copy(update={"version": spec.version})
        (self._into / "trajectory.json").write_bytes(to_json(trajectory, exclude_defaults=True))
        return trajectory

    def _values(self, prompt: str, layout: PreparedTask) -> dict[str, str]:
        access = self._access
        return {
            "prompt": prompt,
            "prompt_file": _PROMPT,
            "model": access.model,
            "key": access.key,
            "repo": layout.repository,
            "workspace": layout.work,
            "home": HOME,
            "transcript": TRANSCRIPT,
            **{f"{dialect}_url": url for dialect, url in access.urls.items()},
        }

    def _argv(self, values: Mapping[str, str]) -> list[str]:
        run, argv = self._agent.spec.run, []
        for part in run.command:
            if part != "{calls_args}":
                argv.append(_fill(part, values))
            elif self._access.calls is not None:
                argv += [_fill(item, {**values, "max_calls": str(self._access.calls)}) for item in run.calls_args]
        return argv

    def _env(self, layout: PreparedTask, values: Mapping[str, str]) -> dict[str, str]:
        """The agent's own settings win over the network policy's, and both over the layout's."""
        path = ":".join([layout.env["PATH"], *self._installed.path])
        own = {name: _fill(text, values) for name, text in self._agent.spec.run.env.items()}
        return {**self._access.env, "HOME": HOME, "PATH": path, "XDG_CONFIG_HOME": f"{HOME}/.config", **own}

    def _collect(self, values: Mapping[str, str]) -> tuple[ExportSpec, ...]:
        """Each folder below a name of its own, so that nothing an agent writes meets what another folder has."""
        folders = {TRANSCRIPT: "files", **{path: PurePosixPath(path).name for path in self._kept_paths(values)}}
        return tuple(
            ExportSpec(path, self._into / "transcript" / name, max_bytes=_KEPT_BYTES, max_files=_KEPT_FILES)
            for path, name in folders.items()
        )

    def _own_folders(self, values: Mapping[str, str]) -> list[str]:
        """Folders that are kept or have files of ours, and those on the way there: all must belong to the agent."""
        files = (PurePosixPath(_fill(item.path, values)).parent for item in self._agent.spec.run.file)
        folders = [*map(PurePosixPath, self._kept_paths(values)), *files]
        every = {way for folder in folders for way in (folder, *folder.parents)}
        tops = (PurePosixPath(HOME), PurePosixPath(TRANSCRIPT))
        return sorted(str(way) for way in every if any(top in way.parents for top in tops))

    def _kept_paths(self, values: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(_fill(path, values) for path in self._agent.spec.transcript.keep)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _with_headroom(limits: Limits, memory: int, disk: int, processes: int) -> Limits:
    """What the task allows, and what the agent's own programs take beside the work."""
    return limits.model_copy(
        update={
            "memory": limits.memory + memory,
            "disk": limits.disk + disk,
            "processes": min(4096, limits.processes + processes),
        }
    )
