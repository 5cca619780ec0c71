"""A trajectory as messages and events of Inspect: what was said and called, and what each call of the model spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from repoassay.agents import UNTIMED
from repoassay.types import Observation, Source, Spending, StepCall, Trajectory, TrajectoryStep, Usage

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ModelUsage

__all__ = ["events_of", "messages_of", "model_usage"]


def messages_of(trajectory: Trajectory) -> list[ChatMessage]:
    """The conversation: each step a message, each answer of a tool one of its own."""
    return [message for step in trajectory.steps for message in _messages(step)]


def _messages(step: TrajectoryStep) -> Iterator[ChatMessage]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    if step.source is Source.SYSTEM:
        yield ChatMessageSystem(id=_id(step), content=step.text)
    elif step.source is Source.USER:
        yield ChatMessageUser(id=_id(step), content=step.text)
    elif step.source is Source.AGENT:
        yield _assistant(step)
    for number, item in enumerate(step.observations, 1):
        yield _answer(item, step, number)


def _id(step: TrajectoryStep) -> str:
    return f"step-{step.index}"


def _assistant(step: TrajectoryStep) -> ChatMessageAssistant:
    from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText
    from inspect_ai.tool import ToolCall

    content: Any = step.text
    if step.reasoning:
        content = [ContentReasoning(reasoning=step.reasoning), ContentText(text=step.text)]
    calls = [ToolCall(id=call.id, function=call.name, arguments=dict(call.arguments)) for call in step.calls]
    return ChatMessageAssistant(id=_id(step), content=content, tool_calls=calls or None)


def _answer(item: Observation, step: TrajectoryStep, number: int) -> ChatMessage:
    from inspect_ai.model import ChatMessageTool
    from inspect_ai.tool import ToolCallError

    return ChatMessageTool(
        id=f"{_id(step)}-{number}",
        content=item.text,
        tool_call_id=item.call or None,
        function=next((call.name for call in step.calls if call.id and call.id == item.call), None),
        error=ToolCallError(type="unknown", message=item.text[:500]) if item.failed else None,
    )


def events_of(trajectory: Trajectory, model: str, messages: Sequence[ChatMessage], begin: datetime) -> list[Any]:
    """The transcript: a model's call for each step of the agent, and its tool calls with what they answered.

    Args:
        trajectory: What the agent did.
        model: The model, where it does not tell.
        messages: `messages_of` it; an event's input is what came since the call before.
        begin: When the attempt began, for steps without a time.
    """
    from inspect_ai.event import ModelEvent, ToolEvent
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, GenerateConfig, ModelOutput

    steps = {_id(step): step for step in trajectory.steps}
    since: list[ChatMessage] = []
    events: list[Any] = []
    last = begin
    for message in messages:
        since.append(message)
        step = steps.get(message.id or "")
        if step is None or not isinstance(message, ChatMessageAssistant):
            continue
        last = step.time or last
        output = ModelOutput(
            model=model,
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if step.calls else "stop")],
            usage=_usage(step.usage, step.dollars),
        )
        untimed = None if step.time else {UNTIMED: True}
        events.append(
            ModelEvent(
                model=model, input=since[:-1], tools=[], tool_choice="auto", config=GenerateConfig(), output=output,
                timestamp=last, working_start=0.0, metadata=untimed,
            )
        )  # fmt: skip
        events += [ToolEvent(**_called(call, step), timestamp=last, working_start=0.0) for call in step.calls]
        since = []
    return events


def _called(call: StepCall, step: TrajectoryStep) -> dict[str, Any]:
    answers = [item for item in step.observations if item.call == call.id or len(step.calls) == 1]
    return {
        "id": call.id,
        "function": call.name,
        "arguments": dict(call.arguments),
        "result": "\n".join(item.text for item in answers),
        "failed": True if any(item.failed for item in answers) else None,
    }


def model_usage(trajectory: Trajectory, spending: Spending | None) -> ModelUsage | None:
    """What the attempt spent: by the model proxy's count, else by the agent's own account."""
    if spending is not None:
        return _usage(spending.usage, spending.dollars)
    return _usage(trajectory.own.usage, trajectory.own.dollars)


def _usage(usage: Usage | None, dollars: Decimal | None) -> ModelUsage | None:
    """Tokens as Inspect counts them: `input_tokens` without what came from or went into a cache."""
    from inspect_ai.model import ModelUsage

    if usage is None and dollars is None:
        return None
    usage = usage or Usage()
    return ModelUsage(
        input_tokens=usage.fresh,
        output_tokens=usage.output,
        total_tokens=usage.total,
        input_tokens_cache_read=usage.cached or None,
        input_tokens_cache_write=usage.cache_write or None,
        reasoning_tokens=usage.reasoning or None,
        total_cost=None if dollars is None else float(dollars),
    )
