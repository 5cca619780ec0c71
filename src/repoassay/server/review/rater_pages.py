"""A lead's view of raters: controls they caught, drift, expertise, hours and pay."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from repoassay.errors import BadInput
from repoassay.review import (
    Golden,
    control_accuracy,
    correct_hours,
    expertise_of,
    hours_of,
    hours_to_csv,
    items_of,
    rater_drift,
    set_pay,
)
from repoassay.server.review.auth import AsLead, Form, Here, Led
from repoassay.server.review.lead_data import gather
from repoassay.server.review.lead_pages import rater_in
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}/raters")


@router.get("")
def raters(desk: Here, led: AsLead) -> Response:
    """Everything about raters."""
    return _page(desk, led, "")


def _page(desk: ReviewState, led: Led, wrong: str) -> Response:
    known = gather(desk.database, led.study)
    hidden = {item.id: item.hidden for item in items_of(desk.database, led.study) if item.hidden.golden is not None}
    state = (len(known.versions), len(known.settled))
    drift = desk.cached(
        f"{led.study} drift", state, lambda: rater_drift(known.ratings, hidden, known.rubric, known.study.seed)
    )
    bad = sum(each.golden is Golden.BAD for each in hidden.values())
    return page(
        "raters.html", 422 if wrong else 200, viewer=led.viewer, study=known.study, known=known, tab="raters",
        wrong=wrong, accuracy=control_accuracy(known.ratings, hidden, known.rubric), drift=drift, bad=bad,
        good=len(hidden) - bad, hours=hours_of(desk.database, led.study),
        expertise=sorted(expertise_of(desk.database, led.study).items()),
    )  # fmt: skip


@router.post("/pay")
def pay(desk: Here, led: AsLead, form: Form) -> Response:
    """Set what an hour pays."""
    try:
        rate, currency = str(form.get("rate", "")), str(form.get("currency", ""))
        set_pay(desk.database, led.study, rate, currency, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}/raters", 303)


@router.post("/hours/{rater}")
def correct(desk: Here, led: AsLead, rater: str, form: Form) -> Response:
    """Correct a rater's time."""
    try:
        minutes = float(str(form.get("minutes", "")))
    except ValueError:
        minutes = float("nan")
    try:
        reason = str(form.get("reason", ""))
        correct_hours(desk.database, rater_in(desk, led, rater), minutes, reason, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}/raters", 303)


@router.get("/hours.csv")
def hours(desk: Here, led: AsLead) -> Response:
    """Hours and pay as a table."""
    headers = {"Content-Disposition": f'attachment; filename="{led.study}-hours.csv"'}
    text = hours_to_csv(hours_of(desk.database, led.study))
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
