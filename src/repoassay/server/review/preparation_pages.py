"""A lead prepares raters: instructions with versions, items that train and qualify, the agreement that is needed."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from repoassay.errors import BadInput
from repoassay.review import (
    AnswerKey,
    ItemUse,
    allow_another_try,
    instructions_of,
    item_names,
    read_rubric_of,
    require_agreement,
    required_agreement,
    study_of,
    use_item,
    uses_of,
    write_instructions,
)
from repoassay.server.review.auth import AsLead, Form, Here, HTTPDenied, Led
from repoassay.server.review.lead_pages import rater_in
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}/preparation")


@router.get("")
def preparation(desk: Here, led: AsLead) -> Response:
    """Instructions, and what prepares raters."""
    return _page(desk, led, "")


def _page(desk: ReviewState, led: Led, wrong: str) -> Response:
    return page(
        "preparation.html", 422 if wrong else 200, viewer=led.viewer, study=study_of(desk.database, led.study),
        tab="preparation", wrong=wrong, instructions=instructions_of(desk.database, led.study),
        agreement=required_agreement(desk.database, led.study), uses=uses_of(desk.database, led.study),
        names=item_names(desk.database, led.study), rubric=read_rubric_of(desk.database, led.study),
    )  # fmt: skip


@router.post("/instructions")
def instruct(desk: Here, led: AsLead, form: Form) -> Response:
    """Add a version of the instructions."""
    try:
        write_instructions(desk.database, led.study, str(form.get("text", "")), at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}/preparation", 303)


@router.post("/agreement")
def state_agreement(desk: Here, led: AsLead, form: Form) -> Response:
    """State the agreement that qualifies, in percent."""
    try:
        text = str(form.get("percent", ""))
        share = int(text) / 100 if text.isascii() and text.isdigit() and len(text) <= 3 else -1.0
        require_agreement(desk.database, led.study, share, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}/preparation", 303)


@router.get("/{item}")
def show_use(desk: Here, led: AsLead, item: str) -> Response:
    """What one item is for, and the lead's answers to it."""
    return _one(desk, led, item, "")


def _one(desk: ReviewState, led: Led, item: str, wrong: str) -> Response:
    if item not in item_names(desk.database, led.study):
        raise HTTPDenied(404, "There is no such item in this study.")
    use, key = uses_of(desk.database, led.study).get(item, (ItemUse.LIVE, AnswerKey()))
    return page(
        "prepare_item.html", 422 if wrong else 200, viewer=led.viewer, study=study_of(desk.database, led.study),
        tab="preparation", wrong=wrong, item=item, use=use, given=key, uses=list(ItemUse),
        rubric=read_rubric_of(desk.database, led.study),
    )  # fmt: skip


@router.post("/{item}")
def prepare(desk: Here, led: AsLead, item: str, form: Form) -> Response:
    """Say what an item is for."""
    rubric = read_rubric_of(desk.database, led.study)
    states = {axis.key: state for axis in rubric.axes if (state := str(form.get(f"state.{axis.key}", "")))}
    merge = {"yes": True, "no": False}.get(str(form.get("would_merge", "")))
    try:
        key = AnswerKey(states=states, would_merge=merge, feedback=str(form.get("feedback", "")))
        use = ItemUse(str(form.get("use", "")))
    except ValueError:  # pydantic's error is one too
        return _one(desk, led, item, "The form holds something else than what is offered.")
    try:
        use_item(desk.database, led.study, item, use, key, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return _one(desk, led, item, str(error))
    return RedirectResponse(f"/review/studies/{led.study}/preparation", 303)


@router.post("/again/{rater}")
def again(desk: Here, led: AsLead, rater: str, _: Form) -> Response:
    """Let somebody who failed the qualification try again."""
    allow_another_try(desk.database, rater_in(desk, led, rater), at=desk.now(), actor=led.viewer.id)
    return RedirectResponse(f"/review/studies/{led.study}", 303)
