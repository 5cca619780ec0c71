"""Figures of a study: tests beside people, failure modes, minutes, problems, agreement, controls, order, severity."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from repoassay.review import (
    amendments_of,
    anchoring,
    beside_tests,
    inclusions_of,
    items_of,
    plan_of,
    set_aside,
    study_figures,
    summarize_items,
)
from repoassay.server.review.auth import AsLead, Here
from repoassay.server.review.lead_data import LeadData, gather
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.types import RatingPhase

__all__ = ["figures_of", "router"]

router = APIRouter(prefix="/studies/{study}")


@router.get("/figures")
def figures(desk: Here, led: AsLead, phase: RatingPhase = RatingPhase.BLIND) -> Response:
    """Every figure, with its denominator and interval."""
    known = gather(desk.database, led.study, phase)
    state = (
        len(known.versions), len(known.settled), len(inclusions_of(desk.database, led.study)),
        len(amendments_of(desk.database, led.study)),
    )  # fmt: skip
    values = desk.cached(f"{led.study} {phase.value}", state, lambda: figures_of(desk, led.study, known))
    assert isinstance(values, dict)
    return page("figures.html", viewer=led.viewer, study=known.study, known=known, tab="figures", **values)


def figures_of(desk: ReviewState, study: str, known: LeadData) -> dict[str, Any]:
    """Compute what the page shows."""
    found = study_figures(desk.database, study, known.phase)
    rows = summarize_items(items_of(desk.database, study), known.ratings, known.rubric, known.settled)
    kept, out = set_aside(rows, found.excluded)
    short = [row for row in kept if row.raters < known.study.min_raters]
    plan = plan_of(desk.database, study)
    return {
        "document": found,
        "digest": found.plan_hash,
        "frozen": None if plan is None else plan.frozen,
        "amendments": found.amendments,
        "rows": kept,
        "out": out,
        "short": len(short),
        "derived": found.gap,
        "asked": found.asked,
        "beside": beside_tests(kept, known.rubric),
        "failures": found.failures,
        "problems": found.problems,
        "minutes": found.minutes,
        "agreement": found.agreement,
        "controls": found.controls,
        "order": found.order,
        "severity": found.severity,
        "anchoring": anchoring(known.versions),
    }
