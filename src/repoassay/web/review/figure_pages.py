"""Figures of a study: tests beside people, failure modes, minutes, problems, agreement, controls, order, severity."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from repoassay.model import Phase
from repoassay.review.conduct import anchoring, order_effects, severity
from repoassay.review.failures import failure_table, problems_per_submission
from repoassay.review.gap import gap
from repoassay.review.golden import controls
from repoassay.review.minutes import minutes_to_fix
from repoassay.review.reliability import agreement, beside_tests
from repoassay.review.reviewed import reviewed, set_aside
from repoassay.review.studies import items_of
from repoassay.web.review.desk import Desk
from repoassay.web.review.gathered import Gathered, gather
from repoassay.web.review.guard import AsLead, Here
from repoassay.web.review.pages import page

__all__ = ["figures_of", "router"]

router = APIRouter(prefix="/studies/{study}")
_DRAWS = 300


@router.get("/figures")
def figures(desk: Here, led: AsLead, phase: Phase = Phase.BLIND) -> Response:
    """Every figure, with its denominator and interval."""
    known = gather(desk.database, led.study, phase)
    state = (len(known.versions), len(known.settled))
    values = desk.cached(f"{led.study} {phase.value}", state, lambda: figures_of(desk, led.study, known))
    assert isinstance(values, dict)
    return page("figures.html", viewer=led.viewer, study=known.study, known=known, tab="figures", **values)


def figures_of(desk: Desk, study: str, known: Gathered) -> dict[str, Any]:
    """Compute what the page shows; some seconds for 2,000 ratings, nearly all of it the bootstrap of agreement."""
    rows = reviewed(items_of(desk.database, study), known.ratings, known.rubric, known.settled)
    kept, out = set_aside(rows)
    short = [row for row in kept if row.raters < known.study.min_raters]
    return {
        "rows": kept,
        "out": out,
        "short": len(short),
        "derived": gap(kept),
        "asked": gap(kept, asked=True),
        "beside": beside_tests(kept, known.rubric),
        "failures": failure_table(kept, known.rubric),
        "problems": problems_per_submission(kept, known.rubric),
        "minutes": minutes_to_fix(kept),
        "agreement": agreement(known.ratings, known.rubric, draws=_DRAWS) if known.ratings else (),
        "controls": controls(kept),
        "order": order_effects(known.ratings, known.rubric),
        "severity": severity(known.ratings, known.rubric),
        "anchoring": anchoring(known.versions),
    }
