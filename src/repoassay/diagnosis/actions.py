"""Typed actions out of a trajectory: what each call did, whatever the agent's tools are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from repoassay.diagnosis import purpose
from repoassay.diagnosis.embedded_code import embedded_calls
from repoassay.diagnosis.evidence import Evidence, Where, call_text, quotation
from repoassay.diagnosis.patches import Authored, from_patch
from repoassay.diagnosis.program_calls import program_calls
from repoassay.diagnosis.purpose import CommandKind
from repoassay.diagnosis.shell import Simple, parse
from repoassay.diagnosis.tool_kinds import NEW_TEXT, OLD_TEXT, PATHS, ToolKind, first_text, tool_name_key, tool_of
from repoassay.types import Source, StepCall, Trajectory, TrajectoryStep

__all__ = ["Action", "ActionLine", "action_of", "actions_of", "shell_command_of"]

_MOST = 5000
_HEAD, _TAIL = 4_000, 12_000
_LINE = 500
_AUTHORED = 60_000
_BUDGET = 4_000_000


@dataclass(frozen=True, slots=True)
class ActionLine:
    """A line of an observation, cut to a bound, and where it begins in the whole text."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the agent did, with what came back.

    Attributes:
        step: The step's index. `number`: which call of it. `where`: the text that says it.
        kind: What it was for; of several commands the weightiest.
        commands: The simple commands, each with its kind.
        authored: Texts it put into files.
        paths: Files it names for reading.
        query: What was fetched or searched on the network.
        text: Its arguments as text (`call_text`), or the message.
        output: What came back, bounded, with `observation` the number of the observation in step `answer`.
        answered: Whether anything came back at all.
        failed: Whether the tool said that it failed.
    """

    step: int
    number: int
    kind: CommandKind
    where: Where = "call"
    commands: tuple[tuple[CommandKind, Simple], ...] = ()
    authored: tuple[Authored, ...] = ()
    paths: tuple[str, ...] = ()
    query: str = ""
    text: str = ""
    lines: tuple[ActionLine, ...] = ()
    answer: int = 0
    observation: int = 0
    answer_where: Where = "observation"
    answered: bool = False
    failed: bool = False

    def at(self, quote: str) -> Evidence:
        """Evidence in what it says: the quote where it stands there, the beginning where it does not."""
        start = max(0, self.text.find(quote)) if quote else 0
        size = len(quote) if quote and quote in self.text else 200
        return quotation(self.step, self.where, self.number, self.text, start, start + size)

    def seen(self, line: ActionLine, start: int = 0, end: int | None = None) -> Evidence:
        """Evidence in what came back."""
        text = line.text[start:end]
        return Evidence(
            step=self.answer,
            where=self.answer_where,
            number=self.observation,
            start=line.start + start,
            end=line.start + start + len(text),
            quote=text[:200],
        )

    @property
    def output(self) -> str:
        """What came back, as one text."""
        return "\n".join(line.text for line in self.lines)


def actions_of(trajectory: Trajectory) -> tuple[Action, ...]:
    """The actions of a trajectory in order; at most 5000, and long outputs are known by their beginning and end."""
    found: list[Action] = []
    budget = [_BUDGET]
    pending = -1
    for step in trajectory.steps:
        if len(found) >= _MOST:
            break
        if step.source is Source.AGENT:
            pending = _agent(step, found, budget)
        elif pending >= 0 and step.source in {Source.TOOL, Source.USER}:
            _answer(step, found, pending, budget)
            pending = pending if step.source is Source.TOOL else -1
        elif step.source is Source.TOOL and found:
            _answer(step, found, len(found) - 1, budget)
    return tuple(found)


def _agent(step: TrajectoryStep, found: list[Action], budget: list[int]) -> int:
    """Add the actions of one step; returns the place of one that still waits for its answer, -1 when none does."""
    calls = step.calls
    where: Where = "call"
    if not calls and not step.observations:
        calls = embedded_calls(step.text)
        where = "text"
    if step.text.strip() or not calls:
        found.append(
            Action(step=step.index, number=0, kind=CommandKind.MESSAGE, where="text", text=step.text[:_AUTHORED])
        )
    if not calls:
        return -1
    first, by_id = len(found), dict[str, int]()
    taken = set[int]()
    for number, call in enumerate(calls[:200]):
        actions = _actions_of_call(step.index, number, call)
        if where == "text":
            actions = [replace(action, where="text", number=0, text=step.text[:_AUTHORED]) for action in actions]
        # What a program of several calls printed is the last's that prints.
        answers = max(
            (at for at, one in enumerate(actions) if one.kind is not CommandKind.MESSAGE), default=len(actions) - 1
        )
        taken.update(len(found) + at for at in range(len(actions)) if at != answers)
        by_id.setdefault(call.id, len(found) + answers) if call.id else None
        found.extend(actions)
    for number, observation in enumerate(step.observations):
        place = by_id.get(observation.call, -1) if observation.call else -1
        if place < 0:
            place = next((at for at in range(first, len(found)) if at not in taken), len(found) - 1)
        taken.add(place)
        found[place] = _heard(
            found[place], observation.text, step.index, number, "observation", observation.failed, budget
        )
    waiting = [at for at in range(first, len(found)) if at not in taken]
    return waiting[0] if waiting else -1


def _answer(step: TrajectoryStep, found: list[Action], place: int, budget: list[int]) -> None:
    if step.observations:
        for number, observation in enumerate(step.observations):
            at = min(place + number, len(found) - 1)
            found[at] = _heard(
                found[at], observation.text, step.index, number, "observation", observation.failed, budget
            )
    elif step.text:
        found[place] = _heard(found[place], step.text, step.index, 0, "text", False, budget)


def _heard(action: Action, text: str, step: int, number: int, where: Where, failed: bool, budget: list[int]) -> Action:
    if action.answered and action.lines:
        return replace(action, failed=action.failed or failed)
    lines = tuple(_lines(text)) if budget[0] > 0 else ()
    budget[0] -= sum(len(line.text) for line in lines)
    failed = failed or purpose.told_failure(tuple(line.text for line in lines[:3] + lines[-3:]))
    return replace(
        action, lines=lines, answer=step, observation=number, answer_where=where, answered=True, failed=failed
    )


def _lines(text: str) -> Iterator[ActionLine]:
    """The lines of the beginning and the end of a text."""
    parts = [(0, text)] if len(text) <= _HEAD + _TAIL else [(0, text[:_HEAD]), (len(text) - _TAIL, text[-_TAIL:])]
    for offset, part in parts:
        at = offset
        for line in part.split("\n"):
            # A progress bar rewrites its line; what stands last is what a terminal shows.
            shown = line.rstrip("\r").rpartition("\r")[2]
            skipped = len(line.rstrip("\r")) - len(shown)
            yield ActionLine(at + skipped, shown[:_LINE])
            at += len(line) + 1


def _actions_of_call(step: int, number: int, call: StepCall) -> list[Action]:
    """What a call did: one action, or one for each call of the program that it is."""
    inner = program_calls(call) if tool_name_key(call.name) == "exec" and "command" not in call.arguments else ()
    text = call_text(call)[:_AUTHORED]
    return [replace(action_of(step, number, one), text=text) for one in inner] or [action_of(step, number, call)]


def action_of(step: int, number: int, call: StepCall) -> Action:
    """What one call of a tool did, whatever the tool is called; without what came back."""
    arguments, text = call.arguments, call_text(call)
    tool = tool_of(call.name, arguments)
    base = Action(step=step, number=number, kind=CommandKind.OTHER, text=text[:_AUTHORED])
    if tool is ToolKind.SHELL:
        return _shell(base, _command(arguments, text))
    if tool is ToolKind.PYTHON:
        code = first_text(arguments, "code", "input", "script", "command") or text
        simple = Simple(("python", "-c", code[:_AUTHORED]))
        kind = purpose.kind_of(simple)
        return replace(base, kind=kind, commands=((kind, simple),), authored=(Authored("", code[:_AUTHORED]),))
    if tool is ToolKind.EDITOR:
        return _editor(base, arguments)
    if tool is ToolKind.PATCH:
        return replace(base, kind=CommandKind.EDIT, authored=from_patch(text[:_AUTHORED]))
    if tool is ToolKind.WRITE:
        return replace(base, kind=CommandKind.EDIT, authored=_authored_texts(arguments))
    if tool is ToolKind.NETWORK:
        return replace(base, kind=CommandKind.NETWORK, query=text[:2000])
    plain = {
        ToolKind.SUBMIT: CommandKind.SUBMIT,
        ToolKind.MESSAGE: CommandKind.MESSAGE,
        ToolKind.READ: CommandKind.READ,
    }.get(tool or ToolKind.SHELL, CommandKind.OTHER)
    path = first_text(arguments, "file_path", "path", "absolute_path", "filename", "file", "dir_path", "target_file")
    return replace(base, kind=plain, paths=(path[:1000],) if path and plain is CommandKind.READ else ())


def shell_command_of(call: StepCall) -> str:
    """The command line, or the program, that a call ran; empty where it was for something else."""
    tool = tool_of(call.name, call.arguments)
    if tool is ToolKind.PYTHON:
        return first_text(call.arguments, "code", "input", "script", "command") or call_text(call)
    return _command(call.arguments, call_text(call)) if tool is ToolKind.SHELL else ""


def _command(arguments: Mapping[str, object], text: str) -> str:
    for name in ("command", "cmd", "script", "input", "code", "text", "commands", "chars", "keystrokes"):
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            words = [str(part) for part in value]
            return words[-1] if len(words) > 2 and words[1].startswith("-") and "c" in words[1] else " ".join(words)
    return text


def _shell(base: Action, text: str) -> Action:
    commands = tuple((purpose.kind_of(simple), simple) for simple in parse(text))
    authored, paths = list[Authored](), list[str]()
    for kind, simple in commands:
        authored.extend(purpose.authored_by(simple))
        if kind is CommandKind.READ:
            paths.extend(purpose.paths_read(simple))
    kind = purpose.weightiest(tuple(kind for kind, _ in commands))
    return replace(base, kind=kind, commands=commands, authored=tuple(authored), paths=tuple(paths[:200]))


def _editor(base: Action, arguments: Mapping[str, object]) -> Action:
    path = (first_text(arguments, "path", "file_path") or "")[:1000]
    if arguments.get("command") == "view":
        return replace(base, kind=CommandKind.READ, paths=(path,))
    return replace(base, kind=CommandKind.EDIT, authored=_authored_texts(arguments))


def _authored_texts(arguments: Mapping[str, object]) -> tuple[Authored, ...]:
    """The texts of one edit or of several, each of the call's file or of one of its own."""
    path = (first_text(arguments, *PATHS) or "")[:1000]
    edits = arguments.get("edits")
    parts = [part for part in edits if isinstance(part, dict)][:200] if isinstance(edits, list) else [arguments]
    return tuple(
        Authored(
            (first_text(part, *PATHS) or path)[:1000],
            (first_text(part, *NEW_TEXT) or "")[:_AUTHORED],
            (first_text(part, *OLD_TEXT) or "")[:_AUTHORED],
        )
        for part in parts
    )
