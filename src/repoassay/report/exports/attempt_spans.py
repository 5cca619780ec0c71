"""An attempt as spans in the words of OpenTelemetry for generative AI: the agent's, below it model calls and tools.

Spans carry names and figures, never what was said: a trace often goes to a service of somebody else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from repoassay.records import JOURNAL, FinishedAttempt, read_calls
from repoassay.report.attempt_timeline import read_trajectory
from repoassay.text import printable
from repoassay.types import Attribution, Call, StepCall, TrajectoryStep, Usage

__all__ = ["AttemptSpan", "SpanEvent", "SpanValue", "spans_of"]

SpanValue = str | int | float | bool
_VENDORS = {"messages": "anthropic", "responses": "openai", "chat": "openai", "gemini": "gcp.gemini"}
_LANGFUSE_USAGE = "langfuse.observation.usage_details"
_EVALUATION = "gen_ai.evaluation.result"


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened at one moment of a span."""

    name: str
    at: datetime
    attributes: Mapping[str, SpanValue]


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """One span.

    Attributes:
        trace: 16 bytes, the same for all spans of an attempt and in every export of it.
        own: 8 bytes. `parent`: the parent's; empty for the root.
        outward: Whether it is a request of somebody else's service.
        failed: What went wrong, in a word; empty where nothing did.
    """

    trace: bytes
    own: bytes
    parent: bytes
    name: str
    begun: datetime
    ended: datetime
    attributes: Mapping[str, SpanValue]
    events: tuple[SpanEvent, ...] = field(default=())
    outward: bool = False
    failed: str = ""


def spans_of(subject: FinishedAttempt) -> Iterator[AttemptSpan]:
    """The spans of an attempt: itself first, then its model calls out of our model proxy's journal, and its tools'.

    An imported attempt has no journal; there each step of its agent that has a time and tokens stands for a call. Calls
    of tools are those of the trajectory, at the time of their step; where it tells none, they are left out.
    """
    attempt = subject.attempt
    trace, root = _number(16, attempt.id), _number(8, attempt.id, "root")
    journal = subject.folder / JOURNAL
    calls = read_calls(journal).calls if journal.is_file() and not journal.is_symlink() else ()
    yield _root(subject, trace, root)
    for call in calls:
        yield _called(call, trace, root)
    trajectory = read_trajectory(subject.folder)
    for step in trajectory.steps if trajectory else ():
        if step.time is not None:
            if not calls and step.usage is not None:
                yield _step(step, trajectory.model if trajectory else "", trace, root)
            for place, used in enumerate(step.calls):
                yield _tool(step, place, used, step.time, trace, root)


def _root(found: FinishedAttempt, trace: bytes, own: bytes) -> AttemptSpan:
    attempt, verdict, spent = found.attempt, found.verdict, found.attempt.spent
    model = str(attempt.settings.get("model") or "")
    attributes: dict[str, SpanValue] = {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": attempt.agent,
        "gen_ai.conversation.id": attempt.id, "repoassay.task": attempt.task, "repoassay.run": attempt.run,
        "repoassay.attempt": attempt.id, "repoassay.number": attempt.number,
        "repoassay.outcome": verdict.outcome.value, **_model_of(model), **_tokens(spent.usage if spent else None),
    }  # fmt: skip
    if spent and spent.dollars is not None:
        attributes["repoassay.dollars"] = float(spent.dollars)
    attributes[_LANGFUSE_USAGE] = "{}"  # it adds up what every span has, and the calls have it all
    label = "unknown" if verdict.result is None else "pass" if verdict.result else "fail"
    values: dict[str, SpanValue] = {
        "gen_ai.evaluation.name": "repoassay.verdict", "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": f"{verdict.outcome.value}, by {verdict.grader}",
    }  # fmt: skip
    if verdict.result is not None:
        values["gen_ai.evaluation.score.value"] = 1.0 if verdict.result else 0.0
    ours = verdict.outcome.whose is Attribution.OURS
    return AttemptSpan(
        trace, own, b"", f"invoke_agent {attempt.agent}", attempt.started, attempt.ended, attributes,
        (SpanEvent(_EVALUATION, attempt.ended, values),), failed=verdict.outcome.value if ours else "",
    )  # fmt: skip


