"""The settings of an agent in a plan: typed in memory, a flat object of texts in files."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_serializer

from repoassay.types.base import Record

__all__ = ["LIMITS", "AgentEntry", "limit_value"]

LIMITS = ("timeout", "max_iterations", "max_tokens", "context_window", "budget_usd")
"""Limits of an attempt as files and sweeps name them: seconds, model calls, tokens, tokens of a prompt, US dollars."""
_FIELDS = {name: "max_calls" if name == "max_iterations" else name for name in LIMITS}
"""Fields of `AgentEntry` by the names that files have."""
_COUNTS = ("max_iterations", "max_calls", "max_tokens", "context_window")
_LEAST, _MOST = Decimal("1e-9"), 10**12
"""Beyond these a number is a slip, or meant to be written out in a thousand million digits."""


def limit_value(name: str, value: object) -> Decimal:
    """The value of a limit, whole where it counts something.

    Raises:
        ValueError: It is no number above 0, or no whole one where one is needed; says what to write.
    """
    try:
        read = Decimal("NaN") if isinstance(value, bool) else Decimal(str(value).strip())
    except InvalidOperation:
        read = Decimal("NaN")
    whole = name in _COUNTS
    if not read.is_finite() or not _LEAST <= read <= _MOST or (whole and read != read.to_integral_value()):
        raise ValueError(f"Write a {'whole ' * whole}number above 0.")
    return read


def _limit(name: str) -> BeforeValidator:
    return BeforeValidator(lambda value: None if value is None else limit_value(name, value))


class AgentEntry(Record):
    """What a plan says of one agent.

    Attributes:
        kind: Which agent: a name of `repoassay.agents.AGENTS`, a built-in one that asks a model, or the path of an
            agent's TOML file; empty means the name of the entry.
        model: `provider/name`; empty for none.
        timeout: Seconds an attempt may take; None is the task's own limit.
        max_calls: Model calls an attempt may make, called `max_iterations` in files.
        max_tokens: Tokens an attempt may read and write.
        context_window: Tokens of the longest prompt.
        budget_usd: US dollars an attempt may spend.
        options: What is particular to the agent, such as `command`; its kind says which options it takes.
    """

    kind: str = ""
    model: str = ""
    timeout: Annotated[float | None, _limit("timeout"), Field(gt=0, allow_inf_nan=False)] = None
    max_calls: Annotated[int | None, _limit("max_calls"), Field(gt=0)] = None
    max_tokens: Annotated[int | None, _limit("max_tokens"), Field(gt=0)] = None
    context_window: Annotated[int | None, _limit("context_window"), Field(gt=0)] = None
    budget_usd: Annotated[Decimal | None, _limit("budget_usd"), Field(gt=0)] = None
    options: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read settings as files have them.

        Never refuses a text: what is no setting, or no value for it, becomes an option under its name, and a plan that
        is to be carried out is checked for those (`repoassay.engine.agent_settings`). So every file can be shown.
        """
        fields: dict[str, Any] = {}
        options: dict[str, Any] = {}
        for name, value in settings.items():
            if name in ("kind", "model") or (name in _FIELDS and _is_limit(name, value)):
                fields[_FIELDS.get(name, name)] = value
            else:
                options[name] = value
        return cls(**fields, options=options)

    @property
    def settings(self) -> dict[str, str]:
        """All of it as text, as files have it: kind and model where they are set, options, and limits."""
        limits = {name: getattr(self, field) for name, field in _FIELDS.items()}
        return {
            **({"kind": self.kind} if self.kind else {}),
            **self.options,
            **({"model": self.model} if self.model else {}),
            **{name: _text(value) for name, value in limits.items() if value is not None},
        }

    @model_serializer
    def _flat(self) -> dict[str, str]:
        return self.settings


def _is_limit(name: str, value: object) -> bool:
    try:
        limit_value(name, value)
    except ValueError:
        return False
    return isinstance(value, str)


def _text(value: float | Decimal) -> str:
    return format(Decimal(str(value)).normalize(), "f")
