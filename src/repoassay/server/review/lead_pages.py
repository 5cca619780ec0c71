"""A lead's study: progress, invitations, closing, export and import."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.datastructures import UploadFile

from repoassay.errors import BadInput
from repoassay.review import (
    FORMATS,
    Rater,
    RaterRole,
    StudyMode,
    add_rater,
    assign,
    close_study,
    disable_rater,
    event_log,
    import_ratings,
    is_closed,
    item_names,
    queue_of,
    raters_of,
    ratings_of,
    ratings_to_jsonl,
    read_ratings,
    read_rubric_of,
    study_of,
    write_ratings,
)
from repoassay.server.review.auth import AsLead, Form, Here, HTTPDenied, Led
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import end_sessions_of

__all__ = ["router"]

router = APIRouter(prefix="/studies/{study}")
_TYPES = {".jsonl": "application/jsonl", ".csv": "text/csv; charset=utf-8", ".parquet": "application/octet-stream"}


@router.get("")
def progress(desk: Here, led: AsLead) -> Response:
    """Who has done how much."""
    return _progress(desk, led, "")


def _progress(desk: ReviewState, led: Led, wrong: str) -> Response:
    people = raters_of(desk.database, led.study)
    ratings = ratings_of(desk.database, led.study)
    rows = []
    for person in people:
        mine = [rating for rating in ratings if rating.rater == person.id]
        queue = queue_of(desk.database, person)
        seconds = [rating.active_seconds for rating in mine if rating.version == 1]
        rows.append(
            {
                "rater": person,
                "done": sum(each.submitted for each in queue),
                "given": len(queue),
                "seconds": median(seconds) if seconds else None,
                "last": max((rating.submitted for rating in mine), default=None),
                "clashes": sum(rating.contradiction for rating in mine),
            }
        )
    sampled = [event.details for event in event_log(desk.database, led.study) if event.kind == "sampled"]
    return page(
        "study.html", 422 if wrong else 200, viewer=led.viewer, study=study_of(desk.database, led.study), rows=rows,
        rubric=read_rubric_of(desk.database, led.study), closed=is_closed(desk.database, led.study), wrong=wrong,
        items=len(item_names(desk.database, led.study)), ratings=len(ratings), tab="progress",
        sampled=sampled[0] if sampled else {"excluded": [], "reread": [], "empty": []},
    )  # fmt: skip


@router.post("/invite")
def invite(desk: Here, led: AsLead, form: Form) -> Response:
    """Invite somebody; the link is shown this once."""
    role = str(form.get("role", "rater"))
    allowed = {"rater", "lead"} | ({"admin"} if led.viewer.role is RaterRole.ADMIN else set())
    if role not in allowed:
        raise HTTPDenied(403, "Only an admin invites admins.")
    name = str(form.get("name", ""))
    try:
        made = add_rater(desk.database, led.study, name, RaterRole(role), at=desk.now(), by=led.viewer.id)
        if study_of(desk.database, led.study).mode is StudyMode.BALANCED and form.get("assign"):
            assign(desk.database, led.study, at=desk.now(), by=led.viewer.id)
    except BadInput as error:
        return _progress(desk, led, str(error))
    study = study_of(desk.database, led.study)
    return page("invited.html", viewer=led.viewer, study=study, name=name, token=made.token, role=role)


@router.post("/assign")
def give_out(desk: Here, led: AsLead, _: Form) -> Response:
    """In a balanced study, give every item the raters it lacks."""
    try:
        assign(desk.database, led.study, at=desk.now(), by=led.viewer.id)
    except BadInput as error:
        return _progress(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}", 303)


@router.post("/disable/{rater}")
def disable(desk: Here, led: AsLead, rater: str, _: Form) -> Response:
    """End an invitation and its sessions; ratings stay."""
    found = _person(desk, led, rater)
    disable_rater(desk.database, found, at=desk.now(), by=led.viewer.id)
    end_sessions_of(desk.database, found.id)
    return RedirectResponse(f"/review/studies/{led.study}", 303)


@router.post("/close")
def close(desk: Here, led: AsLead, _: Form) -> Response:
    """Take no more blind ratings."""
    close_study(desk.database, led.study, at=desk.now(), by=led.viewer.id)
    return RedirectResponse(f"/review/studies/{led.study}", 303)


@router.get("/log")
def log(desk: Here, led: AsLead, after: int = 0) -> Response:
    """The event log, a thousand at a time."""
    events = event_log(desk.database, led.study, after=max(0, min(after, 2**62)), most=1000)
    study = study_of(desk.database, led.study)
    names = {person.id: person.name for person in raters_of(desk.database, led.study)}
    return page("log.html", viewer=led.viewer, study=study, events=events, names=names, tab="log")


@router.get("/export.{kind}")
def export(desk: Here, led: AsLead, kind: str) -> Response:
    """Every rating, all versions."""
    ending = f".{kind}"
    if ending not in FORMATS:
        raise HTTPDenied(404, "Ratings are exported as jsonl, csv or parquet.")
    ratings = ratings_of(desk.database, led.study)
    headers = {"Content-Disposition": f'attachment; filename="{led.study}{ending}"'}
    if ending == ".jsonl":
        return StreamingResponse(_encoded(ratings_to_jsonl(ratings)), media_type=_TYPES[ending], headers=headers)
    with tempfile.TemporaryDirectory(prefix="repoassay-export-") as place:
        path = Path(place, f"ratings{ending}")
        write_ratings(ratings, path)
        return Response(path.read_bytes(), media_type=_TYPES[ending], headers=headers)


@router.post("/import")
def take_in(desk: Here, led: AsLead, form: Form) -> Response:
    """Add ratings from a file that was exported from this study."""
    given = form.get("file")
    if not isinstance(given, UploadFile) or Path(given.filename or "").suffix.lower() not in FORMATS:
        return _progress(desk, led, "Choose a file that ends in .jsonl, .csv or .parquet.")
    with tempfile.TemporaryDirectory(prefix="repoassay-import-") as place:
        path = Path(place, f"ratings{Path(given.filename or '').suffix.lower()}")
        path.write_bytes(given.file.read())
        try:
            import_ratings(desk.database, led.study, read_ratings(path), at=desk.now(), by=led.viewer.id)
        except BadInput as error:
            return _progress(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}", 303)


def _person(desk: ReviewState, led: Led, rater: str) -> Rater:
    found = next((each for each in raters_of(desk.database, led.study) if each.id == rater), None)
    if found is None:
        raise HTTPDenied(404, "There is no such rater in this study.")
    if found.role is RaterRole.ADMIN and led.viewer.role is not RaterRole.ADMIN:
        raise HTTPDenied(403, "Only an admin ends an admin's invitation.")
    return found


def _encoded(lines: Iterator[str]) -> Iterator[bytes]:
    for line in lines:
        yield line.encode()
