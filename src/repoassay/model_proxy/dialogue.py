"""The file a scripted model speaks from: a list of turns, in TOML or one JSON object a line.

::

    end = "error"      # after the last turn: error (400), repeat (the last turn), or loop (from the first)
    model = "scripted" # only told, in the list of models and in answers

    [[turn]]
    text = "I look first."
    calls = [{ tool = "shell", command = "ls" }]
    usage = { input = 120, output = 40, cached = 80, cache_write = 0, reasoning = 0 }

    [[turn]]
    plain = "calc.py\\n<<<<<<< SEARCH ..."    # said instead, to an agent that offers no tools (aider)
    calls = [{ tool = "finish" }]
    when = { contains = "total" }              # holds when the last message has this; lacks = "..." is the opposite
    otherwise = "skip"                         # passed over when it does not hold; the default, "error", ends there
    fault = { status = 429, retry_after = 0.2, times = 2 }

    [[aside]]                                  # for requests beside the dialogue, such as titles; any number of times
    when = { contains = "title" }
    text = "A title"

Calls are neutral: `shell` is rendered as the shell tool the agent offers, `finish` as the way it ends (a `submit` tool,
mini-swe-agent's magic command, or nothing); `{ name = "Edit", arguments = { ... } }` is passed as it stands.
A JSONL file has the same turns, each with `"kind": "turn" | "aside" | "settings"`.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from repoassay.errors import BadInput
from repoassay.types import Record, Usage

__all__ = ["Dialogue", "Fault", "ToolCall", "Turn", "When", "read_dialogue"]

_LARGEST = 64 << 20


class ToolCall(Record):
    """A neutral call (`tool`, `command`) or one by its exact name."""

    tool: Literal["shell", "finish", ""] = ""
    command: str = ""
    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.tool) == bool(self.name):
            raise ValueError('a call has either tool = "shell" | "finish" or a name')
        if (self.tool == "shell") != bool(self.command):
            raise ValueError("a shell call has a command, others have none")
        return self


class When(Record):
    """Conditions on a request; all must hold."""

    contains: str = ""
    lacks: str = ""
    tools: bool | None = None

    def holds(self, last: str, offers_tools: bool) -> bool:
        """Whether they hold for the text of the last message."""
        if self.tools is not None and self.tools != offers_tools:
            return False
        return self.contains in last and not (self.lacks and self.lacks in last)


class Fault(Record):
    """What goes wrong the first `times` times the turn is asked for; then it is answered.

    Attributes:
        status: An HTTP error, with `retry_after` seconds in its header when given.
        cut: The connection ends after this many events; 0 is before the first byte.
        silence: Seconds without a byte, before the first one.
        malformed: The body, or an event of the stream, is not JSON.
        wrong_type: The body comes as this content type.
        body: The body of the error.
    """

    status: int | None = Field(default=None, ge=300, le=599)
    retry_after: float | None = None
    cut: int | None = Field(default=None, ge=0)
    silence: float | None = Field(default=None, ge=0)
    malformed: bool = False
    wrong_type: str = ""
    body: str = ""
    times: int = Field(default=1, ge=1)


class Turn(Record):
    """One reply of the model."""

    text: str = ""
    plain: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage(input=100, output=20)
    when: When = When()
    otherwise: Literal["error", "skip"] = "error"
    fault: Fault | None = None
    delay: float = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        usage = self.usage
        if usage.cached + usage.cache_write > usage.input or usage.reasoning > usage.output:
            raise ValueError("usage counts cached and cache_write within input, and reasoning within output")
        return self


class Dialogue(Record):
    """The turns of a scripted model."""

    turn: tuple[Turn, ...] = Field(min_length=1)
    aside: tuple[Turn, ...] = ()
    end: Literal["error", "repeat", "loop"] = "error"
    model: str = "scripted"


def read_dialogue(path: Path) -> Dialogue:
    """Read a dialogue file.

    Raises:
        BadInput: It is missing, too large, or not a dialogue.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"The dialogue {path} is larger than {_LARGEST} bytes.")
        text = path.read_text("utf-8")
        return Dialogue.model_validate(_lines(text) if path.suffix == ".jsonl" else tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The dialogue {path} is wrong at {place}: {first['msg']}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(
            f"The dialogue {path} cannot be read: {error}.", "Write it as docs/model-proxy.md describes."
        ) from error


def _lines(text: str) -> dict[str, Any]:
    whole: dict[str, Any] = {"turn": [], "aside": []}
    for line in text.splitlines():
        if not line.strip():
            continue
        entry = json.loads(line)
        kind = entry.pop("kind", "turn") if isinstance(entry, dict) else ""
        if kind == "settings":
            whole.update(entry)
        elif kind in {"turn", "aside"}:
            whole[kind].append(entry)
        else:
            raise ValueError("each line is an object whose kind is turn, aside or settings")
    return whole
