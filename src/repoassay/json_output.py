"""What `--json` prints: one envelope for every verb, as a document or, from verbs that answer as they go, as lines.

The schema of a verb's `data` is `schemas/VERB.json` beside the module of the verb (docs/reference/json.md).
"""

from __future__ import annotations

import importlib
import json
import math
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

__all__ = [
    "SCHEMA_VERSION",
    "JsonFlag",
    "command_name",
    "envelope_schema",
    "print_document",
    "print_failure",
    "print_record",
]

SCHEMA_VERSION = 2
"""Of the envelope and of every verb's data. 1 was 0.1 and 0.2, whose verbs printed their data bare."""
_awaited: list[str] = []
"""The verb whose document is still to come, if one is."""
_PART = 100
"""Items of a list that are printed at a time."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def print_document(data: object, problems: Sequence[str] = ()) -> None:
    """Print the one answer of a verb, indented.

    Args:
        data: As the verb's schema says. An iterator in it is a list, of which each item is made, printed on a line and
            forgotten: so many may come, some of them encoded.
        problems: What was passed over or is wrong about the answer, a sentence each.
    """
    _awaited.clear()
    place, lists = secrets.token_hex(16), list[Iterator[object]]()

    def keep(value: object) -> str:
        if not isinstance(value, Iterator):
            raise TypeError(f"{type(value)} is nothing that JSON can hold")
        lists.append(value)
        return place

    text = _text(_envelope(command_name(), data=data, problems=list(problems)), 2, keep)
    first, *rest = text.split(json.dumps(place))
    click.echo(first, nl=False)
    for items, after in zip(lists, rest, strict=True):
        _print_list(items)
        click.echo(after, nl=False)
    click.echo()


def _print_list(items: Iterator[object]) -> None:
    from repoassay.records import EncodedJson

    before = "[\n"
    while part := [item if isinstance(item, EncodedJson) else _text(item) for item in islice(items, _PART)]:
        click.echo(before + ",\n".join(part), nl=False)
        before = ",\n"
    click.echo("\n]" if before == ",\n" else "[]", nl=False)


def print_record(record: str, data: object) -> None:
    """Print one line of a verb that answers as it goes.

    Args:
        record: Which of the kinds in the verb's schema the line is.
        data: As the schema of that kind says.
    """
    click.echo(_text(_envelope(command_name(), record=record, data=data, problems=[])))


class JsonFlag(click.Option):
    """`--json`: where it is given, how the verb fails is printed as JSON too, also where its words cannot be read."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Called before the words are read; where that fails, nothing else of the verb is."""
        super().add_to_parser(parser, ctx)
        self._note(ctx, "--json" in sys.argv)

    def process_value(self, ctx: click.Context, value: Any) -> bool:
        """Called with what was read: `--json` among the words may be the name of a file."""
        flag = bool(super().process_value(ctx, value))
        self._note(ctx, flag)
        return flag

    def _note(self, ctx: click.Context, flag: bool) -> None:
        _awaited[:] = [command_name(ctx)] if flag else []


def print_failure(sentence: str) -> None:
    """Print that the verb stopped, with null for `data`, where JSON was asked for and its document is not out yet."""
    for verb in _awaited:
        click.echo(_text(_envelope(verb, data=None, problems=[sentence])))


def command_name(context: click.Context | None = None) -> str:
    """The verb as it is typed after the program's name, such as `tasks list`."""
    found: click.Context | None = context or click.get_current_context()
    names: list[str] = []
    while found is not None and found.parent is not None:
        names.insert(0, found.info_name or "")
        found = found.parent
    return " ".join(names)


def envelope_schema(command: str, path: Path) -> dict[str, Any]:
    """The JSON schema of what a verb prints: of its document, or of each of its lines.

    Args:
        command: The verb.
        path: What is stated of the verb's data.
    """
    defs: dict[str, Any] = {}
    stated: dict[str, Any] = _expanded(json.loads(path.read_text("utf-8")), defs)
    defs |= stated.pop("$defs", {})
    own = {"schema_version": {"const": SCHEMA_VERSION}, "command": {"const": command}}
    problems = {"type": "array", "items": {"type": "string"}}
    kinds: dict[str | None, Any] = {None: stated.pop("data")} if "data" in stated else {}
    kinds |= stated.pop("records", {})
    answers = []
    for kind, data in kinds.items():
        record = {} if kind is None else {"record": {"const": kind}}
        properties = {**own, **record, "data": data, "problems": problems}
        answers.append(_closed(properties))
    stopped = _closed({**own, "data": {"type": "null"}, "problems": {**problems, "minItems": 1}})
    return {
        "$schema": _DRAFT,
        "title": f"repoassay {command} --json",
        **stated,
        "anyOf": [*answers, stopped],
        "$defs": defs,
    }


def _expanded(node: Any, defs: dict[str, Any]) -> Any:
    """Put the schema of a record in the place of `$model`, its name, and of `$partial`, some of its keys."""
    if isinstance(node, list):
        return [_expanded(each, defs) for each in node]
    if not isinstance(node, dict):
        return node
    for mark in ("$model", "$partial"):
        if name := node.get(mark):
            from pydantic import TypeAdapter

            module, _, kind = name.partition(":")
            record = getattr(importlib.import_module(module), kind)
            found = TypeAdapter(record).json_schema(mode="serialization", ref_template="#/$defs/{model}")
            defs |= found.pop("$defs", {})
            if mark == "$partial":
                found.pop("required", None)
            return found | {key: text for key, text in node.items() if key == "description"}
    return {key: _expanded(value, defs) for key, value in node.items()}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": [*properties], "additionalProperties": False,
    }  # fmt: skip


def _envelope(command: str, **parts: object) -> dict[str, object]:
    return {"schema_version": SCHEMA_VERSION, "command": command, **parts}


def _text(document: object, indent: int | None = None, default: Callable[[object], str] | None = None) -> str:
    """ASCII, so that half of a surrogate pair in a name cannot break it; JSON has no NaN, which becomes null."""
    try:
        return json.dumps(document, indent=indent, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_finite(document), indent=indent, allow_nan=False, default=default)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
