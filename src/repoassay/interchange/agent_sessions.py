"""Sessions that agents keep of themselves, wherever they lie below a folder: each one an attempt.

A session knows no task. The first folder below the one imported names it, where sessions lie in folders of their own;
else the session's file does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from repoassay.agents import mapping
from repoassay.interchange.agent_files import json_object, plain_files, steps_of, text_lines, trajectory_from
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.types import OwnFigures, Usage

__all__ = ["AiderChats", "ClaudeCodeSessions", "CodexSessions", "GeminiCliSessions", "TraeTrajectories"]

_HEAD = 1 << 16
_LOOKED_AT = 40
_PRINTED = (".json", ".log", ".ndjson", ".out", ".txt")
_DEEPEST = 8
"""How many sessions may have begun one another."""


class _Sessions:
    """What they share. A kind of session says which files are one, and where its reader looks for them."""

    gives = "run"
    lost: tuple[str, ...] = ("What came of it, and what was handed in: a session has neither.",)
    _agent, _suffix, _marks = "", ".jsonl", tuple[bytes, ...]()
    _own_folders: tuple[str, ...] = ()
    """Folders that the agent makes itself, which name no task."""

    def recognizes(self, source: Path) -> bool:
        """Whether the file, or one of the first below the folder, is such a session."""
        try:
            return any(self._is_session(path) for path, _ in zip(self._paths(source), range(_LOOKED_AT), strict=False))
        except Exception:  # noqa: BLE001 - an odd file is somebody else's
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a session."""
        for path in self._paths(source):
            if self._is_session(path):
                yield self._attempt(path, self._task(path, source), self._files(path))

    def _attempt(self, path: Path, task: str, files: Mapping[str, Path]) -> ForeignAttempt:
        trajectory = trajectory_from(self._agent, files, agent=self._agent)
        started, ended = steps_of(trajectory)
        return ForeignAttempt(
            task=task,
            agent=f"{self._agent} @ {trajectory.model}" if trajectory.model else self._agent,
            model=trajectory.model,
            trajectory=trajectory,
            started=started,
            ended=ended,
            files=files,
            problems=trajectory.problems,
        )

    def _paths(self, source: Path) -> Iterator[Path]:
        return plain_files(source, self._suffix)

    def _is_session(self, path: Path) -> bool:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        return all(mark in head for mark in self._marks)

    def _files(self, path: Path) -> Mapping[str, Path]:
        return {f"files/{path.name}": path}

    def _task(self, path: Path, source: Path) -> str:
        folders = path.relative_to(source).parts[:-1] if source.is_dir() else ()
        named = next((name for name in folders if name not in self._own_folders and not name.startswith(".")), "")
        return named or self._stem(path)

    def _stem(self, path: Path) -> str:
        return path.stem


