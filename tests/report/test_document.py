"""The JSON document: stable, whole, and JSON.

Regenerate the golden file with: REPOASSAY_GOLDEN=write pytest tests/report
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report import encoded_attempts, summarise, summary_document
from repoassay.report.document import plain_value
from repoassay.types import Attempt, CriterionResult, Outcome, Verdict

MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]
GOLDEN = Path(__file__).parent / "golden" / "report.json"


def dumped(run: RunFolder) -> str:
    found = summary_document(summarise(run))
    return json.dumps(found | {"attempts": plain_value(list(found["attempts"]))}, indent=2, allow_nan=False)


def loaded(run: RunFolder) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    found: dict[str, Any] = json.loads(dumped(run), parse_constant=refuse)
    return found


def test_the_whole_document(varied: RunFolder) -> None:
    found = dumped(varied).replace(json.dumps(str(varied.path)), '"RUN"') + "\n"
    if os.environ.get("REPOASSAY_GOLDEN") == "write":
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_it_is_ascii_and_harmless_on_a_terminal(varied: RunFolder) -> None:
    found = dumped(varied)
    assert found.isascii()
    assert all(line.isprintable() for line in found.splitlines())
    # and nothing is lost by it
    assert any("\u202egnp.exe" in c for item in loaded(varied)["attempts"] for c in item["verdict"]["comments"])


def test_counts_agree_with_each_other(varied: RunFolder) -> None:
    found = loaded(varied)
    standing = [item["standing"] for item in found["attempts"]]
    assert (found["planned"], found["finished"], found["unfinished"], found["superseded"]) == (20, 19, 1, 2)
    assert standing.count("counts") == found["finished"]
    assert found["missing"] == [{"task": "task-10", "agent": "beta", "number": 1}]
    for agent in found["agents"]:
        assert sum(agent["outcomes"].values()) == agent["finished"]
        assert agent["tpr"]["all"]["n"] == agent["planned"] == agent["tpr"]["judged"]["n"] + agent["tpr"]["unknown"]


def test_undefined_is_null(make_run: MakeRun) -> None:
    rate = loaded(make_run(tasks=1))["agents"][0]["tpr"]["judged"]
    assert rate == {"successes": 0, "n": 0, "value": None, "low": None, "high": None, "method": "undefined"}


def test_numbers_that_are_not_finite_are_null(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    criterion = CriterionResult(
        stage="result", metric="psnr", of="a.png", value=float("inf"), threshold=">= 30", passed=True
    )
    verdict = Verdict(
        task="task-01", task_digest=f"{1:064x}", outcome=Outcome.PASSED, process=True, result=True,
        criteria=(criterion,), grader="g", graded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    put(run, "task-01", verdict=verdict)
    assert loaded(run)["attempts"][0]["verdict"]["criteria"][0]["value"] is None
    (text,) = encoded_attempts(summarise(run))
    assert json.loads(str(text)) == loaded(run)["attempts"][0]


def test_money_is_exact_text_and_nan_is_null() -> None:
    assert plain_value({"a": Decimal("0.10"), "b": (float("nan"), None, Outcome.PASSED)}) == {
        "a": "0.10",
        "b": [None, None, "passed"],
    }


def test_attempts_that_are_encoded_say_the_same(varied: RunFolder, put: Put) -> None:
    verdict = next(varied.path.glob("attempts/*/verdict.json"))
    record = json.loads(verdict.read_bytes())
    odd = ["caf\u00e9 \U0001f600 \x7f \x1b[31m \u2028", 'a\\"b']
    verdict.write_text(json.dumps({**record, "comments": odd}))
    summary = summarise(varied)
    texts = list(encoded_attempts(summary))
    assert all(isinstance(text, str) and text.isascii() and text.isprintable() for text in texts)
    assert [json.loads(str(text)) for text in texts] == loaded(varied)["attempts"]
    assert any(json.loads(str(text))["verdict"]["comments"] == odd for text in texts)


def test_an_attempt_that_cannot_be_read_any_more_is_a_sentence(varied: RunFolder) -> None:
    summary = summarise(varied)
    next(varied.path.glob("attempts/*/verdict.json")).unlink()
    with pytest.raises(BadInput, match="cannot be read back"):
        list(encoded_attempts(summary))
    assert gc.isenabled()
