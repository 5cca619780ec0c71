"""What a lead does to a study's plan: freeze it, amend it, and take items out of the figures or back in."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from repoassay.errors import BadInput
from repoassay.review import amend_plan, decide_item, freeze_plan
from repoassay.server.review.auth import AsLead, Form, Here
from repoassay.server.review.lead_pages import study_page

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}/plan")


@router.post("/freeze")
def freeze_by_form(desk: Here, led: AsLead, _: Form) -> Response:
    """Let the plan change no more."""
    try:
        freeze_plan(desk.database, led.study, at=desk.now(), actor=led.viewer.id)
    except BadInput as error:
        return study_page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}#plan", 303)


@router.post("/amend")
def amend_by_form(desk: Here, led: AsLead, form: Form) -> Response:
    """Add a dated amendment with its reason."""
    author, change, reason = (str(form.get(key, "")) for key in ("author", "change", "reason"))
    try:
        amend_plan(
            desk.database, led.study, author=author, change=change, reason=reason, at=desk.now(), actor=led.viewer.id
        )
    except BadInput as error:
        return study_page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}#plan", 303)


@router.post("/decide")
def decide_by_form(desk: Here, led: AsLead, form: Form) -> Response:
    """Take an item out of the figures, or back in, with the reason."""
    item, reason, included = str(form.get("item", "")), str(form.get("reason", "")), form.get("what") == "include"
    try:
        decide_item(
            desk.database, led.study, item, included=included, reason=reason, at=desk.now(), actor=led.viewer.id
        )
    except BadInput as error:
        return study_page(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}#plan", 303)
