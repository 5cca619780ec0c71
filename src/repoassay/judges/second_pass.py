"""What the second pass adds: signals of one axis, as text, and nothing else of an item's hidden half."""

from __future__ import annotations

from pydantic import ValidationError

from repoassay.review import HiddenPart, Rubric, scrub_text
from repoassay.signals import Signal, SignalState

__all__ = ["signals_by_axis"]

_MOST_PLACES = 20


def signals_by_axis(hidden: HiddenPart, rubric: Rubric) -> dict[str, str]:
    """Return the signals recorded for an item (`evidence["signals"]`), as text for each axis that has any.

    Names of the agent, the model and the system are taken out; entries that are no signals are passed over.
    """
    given = hidden.evidence.get("signals")
    found: dict[str, list[str]] = {axis.key: [] for axis in rubric.axes}
    for entry in given if isinstance(given, list) else []:
        try:
            signal = Signal.model_validate(entry)
        except ValidationError:
            continue
        if signal.axis.value in found:
            found[signal.axis.value] += _lines(signal)
    names = tuple(filter(None, (hidden.agent, hidden.model, hidden.system)))
    return {axis: scrub_text("\n".join(lines), names) for axis, lines in found.items() if lines}


def _lines(signal: Signal) -> list[str]:
    head = f"{signal.title} [{signal.id}]: "
    if signal.state is SignalState.UNKNOWN:
        return [f"{head}could not be looked at: {signal.reason}"]
    if signal.state is SignalState.SILENT:
        return [f"{head}nothing found"]
    lines = [f"{head}found"]
    for each in signal.evidence[:_MOST_PLACES]:
        place = each.path if each.line is None else f"{each.path}:{each.line} ({each.side})"
        lines.append(f"  {place}: {each.text}{f' `{each.quote}`' if each.quote else ''}")
    more = signal.more + max(0, len(signal.evidence) - _MOST_PLACES)
    return [*lines, f"  and {more} more places"] if more else lines