def _called(call: Call, trace: bytes, root: bytes) -> AttemptSpan:
    model = call.served or call.asked
    attributes: dict[str, SpanValue] = {
        "gen_ai.operation.name": "generate_content" if call.dialect == "gemini" else "chat",
        "gen_ai.provider.name": _VENDORS.get(call.spoken or call.dialect, "unknown"),
        **_model_of(model), **_tokens(call.usage),
    }  # fmt: skip
    if call.answered_by:
        attributes["gen_ai.response.model"] = call.answered_by
    if call.status is not None:
        attributes["http.response.status_code"] = call.status
    if call.price is not None:
        attributes["repoassay.dollars"] = attributes["gen_ai.usage.cost"] = float(call.price)
    if call.usage is not None:
        attributes[_LANGFUSE_USAGE] = _parts(call.usage)
    if call.first_byte is not None:
        attributes["gen_ai.server.time_to_first_token"] = call.first_byte
    failed = call.fault or call.refused
    if failed:
        attributes["error.type"] = failed
    return AttemptSpan(
        trace, _number(8, call.attempt, str(call.seq)), root, f"chat {model}".rstrip(), call.at,
        call.at + timedelta(seconds=call.seconds), attributes, outward=call.forwarded, failed=failed,
    )  # fmt: skip


def _step(step: TrajectoryStep, model: str, trace: bytes, root: bytes) -> AttemptSpan:
    assert step.time is not None
    attributes: dict[str, SpanValue] = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "unknown", "repoassay.step": step.index,
        **_model_of(model), **_tokens(step.usage), **({_LANGFUSE_USAGE: _parts(step.usage)} if step.usage else {}),
    }  # fmt: skip
    if step.dollars is not None:
        attributes["repoassay.dollars"] = attributes["gen_ai.usage.cost"] = float(step.dollars)
    own = _number(8, trace.hex(), f"step {step.index}")
    return AttemptSpan(trace, own, root, f"chat {model}".rstrip(), step.time, step.time, attributes, outward=True)


def _tool(step: TrajectoryStep, place: int, call: StepCall, at: datetime, trace: bytes, root: bytes) -> AttemptSpan:
    """A call of a tool; its arguments and its answer are what was said."""
    name = printable(call.name, 100)
    attributes: dict[str, SpanValue] = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function",
        "repoassay.step": step.index,
    }  # fmt: skip
    if call.id:
        attributes["gen_ai.tool.call.id"] = printable(call.id, 200)
    failed = "_OTHER" if call.id and any(seen.failed and seen.call == call.id for seen in step.observations) else ""
    if failed:
        attributes["error.type"] = failed
    own = _number(8, trace.hex(), f"step {step.index} tool {place}")
    return AttemptSpan(trace, own, root, f"execute_tool {name}", at, at, attributes, failed=failed)


def _model_of(model: str) -> dict[str, SpanValue]:
    return {"gen_ai.request.model": model} if model else {}


def _tokens(usage: Usage | None) -> dict[str, SpanValue]:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input, "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }  # fmt: skip


def _parts(usage: Usage) -> str:
    """Tokens in parts that add up, as Langfuse wants them: it would count cached ones beside the whole."""
    plain = max(usage.input - usage.cached - usage.cache_write, 0)
    parts = {
        "input": plain, "input_cached_tokens": usage.cached, "input_cache_creation": usage.cache_write,
        "output": usage.output,
    }  # fmt: skip
    return json.dumps(parts)


def _number(size: int, *parts: str) -> bytes:
    """Bytes that are the same for the same attempt, so that exporting twice makes no second trace."""
    return hashlib.sha256("\0".join(parts).encode()).digest()[:size]
