"""Predictions judged by the engine that judges any patches, with SWE-bench's reports written as verdicts come."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.benchmarks.swebench.predictions import Prediction
from repoassay.benchmarks.swebench.reports import (
    has_report,
    instance_report,
    report_place,
    run_place,
    run_report,
    write_json,
)
from repoassay.engine import SubmissionEngine
from repoassay.tasks import TaskFolder
from repoassay.types import Attribution, Outcome, Verdict

__all__ = ["Evaluation", "evaluate_predictions", "sorted_predictions"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What predictions came to.

    Attributes:
        verdicts: By instance, of predictions that hold a patch.
        report: Content of the run's report.
        place: The file it was written to.
    """

    verdicts: Mapping[str, Verdict]
    report: Mapping[str, object]
    place: Path

    def count(self, key: str) -> int:
        """A count of the report, such as `resolved`."""
        found = self.report[f"{key}_instances"]
        assert isinstance(found, int)
        return found

    @property
    def reasons(self) -> Counter[str]:
        """Why predictions count as errors, with how many do."""
        words = {
            Outcome.NO_OUTPUT: "the patch changes nothing",
            Outcome.PATCH_FAILED: "the patch does not apply",
            Outcome.TIMED_OUT: "the tests ran out of time",
        }
        return Counter(words.get(verdict.outcome, "we could not judge it") for verdict in self.errors.values())

    @property
    def errors(self) -> dict[str, Verdict]:
        """The verdicts that count as errors, by instance."""
        return {name: verdict for name, verdict in self.verdicts.items() if not has_report(verdict)}

    @property
    def unjudged(self) -> int:
        """How many predictions we could not judge."""
        return self.reasons["we could not judge it"]


def evaluate_predictions(
    engine: SubmissionEngine,
    predictions: Mapping[str, Prediction],
    instances: Collection[str],
    folder: Path,
    run_id: str,
    *,
    cancel: threading.Event,
    progress: Callable[[Prediction, Verdict, bool], object] = lambda prediction, verdict, cached: None,
) -> Evaluation | None:
    """Judge predictions and write their reports; None when it was given up, which keeps the reports there are.

    Args:
        engine: With the tasks of the instances.
        predictions: By instance.
        instances: Every instance of the data set.
        folder: Where `logs/` and the run's report go.
        run_id: Name of the run.
        cancel: Set it to give up what is under way.
        progress: Told of each verdict, and whether it was known already.
    """
    pending = sorted_predictions([each for each in predictions.values() if not each.is_empty], engine.tasks)
    verdicts: dict[str, Verdict] = {}
    answers = engine.grade_many(((each.instance, each.patch) for each in pending), cancel)
    for prediction, answer in zip(pending, answers, strict=False):
        verdict = answer.verdict
        verdicts[prediction.instance] = verdict
        place = report_place(folder, run_id, prediction)
        if has_report(verdict):
            tests = engine.task(prediction.instance).task.hidden_tests
            write_json(instance_report(prediction, tests, verdict), place)
        else:
            place.unlink(missing_ok=True)  # of an earlier run with this name, whose verdict was another
        progress(prediction, verdict, answer.cached)
    if cancel.is_set():
        return None
    resolved = {name: each.outcome is Outcome.PASSED for name, each in verdicts.items() if has_report(each)}
    unjudged = {name: each.outcome for name, each in verdicts.items() if each.outcome.whose is not Attribution.AGENT}
    report = run_report(instances, predictions, resolved, unjudged)
    place = run_place(folder, run_id, next(iter(predictions.values())).model)
    write_json(report, place)
    return Evaluation(verdicts, report, place)


def sorted_predictions(predictions: Sequence[Prediction], tasks: Mapping[str, TaskFolder]) -> list[Prediction]:
    """Return predictions so that those whose tasks share an environment follow each other: it is made once.

    Workers then wait for one environment at the beginning of each group, and not for a new one each time.
    """

    def key(prediction: Prediction) -> tuple[str, str, str]:
        folder = tasks.get(prediction.instance)
        if folder is None:
            return ("", "", prediction.instance)
        wanted = folder.task.environment
        file = folder.path / wanted.resolve if wanted.resolve else None
        listed = file.read_text("utf-8", "replace") if file is not None else ""
        return (f"{wanted.python} {wanted.exclude_newer} {listed}", folder.task.repository.source, prediction.instance)

    return sorted(predictions, key=key)
