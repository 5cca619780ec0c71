"""Studies, scripts and model proxies that many tests of judges begin with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from repoassay.db import Database
from repoassay.judges.client import open_judge
from repoassay.judges.definition import Definition, Parameters
from repoassay.judges.judging import JudgingResult, JudgingStep, judge_study
from repoassay.judges.prompt import bundled_templates
from repoassay.judges.store import JudgeRecord, seat
from repoassay.model_proxy import Dialogue, ScriptedUpstream, Turn
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload
from repoassay.types import Spending
from repoassay.types.usage import Usage
from review.samples import NOW, RUBRIC, study

DIFF = """\
diff --git a/calc/add.py b/calc/add.py
--- a/calc/add.py
+++ b/calc/add.py
@@ -3,3 +3,4 @@ def add(a, b):
     first = a
-    return first
+    total = first + b
+    return total
 # end
"""
STATES = {"p": "problem", "c": "no_problem", "n": "not_applicable", "u": "unsure"}
GOOD = {"path": "calc/add.py", "side": "new", "line": 4, "quote": "total = first + b"}


def reply(letter: str = "c", **more: Any) -> str:
    """Return a good answer: p problem, c clear, n not applicable, u unsure."""
    evidence = [] if letter in "nu" else [GOOD]
    return json.dumps({"state": STATES[letter], "evidence": evidence, "why": "It adds."} | more)


def turns(letters: Iterable[str]) -> list[Turn]:
    """Return one turn a letter, each of 1,000 tokens in and 100 out."""
    return [said(reply(letter)) for letter in letters]


def said(text: str, **more: Any) -> Turn:
    """Return a turn that says a text."""
    return Turn(**{"text": text, "usage": Usage(input=1000, output=100)} | more)


def items(count: int, **more: Any) -> list[Item]:
    """Return items `i0`..., each a run of a task of its own."""
    return [
        Item(
            id=f"i{number}",
            payload=ItemPayload(**{"title": "Add", "issue": "Make it add.", "diff": DIFF} | more),
            hidden=HiddenPart(task=f"t{number}", system="agent-x with gpt-4.1", agent="agent-x", model="openai/gpt-4.1",
                          tests=True),
        )
        for number in range(count)
    ]  # fmt: skip


def begin(database: Database, given: Sequence[Item], model: str = "scripted/judge", **more: Any) -> JudgeRecord:
    """Create the study `st` and seat a judge in it."""
    create_study(database, study(**more), RUBRIC, given, at=NOW, by="lead")
    return seat(database, "st", definition(model), at=NOW)


def definition(model: str = "scripted/judge", **parameters: Any) -> Definition:
    """Return a judge with the package's own prompt."""
    system, user = bundled_templates()
    return Definition(model=model, rubric=RUBRIC.digest, system=system, user=user, parameters=Parameters(**parameters))


def judged(
    database: Database,
    judge: JudgeRecord,
    script: Sequence[Turn],
    folder: Path,
    steps: list[JudgingStep] | None = None,
    **more: Any,
) -> tuple[JudgingResult, Spending]:
    """Let a judge work through a real model proxy, with a scripted model behind it."""
    upstream = ScriptedUpstream(Dialogue(turn=tuple(script)))
    with open_judge(judge, [upstream], folder / "usage.jsonl") as door:
        done = judge_study(
            database, judge, door.asker, on_step=(steps if steps is not None else []).append, **{"samples": 1} | more
        )
        return done, door.totals()
