"""How outcomes are shown: a sign, a word and a sentence each, so that colour never carries meaning alone."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.types import Outcome

__all__ = ["OUTCOMES", "UNFINISHED", "OutcomeLabel", "outcome_label"]


@dataclass(frozen=True, slots=True)
class OutcomeLabel:
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
    Outcome.PASSED: OutcomeLabel("passed", "✓", "+", "passed", "every process and result check holds", "green"),
    Outcome.FAILED: OutcomeLabel(
        "failed", "✗", "x", "failed", "usable output, but a result check does not hold", "red"
    ),
    Outcome.NO_OUTPUT: OutcomeLabel("no_output", "∅", "0", "no output", "output missing, empty or unreadable", "red"),
    Outcome.PATCH_FAILED: OutcomeLabel("patch_failed", "≠", "#", "patch failed", "the patch does not apply", "red"),
    Outcome.TIMED_OUT: OutcomeLabel("timed_out", "◷", "T", "timed out", "the agent ran out of time", "red"),
    Outcome.BUDGET: OutcomeLabel("budget", "$", "$", "budget", "the agent ran out of budget", "red"),
    Outcome.TAMPERING: OutcomeLabel(
        "tampering", "⚑", "!", "tampering", "the submission interferes with grading", "red"
    ),
    Outcome.NOT_GRADABLE: OutcomeLabel(
        "not_gradable", "?", "?", "not gradable", "the suite lacks what grading needs; unknown", "yellow"
    ),
    Outcome.INFRA_FAULT: OutcomeLabel("infra_fault", "⚠", "%", "infra fault", "a fault of ours; unknown", "yellow"),
}
"""Every outcome, in the order it is shown."""

UNFINISHED = OutcomeLabel(
    "unfinished", "·", ".", "unfinished", "planned, but without a finished attempt; unknown", "dim"
)
"""A place of the plan that no finished attempt fills."""


def outcome_label(outcome: Outcome) -> OutcomeLabel:
    """How an outcome is shown."""
    return OUTCOMES[outcome]
