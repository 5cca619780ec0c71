"""What was measured of a draft's outputs, what graders make of them and of mutants, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from repoassay.curate.draft_file import DraftFile
from repoassay.curate.thresholds import MARGIN, MeasuredCriterion, Threshold
from repoassay.mutants import Battery, battery_record
from repoassay.types import Outcome, Verdict

__all__ = ["MeasuredDraft"]


@dataclass(frozen=True, slots=True)
class MeasuredDraft:
    """What was measured of all outputs, the thresholds that follow, and what speaks against the draft."""

    criteria: tuple[MeasuredCriterion, ...]
    thresholds: tuple[Threshold | None, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    battery: Battery | None = None

    @property
    def margin(self) -> float | None:
        """The smallest margin of a criterion that refuses something."""
        return min((each.margin for each in self.thresholds if each), default=None)

    def checked(self, verdicts: Sequence[tuple[str, str, Verdict]]) -> MeasuredDraft:
        """With what graders make of every output with these thresholds."""
        wrong = [
            f"{name} is to be {'accepted' if kind == 'accepting' else 'refused'} and ended as {verdict.outcome.value}"
            for kind, name, verdict in verdicts
            if (verdict.outcome is Outcome.PASSED) != (kind == "accepting")
        ]
        return replace(self, problems=(*self.problems, *wrong))

    def mutated(self, battery: Battery) -> MeasuredDraft:
        """With what graders make of the reference's outputs made wrong, and of those written otherwise."""
        thin = [
            f"the wrong output {each.title} is accepted: the margin is thin; give an output to refuse that is like it"
            for each in battery.survivors
        ]
        strict = [f"the output {each.title} is right, and is refused: {each.comment}" for each in battery.refused]
        return replace(self, problems=(*self.problems, *thin, *strict), battery=battery)

    def facts(self, draft: DraftFile) -> dict[str, Any]:
        """The evidence."""
        entries = []
        for criterion, measured, threshold in zip(draft.criterion, self.criteria, self.thresholds, strict=True):
            entries.append({
                "metric": criterion.metric, "of": criterion.of, "side": measured.side,
                "threshold": threshold.value if threshold else None,
                "worst_accepting": threshold.worst_good if threshold else None,
                "best_refusing": threshold.best_bad if threshold else None,
                "margin": round(threshold.margin, 4) if threshold else None,
                "refuses": list(threshold.refuses) if threshold else [],
                "accepting": {name: "none" if value is None else value for name, value in measured.good.items()},
                "refusing": {name: "none" if value is None else value for name, value in measured.bad.items()},
            })  # fmt: skip
        return {
            "task": draft.task.id, "admitted": not self.problems, "problems": list(self.problems),
            "notes": list(self.notes), "least_margin": MARGIN, "margin": self.margin,
            "mutants": _battery_facts(self.battery) if self.battery else None, "criterion": entries,
        }  # fmt: skip


def _battery_facts(battery: Battery) -> dict[str, Any]:
    """What became of mutants, in numbers and by name."""
    return {key: value for key, value in battery_record(battery).items() if key != "mutants"}
