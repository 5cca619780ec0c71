"""Adjudication: what raters disagree on, most first, and settling it axis by axis."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from repoassay.errors import BadInput
from repoassay.review import (
    Adjudication,
    DisagreementCause,
    append,
    comments_on,
    consensus,
    disputes,
    hidden_of,
    is_closed,
    item_names,
    settle,
)
from repoassay.server.review.auth import AsLead, Form, Here, HTTPDenied, Led
from repoassay.server.review.change_index import ChangeIndex
from repoassay.server.review.context_lines import ContextGap
from repoassay.server.review.diff_fragments import context_page, diff_page, file_list, version_page
from repoassay.server.review.lead_data import gather
from repoassay.server.review.outputs import send_output, shown_of, version_of
from repoassay.server.review.pages import page
from repoassay.server.review.reveal import evidence_of
from repoassay.server.review.review_state import ReviewState, ShownItem

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}")
Place = Annotated[int, Query(ge=0, le=10**6)]
Line = Annotated[int, Query(ge=1, le=10**9)]
_FAST = 0.25


@router.get("/disputes")
def queue(desk: Here, led: AsLead) -> Response:
    """The adjudication queue."""
    known = gather(desk.database, led.study)
    line = disputes(known.ratings, known.rubric, known.settled)
    return page(
        "disputes.html", viewer=led.viewer, study=known.study, rubric=known.rubric, disputes=line, tab="disputes",
        known=known, settled=known.settled,
    )  # fmt: skip


@router.get("/items")
def all_items(desk: Here, led: AsLead) -> Response:
    """Every item, with its labels."""
    known = gather(desk.database, led.study)
    labels = consensus(known.ratings, known.rubric, known.settled)
    names = item_names(desk.database, led.study)
    counts = {name: sum(rating.submission == name for rating in known.ratings) for name in names}
    return page(
        "items.html", viewer=led.viewer, study=known.study, rubric=known.rubric, names=names, labels=labels,
        counts=counts, tab="items",
    )  # fmt: skip


@router.get("/items/{item}")
def one(desk: Here, led: AsLead, item: str, made: bool = False) -> Response:
    """One item with everybody's answers; who made it only when asked for, which the log keeps."""
    return _one(desk, led, item, made, "")


