"""What else sways a judge, beside the truth: order, signals, kinship; and what people should look at first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from repoassay.judges.families import family
from repoassay.judges.judgement import Judgement
from repoassay.judges.votes import Vote, votes
from repoassay.review import AnswerRole, HiddenPart, Item, ItemSummary, Rubric
from repoassay.signals import Signal, SignalState
from repoassay.stats import Proportion
from repoassay.types import RatingPhase

__all__ = ["Kin", "Orders", "SecondPass", "kin_of", "orders_of", "second_pass_of", "triage_of"]

Votes = Mapping[tuple[str, str], Vote]


@dataclass(frozen=True, slots=True)
class Orders:
    """One axis, where a reference was shown beside the change: how often a sample says there is a problem, with the
    reference first and last; of `items` seen both ways, `changed` by it.
    """

    axis: str
    first: Proportion
    last: Proportion
    items: int
    changed: int


@dataclass(frozen=True, slots=True)
class SecondPass:
    """One axis judged without and with signals: of `n` items with people's label, how often it agrees either way."""

    axis: str
    n: int
    changed: int
    blind: Proportion
    revealed: Proportion


@dataclass(frozen=True, slots=True)
class Kin:
    """Agreement on submissions of the judge's own vendor, of others, and of models whose vendor is not known.

    `milder` counts problems that people see and the judge denies on its own vendor's, among those people see.
    """

    family: str
    own: Proportion
    other: Proportion
    unknown: Proportion
    milder_own: Proportion
    milder_other: Proportion


def orders_of(axis: str, blind: Votes, part: Sequence[str]) -> Orders | None:
    """Return what the order of change and reference did on one axis; None where no reference was shown."""
    line = [vote for item in part if (vote := blind.get((item, axis))) is not None and vote.by_order]
    if not line:
        return None
    first, last = (
        Proportion(sum(vote.by_order[way][1] for vote in seen), sum(vote.by_order[way][0] for vote in seen))
        for way in (True, False)
        for seen in [[vote for vote in line if way in vote.by_order]]
    )
    both = [vote.by_order for vote in line if len(vote.by_order) == 2]
    changed = sum((2 * each[True][1] > each[True][0]) != (2 * each[False][1] > each[False][0]) for each in both)
    return Orders(axis, first, last, len(both), changed)


def second_pass_of(
    samples: Iterable[Judgement], blind: Votes, rows: Mapping[str, ItemSummary], rubric: Rubric,
    part: Sequence[str],
) -> tuple[SecondPass, ...]:  # fmt: skip
    """Return, for each axis with a second pass, how signals changed the judge's answers; give all its samples."""
    again = votes((each for each in samples if each.phase is RatingPhase.REVEALED), rubric)
    found = []
    for axis in rubric.axes:
        line = [
            (blind[item, axis.key].state, again[item, axis.key].state, rows[item].states[axis.key])
            for item in part
            if (item, axis.key) in again and (item, axis.key) in blind and item in rows
            and axis.key in rows[item].states
        ]  # fmt: skip
        if line:
            before, after = (Proportion(sum(each[n] == each[2] for each in line), len(line)) for n in (0, 1))
            found.append(SecondPass(axis.key, len(line), sum(one != two for one, two, _ in line), before, after))
    return tuple(found)


def kin_of(
    items: Sequence[Item], blind: Votes, rows: Mapping[str, ItemSummary], rubric: Rubric, part: Sequence[str], mine: str
) -> Kin:
    """Return agreement by the vendor of whoever made the submission; `mine` is the judge's, empty where not known."""
    vendors = {item.id: family(item.hidden.model) for item in items}
    agreed: dict[str, list[bool]] = {"own": [], "other": [], "unknown": []}
    denied: dict[str, list[bool]] = {"own": [], "other": [], "unknown": []}
    for (item, axis), vote in blind.items():
        label = rows[item].states.get(axis) if item in rows else None
        if item not in part or label is None or vote.state is None:
            continue
        vendor = vendors[item]
        kind = "unknown" if not vendor or not mine else "own" if vendor == mine else "other"
        agreed[kind].append(label == vote.state)
        if rubric.level(axis, label).role is AnswerRole.PROBLEM:
            denied[kind].append(rubric.level(axis, vote.state).role is not AnswerRole.PROBLEM)
    shares = {kind: Proportion(sum(line), len(line)) for kind, line in agreed.items()}
    mild = {kind: Proportion(sum(line), len(line)) for kind, line in denied.items()}
    return Kin(mine, shares["own"], shares["other"], shares["unknown"], mild["own"], mild["other"])


def triage_of(
    items: Iterable[Item], blind: Votes, rows: Mapping[str, ItemSummary], rubric: Rubric
) -> tuple[tuple[str, str], ...]:
    """Return items nobody rated on which the judge has no verdict, is split, or denies what a signal found."""
    found = []
    for item in items:
        line = [blind[item.id, axis.key] for axis in rubric.axes if (item.id, axis.key) in blind]
        if item.id in rows or not line:
            continue
        seen = _signalled(item.hidden)
        for vote in line:
            role = None if vote.state is None else rubric.level(vote.axis, vote.state).role
            if vote.state is None:
                found.append((item.id, f"{vote.axis}: the judge has no verdict"))
            elif vote.share is not None and vote.share < 2 / 3:
                found.append((item.id, f"{vote.axis}: {vote.share:.0%} of its votes only"))
            elif vote.axis in seen and role is AnswerRole.CLEAR:
                found.append((item.id, f"{vote.axis}: it denies what a signal found"))
            else:
                continue
            break
    return tuple(found)


def _signalled(hidden: HiddenPart) -> set[str]:
    entries = hidden.evidence.get("signals")
    axes = set()
    for entry in entries if isinstance(entries, list) else []:
        try:
            signal = Signal.model_validate(entry)
        except ValidationError:
            continue
        if signal.state is SignalState.FINDING:
            axes.add(signal.axis.value)
    return axes
