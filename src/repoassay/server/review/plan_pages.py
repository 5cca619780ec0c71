"""A study's plan: written before the first rating, frozen, amended with reasons; items taken out of the figures."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from repoassay.errors import BadInput
from repoassay.review import (
    amend_plan,
    amendments_of,
    complete_plan,
    decide_item,
    excluded_items,
    freeze_plan,
    inclusions_of,
    item_names,
    items_of,
    parse_plan,
    plan_of,
    read_rubric_of,
    save_plan,
    study_of,
)
from repoassay.server.review.auth import AsLead, Form, Here, Led
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}/plan")
_WORDS = ("question", "sampling_frame", "raters", "analysis")


@router.get("")
def plan_page(desk: Here, led: AsLead) -> Response:
    """The plan, its amendments, and what is out of the figures."""
    return _page(desk, led, "")


def _page(desk: ReviewState, led: Led, wrong: str) -> Response:
    log = inclusions_of(desk.database, led.study)
    return page(
        "plan.html", 422 if wrong else 200, viewer=led.viewer, study=study_of(desk.database, led.study), tab="plan",
        wrong=wrong, stored=plan_of(desk.database, led.study), amendments=amendments_of(desk.database, led.study),
        names=item_names(desk.database, led.study), excluded=excluded_items(log),
        # Which item is whose is not told here: leads settle disputes blind.
        decisions=[each for each in log if each.item and each.actor and each.at], left_out=[
            each for each in log if not each.item and not each.included
        ],
    )  # fmt: skip


def _done(led: Led) -> Response:
    return RedirectResponse(f"/review/studies/{led.study}/plan", 303)


@router.post("")
def write_plan(desk: Here, led: AsLead, form: Form) -> Response:
    """Keep what is written in place of what was; names and numbers stay as the study has them."""
    try:
        answers = parse_plan({key: str(form.get(key, "")) for key in _WORDS})
        study, rubric = study_of(desk.database, led.study), read_rubric_of(desk.database, led.study)
        plan = complete_plan(study, rubric, items_of(desk.database, led.study), answers)
        before = plan_of(desk.database, led.study)
        if before is not None:
            kept = ("agents", "tasks", "runs_per_task", "rubric", "rubric_digest")
            plan = plan.model_copy(update={name: getattr(before.plan, name) for name in kept})
        save_plan(desk.database, led.study, plan, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return _done(led)


@router.post("/freeze")
def freeze_for_good(desk: Here, led: AsLead, form: Form) -> Response:
    """Let the plan change no more."""
    if not form.get("sure"):
        return _page(desk, led, "A frozen plan can only be amended. Tick the box to freeze it.")
    try:
        freeze_plan(desk.database, led.study, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return _done(led)


@router.post("/amend")
def amend(desk: Here, led: AsLead, form: Form) -> Response:
    """Add a dated amendment."""
    fields = {name: str(form.get(name, "")) for name in ("author", "change", "reason")}
    try:
        amend_plan(desk.database, led.study, **fields, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return _done(led)


@router.post("/items")
def decide(desk: Here, led: AsLead, form: Form) -> Response:
    """Take an item out of the figures, or back into them."""
    included, item, reason = form.get("included") == "yes", str(form.get("item", "")), str(form.get("reason", ""))
    try:
        decide_item(
            desk.database, led.study, item, included=included, reason=reason, at=desk.now(), actor=led.viewer.id
        )  # fmt: skip
    except BadInput as error:
        return _page(desk, led, str(error))
    return _done(led)