def _one(desk: ReviewState, led: Led, item: str, made: bool, wrong: str) -> Response:
    shown = _item(desk, led, item)
    known = gather(desk.database, led.study)
    labels = consensus(known.ratings, known.rubric, known.settled).get(item, {})
    mine = [rating for rating in known.ratings if rating.submission == item]
    line = sorted(mine, key=lambda rating: known.name(rating.rater))
    typical = sorted(rating.active_seconds for rating in known.ratings)
    base = f"/review/studies/{led.study}/items/{item}"
    fast = _FAST * typical[len(typical) // 2] if typical else 0.0
    evidence = None
    if made:
        evidence = evidence_of(hidden_of(desk.database, led.study, item), lead=True)
        desk.database.write(
            lambda connection: append(connection, led.study, desk.now(), "unmasked", led.viewer.id, item)
        )
    return page(
        "settle.html", 422 if wrong else 200, viewer=led.viewer, study=known.study, rubric=known.rubric, item=item,
        shown=shown, ratings=line, known=known, labels=labels, causes=list(DisagreementCause), tab="items", wrong=wrong,
        comments=comments_on(desk.database, led.study, item), outputs=shown_of(desk, shown.payload.outputs),
        evidence=evidence, fast=fast, closed=is_closed(desk.database, led.study), **file_list(shown, 0, base),
        index=ChangeIndex(desk.blobs, shown),
        versions=[rating for rating in known.versions if rating.submission == item],
        settled=[each for each in known.settled if each.item == item],
    )  # fmt: skip


@router.post("/items/{item}")
def decide(desk: Here, led: AsLead, item: str, form: Form) -> Response:
    """Settle every axis for which a state was chosen."""
    _item(desk, led, item)
    known = gather(desk.database, led.study)
    chosen = {axis.key: str(form.get(f"state.{axis.key}", "")) for axis in known.rubric.axes}
    notes = str(form.get("notes", ""))
    if not any(chosen.values()):
        return _one(desk, led, item, False, "Choose a label for at least one axis, and why raters disagreed.")
    adjudications = []
    try:
        for axis, state in chosen.items():
            if state:
                cause = DisagreementCause(str(form.get(f"cause.{axis}", "")))
                adjudication = Adjudication(
                    item=item, axis=axis, state=state, cause=cause, by=led.viewer.id, at=desk.now(), notes=notes
                )
                adjudications.append(adjudication)
        for each in adjudications:
            settle(desk.database, led.study, each)
    except ValueError:  # pydantic's error is one too
        return _one(desk, led, item, False, "Each label needs the reason why raters disagreed.")
    except BadInput as error:
        return _one(desk, led, item, False, str(error))
    base = f"/review/studies/{led.study}"
    known = gather(desk.database, led.study)
    left = [each.item for each in disputes(known.ratings, known.rubric, known.settled) if each.item != item]
    if form.get("next") and left:
        return RedirectResponse(f"{base}/items/{left[0]}", 303)
    return RedirectResponse(f"{base}/disputes", 303)


@router.get("/items/{item}/outputs")
def show_outputs(desk: Here, led: AsLead, item: str) -> Response:
    """What was delivered, while previews are being made."""
    base = f"/review/studies/{led.study}"
    outputs = shown_of(desk, _item(desk, led, item).payload.outputs)
    return page("outputs.html", outputs=outputs, source=f"{base}/files/{item}", again=f"{base}/items/{item}/outputs")


@router.get("/items/{item}/files")
def more_files(desk: Here, led: AsLead, item: str, start: Place = 0) -> Response:
    """Places of further files."""
    return page("files.html", **file_list(_item(desk, led, item), start, f"/review/studies/{led.study}/items/{item}"))


@router.get("/items/{item}/diff/{number}")
def show_diff(
    desk: Here, led: AsLead, item: str, number: int, view: str = "unified", at: Place = 0, whole_file: bool = False,
    jump: bool = False,
) -> Response:  # fmt: skip
    """Rows of one file, with everybody's comments."""
    base = f"/review/studies/{led.study}/items/{item}"
    found = comments_on(desk.database, led.study, item)
    return diff_page(desk, _item(desk, led, item), number, view, at, base, found, whole_file=whole_file, jump=jump)


@router.get("/items/{item}/diff/{number}/context")
def context_for_lead(
    desk: Here, led: AsLead, item: str, number: int, old_line: Line, new_line: Line, count: Line, take: str,
    view: str = "unified",
) -> Response:  # fmt: skip
    """Lines of one file that its diff leaves out."""
    base = f"/review/studies/{led.study}/items/{item}"
    return context_page(desk, _item(desk, led, item), number, view, base, ContextGap(old_line, new_line, count), take)


@router.get("/items/{item}/versions/{number}")
def versions_for_lead(desk: Here, led: AsLead, item: str, number: int) -> Response:
    """A changed picture, document or notebook, before and after."""
    return version_page(desk, _item(desk, led, item), number, f"/review/studies/{led.study}/items/{item}")


@router.get("/items/{item}/versions/{number}/{which}")
def version_for_lead(desk: Here, led: AsLead, item: str, number: int, which: str) -> Response:
    """Such a file, or a picture of it, inert."""
    return send_output(desk, version_of(_item(desk, led, item), number)[0], which)


@router.get("/files/{item}/{number}/{which}")
def show_file(desk: Here, led: AsLead, item: str, number: int, which: str) -> Response:
    """A delivered file or the human's one beside it, inert."""
    outputs = _item(desk, led, item).payload.outputs
    if not 0 <= number < len(outputs):
        raise HTTPDenied(404, "There is no such file.")
    return send_output(desk, outputs[number], which)


def _item(desk: ReviewState, led: Led, item: str) -> ShownItem:
    if item not in item_names(desk.database, led.study):
        raise HTTPDenied(404, "There is no such item in this study.")
    return desk.shown(led.study, item, blind=False)
