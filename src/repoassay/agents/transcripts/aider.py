"""Aider: its chat history, a Markdown file, and its analytics log, which has the tokens of each message."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import json_lines, mapping, matching, text_file
from repoassay.model_proxy import Chat
from repoassay.types import Source, Usage

__all__ = ["read"]


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
    told = iter(sent)
    for source, lines in groupby(text.split("\n"), key=_source):
        said = "\n".join(_plain(line, source) for line in lines).strip()
        if not said:
            continue
        usage, dollars, time = next(told, (None, None, None)) if source is Source.AGENT else (None, None, None)
        building.step(source, said, usage=usage, dollars=dollars or None, time=time)
    known = [usage for usage, _, _ in sent if usage is not None]
    building.usage = sum(known, Usage()) if known else None
    building.calls = len(sent) if log else None
    building.dollars = sum((cost for _, cost, _ in sent if cost is not None), Decimal(0)) or None
    cached = "its log has no cached tokens" if building.usage is not None else "its log has no tokens"
    building.note = cached if building.dollars else f"{cached}; it knows no price of this model"


def _source(line: str) -> Source:
    """Whose line it is: the user's begin with ####, Aider's own notices with >."""
    if line.startswith(("####", "# aider chat started")):
        return Source.USER
    return Source.SYSTEM if line.startswith("> ") else Source.AGENT


def _plain(line: str, source: Source) -> str:
    if line.startswith("# aider chat started"):
        return ""
    return line.removeprefix("####" if source is Source.USER else "> ").strip() if source is not Source.AGENT else line