class ClaudeCodeSessions(_Sessions):
    """`projects/PROJECT/SESSION.jsonl`, with the sessions of its subagents; and what `claude -p` printed."""

    title = "sessions of Claude Code (.claude/projects), and what `claude -p --output-format stream-json` printed"
    version = "Claude Code 1 and 2"
    lost = (*_Sessions.lost, "Dollars of a session: only what was printed tells them.")
    _agent, _marks = "claude-code", (b'"sessionId"', b'"type"', b'"message"')
    _own_folders = ("projects",)

    def _paths(self, source: Path) -> Iterator[Path]:
        yield from plain_files(source, ".jsonl")
        yield from (path for path in plain_files(source, "") if path.suffix in _PRINTED)

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a session, kept or printed; what was printed of one that was kept belongs to it."""
        paths = [path for path in self._paths(source) if self._is_session(path)]
        named = {path: _claude_session(path) for path in paths}
        kept = {name: path for path, (name, printed) in named.items() if not printed}
        joined = {kept[name] for name, printed in named.values() if printed and name in kept}
        for path, (name, printed) in named.items():
            if printed and name in kept:
                first = kept.pop(name)  # a second print of it is an attempt of its own
                yield self._attempt(path, self._task(first, source), {**self._files(first), "stdout.txt": path})
            elif printed:
                yield self._attempt(path, super()._task(path, source), {"stdout.txt": path})
            elif path not in joined:
                yield self._attempt(path, self._task(path, source), self._files(path))

    def _is_session(self, path: Path) -> bool:
        if path.name.startswith("agent-") or "subagents" in path.parts:
            return False
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        if path.suffix == ".jsonl" and all(mark in head for mark in self._marks):
            return b'"content"' in head  # Qwen Code has the same keys, but messages of `parts`
        return b'"session_id"' in head and b'"type"' in head and bool(_claude_session(path)[0])

    def _files(self, path: Path) -> Mapping[str, Path]:
        below = path.with_suffix("") / "subagents"
        helpers = list(plain_files(below, ".jsonl")) if below.is_dir() and not below.is_symlink() else []
        return {f"projects/session/{number}-{one.name}": one for number, one in enumerate([path, *helpers])}

    def _task(self, path: Path, source: Path) -> str:
        inside = path.relative_to(source).parts if source.is_dir() else ()
        # The folder of a project is the agent's own name for where it worked.
        before = inside[: inside.index("projects")] if "projects" in inside else inside[:-2]
        return next((name for name in before if not name.startswith(".")), "") or self._stem(path)


def _claude_session(path: Path) -> tuple[str, bool]:
    """The id of a session of Claude Code, and whether the file is what it printed; empty where it is neither.

    Cursor and others print lines of the same types, but no usage with what the model said.
    """
    name, used = "", False
    for line, _ in zip(text_lines(path), range(_LOOKED_AT), strict=False):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict):
            continue
        if kept := entry.get("sessionId"):
            return str(kept), False
        if entry.get("type") in ("system", "assistant", "user", "result"):
            name = name or str(entry.get("session_id") or "")
            used = used or bool(mapping(entry, "message", "usage")) or "total_cost_usd" in entry
    return (name, True) if name and used else ("", False)


class CodexSessions(_Sessions):
    """`sessions/YEAR/MONTH/DAY/rollout-*.jsonl`, those of subagents with them, and what `codex exec` printed."""

    title = "sessions of Codex (rollout-*.jsonl), and logs of codex exec"
    version = "Codex 0.4x to 0.16x"
    lost = (
        *_Sessions.lost,
        "Dollars: it tells none. Of a log: tokens but their sum, and where an output has a line that begins a part.",
    )
    _agent = "codex"

    def _paths(self, source: Path) -> Iterator[Path]:
        return plain_files(source, "")

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a session that no other one began."""
        sessions = {path: _identity(path) for path in self._paths(source) if self._is_session(path)}
        known = {name: path for path, (name, _) in sessions.items() if name}
        helpers: dict[Path, list[Path]] = {}
        for path in sessions:
            first = path
            for _ in range(_DEEPEST):
                first = known.get(sessions[first][1], first)
            helpers.setdefault(first, []).append(path)
        for path, group in helpers.items():
            files = self._files(path) | {f"sessions/subagents/{_rollout(one)}": one for one in group if one != path}
            yield self._attempt(path, self._task(path, source), files)

    def _is_session(self, path: Path) -> bool:
        if path.name.startswith("rollout-") and path.suffix == ".jsonl":
            return True
        with path.open("rb") as stream:
            head = stream.read(4096).lstrip()
        is_rollout = path.suffix == ".jsonl" and b'"session_meta"' in head
        return is_rollout or head.startswith(b"OpenAI Codex v")

    def _files(self, path: Path) -> dict[str, Path]:
        return {f"sessions/{_rollout(path)}" if path.suffix == ".jsonl" else "files/log.txt": path}

    def _task(self, path: Path, source: Path) -> str:
        inside = PurePath(*path.relative_to(source).parts) if source.is_dir() else PurePath()
        names = [name for name in inside.parts[:-1] if name != "sessions" and not name.isdigit() and name[0] != "."]
        return names[0] if names else self._stem(path)


def _rollout(path: Path) -> str:
    """The name of a rollout as its reader looks for it, whatever it was called."""
    return path.name if path.name.startswith("rollout-") else f"rollout-{path.name}"


