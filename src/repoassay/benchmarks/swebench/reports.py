"""SWE-bench's report files: one of each instance, and one of a whole run, with the keys of its versions 4 and 5.

As with SWE-bench an instance has a report when its tests ran: a patch that could not be applied and tests that ran out
of time leave none, and count as errors beside those that we could not judge.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from repoassay.benchmarks.swebench.predictions import Prediction
from repoassay.types import HiddenTests, Outcome, Verdict

__all__ = ["SCHEMA", "has_report", "instance_report", "report_place", "run_place", "run_report", "write_json"]

SCHEMA = 2
"""`schema_version` of SWE-bench's run reports."""
_WITHOUT = frozenset(
    {Outcome.NO_OUTPUT, Outcome.PATCH_FAILED, Outcome.TIMED_OUT, Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE}
)


def has_report(verdict: Verdict) -> bool:
    """Whether SWE-bench would have written a report: the patch was applied and the tests ran to their end."""
    return verdict.outcome not in _WITHOUT


def instance_report(prediction: Prediction, tests: HiddenTests, verdict: Verdict) -> dict[str, object]:
    """Return the content of an instance's `report.json`.

    Tests that count nothing here, since the solution does not pass them either, are in none of the lists.
    """
    passed = {test.id for test in verdict.tests if test.outcome == "passed"}
    known = {test.id for test in verdict.tests}
    resolved = verdict.outcome is Outcome.PASSED

    def divided(ids: Iterable[str], *, required: bool) -> dict[str, list[str]]:
        counted = [name for name in ids if required or not known or name in known]
        return {
            "success": [name for name in counted if resolved or name in passed],
            "failure": [name for name in counted if not (resolved or name in passed)],
        }

    status = {
        "FAIL_TO_PASS": divided(tests.fail_to_pass, required=True),
        "PASS_TO_PASS": divided(tests.pass_to_pass, required=False),
        "FAIL_TO_FAIL": divided((), required=True),
        "PASS_TO_FAIL": divided((), required=True),
    }
    facts = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
        "tests_status": status,
    }
    return {prediction.instance: facts}


def report_place(folder: Path, run_id: str, prediction: Prediction) -> Path:
    """The file of an instance's report below a folder, as SWE-bench places it."""
    model, instance = _component(prediction.model), _component(prediction.instance)
    return folder / "logs" / "run_evaluation" / _component(run_id) / model / instance / "report.json"


def run_place(folder: Path, run_id: str, model: str) -> Path:
    """The file of a run's report in a folder."""
    return folder / f"{_component(model)}.{_component(run_id)}.json"


def run_report(
    instances: Iterable[str],
    predictions: Mapping[str, Prediction],
    resolved: Mapping[str, bool],
    unjudged: Mapping[str, Outcome],
) -> dict[str, object]:
    """Return the content of `MODEL.RUN_ID.json`.

    Args:
        instances: Every instance of the data set.
        predictions: By instance.
        resolved: Whether an instance that has a report is resolved.
        unjudged: Outcome of each instance that we could not judge. Among the errors, version 5 lists failures of the
            infrastructure, which are our own faults, and doubtful ones, which no task here can tell.
    """
    every = set(instances)
    prediction_ids = every & predictions.keys()
    empty = {name for name in prediction_ids if predictions[name].is_empty}
    completed = (prediction_ids - empty) & resolved.keys()
    ids: dict[str, set[str]] = {
        "completed_ids": completed,
        "incomplete_ids": every - predictions.keys(),
        "empty_patch_ids": empty,
        "submitted_ids": set(predictions),
        "resolved_ids": {name for name in completed if resolved[name]},
        "unresolved_ids": {name for name in completed if not resolved[name]},
        "error_ids": prediction_ids - empty - completed,
    }
    for key, outcome in (("infra_failure_ids", Outcome.INFRA_FAULT), ("ambiguous_failure_ids", Outcome.NOT_GRADABLE)):
        ids[key] = {name for name in ids["error_ids"] if unjudged.get(name) is outcome}
    counts = {key.replace("_ids", "_instances"): len(ids[key]) for key in ids if key != "incomplete_ids"}
    return {
        "total_instances": len(every),
        **counts,
        **{key: sorted(names) for key, names in ids.items()},
        "failure_reasons": {name: unjudged[name].value for name in sorted(ids["error_ids"] & unjudged.keys())},
        "schema_version": SCHEMA,
        "unstopped_instances": 0,
        "unstopped_containers": [],
        "unremoved_images": [],
    }


def write_json(content: Mapping[str, object], path: Path) -> None:
    """Write a report, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    part.write_text(json.dumps(content, indent=4) + "\n", encoding="utf-8")
    part.replace(path)


def _component(name: str) -> str:
    """A name as one folder's: SWE-bench writes `/` as `__`; what else no folder may be called is replaced."""
    plain = re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "_", name.replace("/", "__"))[:200]
    return "_" if plain in {"", ".", ".."} else plain
