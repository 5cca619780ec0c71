"""Figures of a study: tests beside people, failure modes, minutes, problems, agreement, controls, order, severity."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from repoassay.review import (
    agreement,
    anchoring,
    beside_tests,
    controls,
    failure_table,
    gap,
    items_of,
    minutes_to_fix,
    order_effects,
    problems_per_submission,
    set_aside,
    severity,
    summarize_items,
)
from repoassay.server.review.auth import AsLead, Here
from repoassay.server.review.lead_data import LeadData, gather
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.types import RatingPhase

__all__ = ["figures_of", "router"]

router = APIRouter(prefix="/studies/{study}")
_DRAWS = 300


@router.get("/figures")
def figures(desk: Here, led: AsLead, phase: RatingPhase = RatingPhase.BLIND) -> Response:
    """Every figure, with its denominator and interval."""
    known = gather(desk.database, led.study, phase)
    state = (len(known.versions), len(known.settled))
    values = desk.cached(f"{led.study} {phase.value}", state, lambda: figures_of(desk, led.study, known))
    assert isinstance(values, dict)
    return page("figures.html", viewer=led.viewer, study=known.study, known=known, tab="figures", **values)


def figures_of(desk: ReviewState, study: str, known: LeadData) -> dict[str, Any]:
    """Compute what the page shows; some seconds for 2,000 ratings, nearly all of it the bootstrap of agreement."""
    rows = summarize_items(items_of(desk.database, study), known.ratings, known.rubric, known.settled)
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
