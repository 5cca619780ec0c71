"""What a command's printed output says about why it failed, without an agent: the rules of diagnosis on one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repoassay.diagnosis.actions import ActionLine
from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.exceptions import origin, raised_in
from repoassay.diagnosis.purpose import CommandKind
from repoassay.diagnosis.rules import builtin_rules
from repoassay.text import printable

__all__ = ["PrintedCause", "printed_cause"]

_MOST_LINES, _LONGEST = 2000, 500


@dataclass(frozen=True, slots=True)
class PrintedCause:
    """A class of error (`E1` to `E5`) with its kind, the sentence that says why, and the line that shows it."""

    code: str
    kind: str
    why: str
    line: str


def printed_cause(
    text: str, repository: str, packages: Iterable[str] = (), *, installing: bool = False
) -> PrintedCause | None:
    """Return the weightiest cause that an output shows; None where no rule knows any.

    Args:
        text: What the command printed; hostile.
        repository: The repository's name. `packages`: what it is imported as.
        installing: Whether the command was to install something.
    """
    case = AttemptCase(repository=repository, packages=tuple(packages))
    lines, start = [], 0
    for each in text.splitlines()[-_MOST_LINES:]:
        lines.append(ActionLine(start, each[:_LONGEST]))
        start += len(each) + 1
    kind = CommandKind.INSTALL if installing else CommandKind.EXECUTE
    found: list[tuple[float, PrintedCause]] = []
    for raised in raised_in(tuple(lines), case, frozenset()):
        cause = origin(raised, case)
        if cause is not None:
            shown = printable(raised.line.text.strip(), 200)
            found.append((cause.weight, PrintedCause(cause.code.value, cause.subclass.value, cause.why, shown)))
    for rule in builtin_rules():
        line = (
            next((each.text for each in lines if rule.pattern.search(each.text)), None) if kind in rule.scope else None
        )
        if line is not None:
            subclass = rule.subclass.value if rule.subclass else ""
            shown = printable(line.strip(), 200)
            found.append((rule.weight, PrintedCause(rule.code.value, subclass, f"rule {rule.id}", shown)))
    return max(found, key=lambda each: each[0])[1] if found else None