def _identity(path: Path) -> tuple[str, str]:
    """A rollout's own id, and the id of the session that began it as a subagent; each empty where it tells none."""
    try:
        line = json.loads(next(text_lines(path), "")) if path.suffix == ".jsonl" else {}
    except (ValueError, RecursionError):
        line = {}
    about = mapping(line, "payload")
    begun = about.get("parent_thread_id") or mapping(about, "source", "subagent", "thread_spawn").get(
        "parent_thread_id"
    )
    return str(about.get("id") or ""), str(begun or "")


class GeminiCliSessions(_Sessions):
    """`tmp/PROJECT/chats/session-*`."""

    title = "chats of Gemini CLI (session-*.jsonl, session-*.json)"
    version = "Gemini CLI 0.x"
    lost = (*_Sessions.lost, "Dollars: it tells none.")
    _agent, _marks = "gemini-cli", (b'"sessionId"', b'"projectHash"')

    def _paths(self, source: Path) -> Iterator[Path]:
        others = []
        for path in plain_files(source, ""):
            if path.suffix in (".json", ".jsonl"):
                if path.name.startswith("session-"):
                    yield path
                else:
                    others.append(path)
        yield from others  # called otherwise where somebody copied them

    def _files(self, path: Path) -> Mapping[str, Path]:
        name = path.name if path.name.startswith("session-") else f"session-{path.name}"
        return {f"tmp/project/chats/{name}": path}

    def _task(self, path: Path, source: Path) -> str:
        inside = path.relative_to(source).parts if source.is_dir() else ()
        before = inside[: inside.index("tmp")] if "tmp" in inside else inside[:-2]
        return next((name for name in before if not name.startswith(".")), "") or self._stem(path)


class TraeTrajectories(_Sessions):
    """A JSON file each."""

    title = "trajectories of Trae Agent, a JSON file each"
    version = "Trae Agent 0.1"
    lost = (*_Sessions.lost, "Dollars: it tells none.", "What Lakeview said of steps.")
    _agent, _suffix, _marks = "trae-agent", ".json", (b'"task"', b'"start_time"', b'"max_steps"')

    def _is_session(self, path: Path) -> bool:
        return super()._is_session(path) and "agent_steps" in json_object(path)

    def _stem(self, path: Path) -> str:
        return path.parent.name if path.stem == "trajectory" else path.stem


class AiderChats(_Sessions):
    """`.aider.chat.history.md`; where Aider's benchmark ran, with `.aider.results.json` beside it."""

    title = "chat histories of Aider, and exercises of its benchmark"
    version = "Aider 0.5x to 0.8x"
    lost = (
        "What was handed in: a chat has its edits alone.",
        "What commands printed: the chat tells that they ran.",
        "Tokens to the digit: the chat rounds them.",
    )  # fmt: skip
    _agent, _suffix, _marks = "aider", ".aider.chat.history.md", (b"# aider chat started at",)

    def _files(self, path: Path) -> Mapping[str, Path]:
        return {"files/chat.md": path}

    def _stem(self, path: Path) -> str:
        return path.resolve().parent.name or "chat"

    def _attempt(self, path: Path, task: str, files: Mapping[str, Path]) -> ForeignAttempt:
        found = super()._attempt(path, task, files)
        results = json_object(path.with_name(".aider.results.json"))
        outcomes = results.get("tests_outcomes")
        if found.trajectory is None or not isinstance(outcomes, list):
            return found
        task = str(results.get("testcase") or task)
        model = str(results.get("model") or found.model)
        passed = bool(outcomes) and outcomes[-1] is True
        tries = (f"It passed at try {len(outcomes)}." if passed else f"It failed in {len(outcomes)} tries.",)
        own = _counted(results, found.trajectory.own)
        return replace(
            found, task=task, model=model, agent=f"{self._agent} @ {model}" if model else self._agent,
            trajectory=found.trajectory.model_copy(update={"own": own, "model": model}),
            reported=ReportedResult(passed, "Aider's benchmark", comments=tries),
        )  # fmt: skip


def _counted(results: dict[str, Any], own: OwnFigures) -> OwnFigures:
    """The figures of a result file, which are exact, before those of the chat."""
    sent, received = results.get("prompt_tokens"), results.get("completion_tokens")
    if not isinstance(sent, int) or not isinstance(received, int) or min(sent, received) < 0:
        return own
    return own.model_copy(update={"usage": Usage(input=sent, output=received), "note": ""})
