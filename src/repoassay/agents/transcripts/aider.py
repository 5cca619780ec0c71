"""Aider: its chat history, a Markdown file; its standard output, which alone has what commands printed; and its
analytics log, which has the tokens of each message. Without the log, the chat tells them, rounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from repoassay.agents.transcripts.aider_stdout import CommandOutputs
from repoassay.agents.transcripts.aider_tokens import aider_tokens, main_model
from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import json_lines, mapping, matching, text_file
from repoassay.agents.transcripts.search_replace import search_replace_calls, whole_file_call
from repoassay.model_proxy import Chat
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]

_RUNNING = "Running "
_ASKED_FOR_OUTPUT = "Add command output to the chat?"


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    sent = []
    log, chat = matching(folder, "files/analytics.jsonl"), matching(folder, "files/chat.md")
    for entry in json_lines(log[0], building) if log else ():
        properties = mapping(entry, "properties")
        if entry.get("event") == "message_send":
            sent.append((Chat.read_usage(properties), money(properties.get("cost")), moment(entry.get("time"))))
        elif entry.get("event") == "exit":
            building.ending = str(properties.get("reason") or "")
    text = text_file(chat[0], building) if chat else ""
    found = re.search(r"^> Aider v(\S+)", text, re.MULTILINE)
    building.version = found[1] if found else ""
    building.model = building.model or main_model(text)
    blocks = list(_blocks(text))
    commands = [command for source, lines in blocks if source is Source.SYSTEM for command in _commands(lines)]
    printed = CommandOutputs(text_file(folder / "stdout.txt", building), commands)
    usages, reply, edits, last = iter(sent), 0, tuple[StepCall, ...](), ""
    rounded = {} if log else aider_tokens([lines if source is Source.SYSTEM else [] for source, lines in blocks])
    for number, (source, lines) in enumerate(blocks):
        message = "\n".join(_plain(line, source) for line in lines).strip()
        if not message:
            continue
        if source is Source.AGENT:
            usage, dollars, time = (
                next(usages, (None, None, None)) if log else (*rounded.get(number, (None, None)), None)
            )
            edits = tuple(
                call.model_copy(update={"id": f"edit-{number}-{at}"})
                for at, call in enumerate(search_replace_calls(message))
            )
            last = message
            reply = building.step(source, message, calls=list(edits), usage=usage, dollars=dollars or None, time=time)
        else:
            building.step(source, message)
        if source is Source.SYSTEM and reply:
            _acted(building, reply, edits, lines, printed, number, last)
            edits = ()
    sent.extend((usage, dollars, None) for usage, dollars in rounded.values())
    known = [usage for usage, _, _ in sent if usage is not None]
    building.usage = sum(known, Usage()) if known else None
    building.calls = len(sent) or (0 if log else None)
    building.dollars = sum((cost for _, cost, _ in sent if cost is not None), Decimal(0)) or None
    cached = "its log has no cached tokens" if building.usage is not None else "its log has no tokens"
    if rounded:
        cached = "its chat tells tokens rounded"
    building.note = cached if building.dollars else f"{cached}; it knows no price of this model"


def _acted(
    building: Building,
    reply: int,
    edits: tuple[StepCall, ...],
    lines: list[str],
    printed: CommandOutputs,
    number: int,
    text: str,
) -> None:
    """Add to a reply what became of it: its edits, applied or not, and the commands that ran, with their outputs."""
    applied = {_plain(line, Source.SYSTEM) for line in lines if line.startswith("> Applied edit to ")}
    paths = {str(call.arguments["path"]) for call in edits}
    for at, line in enumerate(sorted(applied)):
        if (path := line.removeprefix("Applied edit to ").strip()) not in paths:
            call = whole_file_call(text, path).model_copy(update={"id": f"whole-{number}-{at}"})
            building.extend(reply, "", "", [call])
            building.observe(call.id, line)
    for call in edits:
        done = f"Applied edit to {call.arguments['path']}"
        refused = "\n".join(_plain(line, Source.SYSTEM) for line in lines)
        building.observe(call.id, done if done in applied else refused, failed=done not in applied)
    kept = any(_plain(line, Source.SYSTEM).startswith(_ASKED_FOR_OUTPUT) for line in lines)
    for at, command in enumerate(_commands(lines)):
        call = StepCall(id=f"run-{number}-{at}", name="bash", arguments={"command": command})
        building.extend(reply, "", "", [call])
        output = printed.next()
        if output is not None:
            # Aider asks whether to keep outputs unless there are none: what stands below is then its next message.
            building.observe(call.id, output if kept else "")


def _commands(lines: list[str]) -> list[str]:
    """The commands that Aider's notices say it ran."""
    notices = (_plain(line, Source.SYSTEM) for line in lines if line.startswith(f"> {_RUNNING}"))
    return [line.removeprefix(_RUNNING) for line in notices]


def _blocks(text: str) -> Iterator[tuple[Source, list[str]]]:
    """The chat's parts: the user's lines begin with ####, Aider's own notices with >, the rest is the model's.

    A notice goes on until a blank line (the lines of several commands have no mark). A reply's own code may hold lines
    with any mark: until its fence is closed, or the tokens are told, they are the model's.
    """
    source, lines, fenced = Source.AGENT, list[str](), False
    for line in text.split("\n"):
        fenced = fenced and not line.startswith("> Tokens: ")
        mine = Source.AGENT if fenced else _source(line, source)
        if mine is not source:
            if any(kept.strip() for kept in lines):
                yield source, lines
            source, lines = mine, []
        if source is Source.AGENT and line.startswith("```"):
            fenced = not fenced
        lines.append(line)
    if any(kept.strip() for kept in lines):
        yield source, lines


def _source(line: str, before: Source) -> Source:
    if line.startswith(("####", "# aider chat started")):
        return Source.USER
    if line.startswith("> "):
        return Source.SYSTEM
    return before if before is Source.SYSTEM and line.strip() else Source.AGENT


def _plain(line: str, source: Source) -> str:
    if line.startswith("# aider chat started"):
        return ""
    return line.removeprefix("####" if source is Source.USER else "> ").strip() if source is not Source.AGENT else line
