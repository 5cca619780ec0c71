"""What to do about a refused task, read off why its tests did not pass with the solution."""

from __future__ import annotations

import re

from repoassay.construct.prove import ProofFinding, ProofRole, ProvenTask
from repoassay.text import join_names, printable, quote

__all__ = ["hints"]

_MODULE = re.compile(r"No module named '([A-Za-z0-9_.]{1,100})'")
_RAISED = re.compile(r"E\s+[\w.]*(?:Error|Exception|Failed|Warning|Exit)\b")
_THROWN = re.compile(r"(?:Uncaught )?\w*Error(?: \[\w+\])?: .+")
"""What node prints of an error that nobody catches, before the places and its own version."""
_FIXTURE = re.compile(r"fixture '([A-Za-z0-9_]{1,100})' not found")


def hints(proven: ProvenTask) -> tuple[str, ...]:
    """Sentences that say why there is no sound task, and the remedy; none where there is one."""
    if proven.finding is ProofFinding.SOUND:
        return ()
    messages = [*proven.unread.values(), *(case.solution_message for case in proven.cases)]
    found = [_reason(proven)]
    modules = {name for text in messages for name in _MODULE.findall(text)}
    fixtures = {name for text in messages for name in _FIXTURE.findall(text)}
    if modules:
        found.append(
            f"Not installed: {join_names(sorted(modules), 5)}."
            " Give packages with --requirement, folders with --import-path."
        )
    if fixtures:
        found.append(
            f"Fixtures not found: {join_names(sorted(fixtures), 5)}. Hidden tests run without conftest.py and plug-ins:"
            " give tests that bring their own with --tests FILE."
        )
    found += [f"{printable(file)} holds no test that can be run: {_last(why)}" for file, why in proven.unread.items()]
    return tuple(found)


def _reason(proven: ProvenTask) -> str:
    match proven.finding:
        case ProofFinding.VACUOUS:
            return "Every test passes at the base already, so none tells whether the task was done."
        case ProofFinding.UNSTABLE:
            return (
                "No test fails at the base and passes with the solution every time; those that do at times are flaky."
            )
        case ProofFinding.LOSSY:
            lost, whole = proven.lost
            return (
                f"{lost} of {whole} tests of the change ({lost / whole:.0%}) are no use here, and at most"
                f" {proven.most_lost:.0%} may be lost{_first_lost(proven)}."
            )
        case _ if broken := proven.of(ProofRole.BREAKS):
            return f"The solution breaks what passed before: {join_names((case.id for case in broken), 3)}."
        case _ if not proven.cases:
            return "No test could be run with the solution."
        case _:
            return f"With the solution no test that fails at the base passes; the first to fail is {_first(proven)}."


def _first_lost(proven: ProvenTask) -> str:
    return f"; the first is {_first(proven)}" if proven.of(ProofRole.FAILS) else ""


def _first(proven: ProvenTask) -> str:
    found = (*proven.of(ProofRole.FAILS), *proven.of(ProofRole.SKIPPED))
    if not found:
        return "none: no test was reported"
    case = found[0]
    return f"{quote(case.id)}: {_last(case.solution_message)}"


def _last(message: str) -> str:
    """The line of a traceback that says what happened: the last exception that pytest names, the error of node."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E ")]
    raised = [line for line in errors if _RAISED.match(line)] or errors[:1]
    thrown = [line for line in lines if _THROWN.fullmatch(line)] if lines and lines[-1].startswith("Node.js v") else []
    found = raised[-1][1:].strip() if raised else (thrown or lines or ["it was never reported"])[-1]
    return printable(found, 300)
