"""How outcomes are shown: a sign, a word and a sentence each, so that colour never carries meaning alone."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.types import Outcome

__all__ = ["OUTCOMES", "UNFINISHED", "Shown", "shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """How one outcome is shown.

    `name` is the machine's word and the CSS class; `ascii` replaces `sign` where output is not Unicode; `style` is
    the colour on a terminal.
    """

    name: str
    sign: str
    ascii: str
    word: str
    meaning: str
    style: str


OUTCOMES = {
    Outcome.PASSED: Shown("passed", "✓", "+", "passed", "every process and result check holds", "green"),
    Outcome.FAILED: Shown("failed", "✗", "x", "failed", "usable output, but a result check does not hold", "red"),
    Outcome.NO_OUTPUT: Shown("no_output", "∅", "0", "no output", "output missing, empty or unreadable", "red"),
    Outcome.PATCH_FAILED: Shown("patch_failed", "≠", "#", "patch failed", "the patch does not apply", "red"),
    Outcome.TIMED_OUT: Shown("timed_out", "◷", "T", "timed out", "the agent ran out of time", "red"),
    Outcome.BUDGET: Shown("budget", "$", "$", "budget", "the agent ran out of budget", "red"),
    Outcome.TAMPERING: Shown("tampering", "⚑", "!", "tampering", "the submission interferes with grading", "red"),
    Outcome.NOT_GRADABLE: Shown(
        "not_gradable", "?", "?", "not gradable", "the suite lacks what grading needs; unknown", "yellow"
    ),
    Outcome.INFRA_FAULT: Shown("infra_fault", "⚠", "%", "infra fault", "a fault of ours; unknown", "yellow"),
}
"""Every outcome, in the order it is shown."""

UNFINISHED = Shown("unfinished", "·", ".", "unfinished", "planned, but without a finished attempt; unknown", "dim")
"""A place of the plan that no finished attempt fills."""


def shown(outcome: Outcome) -> Shown:
    """How an outcome is shown."""
    return OUTCOMES[outcome]
