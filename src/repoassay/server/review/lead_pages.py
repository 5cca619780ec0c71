"""A lead's study: progress, invitations, closing, export and import."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from statistics import median

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.datastructures import UploadFile

from repoassay.errors import BadInput
from repoassay.review import (
    FORMATS,
    TIDY_FORMATS,
    Rater,
    RaterRole,
    StudyMode,
    add_rater,
    arrow_installed,
    assign,
    bound_raters,
    close_study,
    disable_rater,
    event_log,
    full_items,
    import_ratings,
    is_closed,
    item_names,
    preparation_of,
    queue_of,
    raters_of,
    ratings_of,
    ratings_to_jsonl,
    read_ratings,
    read_rubric_of,
    reopen_study,
    study_of,
    study_records,
    uses_of,
    write_ratings,
    write_tidy_folder,
)
from repoassay.sandbox import temporary_folder
from repoassay.server.review.auth import AsLead, Form, Here, HTTPDenied, Led
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import end_sessions_of
from repoassay.types import RatingPhase

__all__ = ["rater_in", "router"]

router = APIRouter(prefix="/studies/{study}")
_DAYS = {"1": 1, "7": 7, "30": 30}
"""After how many days an invitation ends, by what the form sends."""
_TYPES = {".jsonl": "application/jsonl", ".csv": "text/csv; charset=utf-8", ".parquet": "application/octet-stream"}


@router.get("")
def progress(desk: Here, led: AsLead) -> Response:
    """Who has done how much."""
    return _progress(desk, led, "")


def _progress(desk: ReviewState, led: Led, wrong: str) -> Response:
    people = raters_of(desk.database, led.study)
    ratings = ratings_of(desk.database, led.study)
    uses, second = uses_of(desk.database, led.study), RatingPhase.REVEALED in study_of(desk.database, led.study).phases
    rows = []
    bound = bound_raters(desk.database, led.study)
    for person in people:
        mine = [rating for rating in ratings if rating.rater == person.id]
        queue = queue_of(desk.database, person)
        full = full_items(desk.database, person, desk.now())
        live = [each for each in queue if each.item not in uses and each.item not in full]
        seconds = [rating.active_seconds for rating in mine if rating.version == 1]
        revealed = {rating.submission for rating in mine if rating.phase is RatingPhase.REVEALED}
        rows.append(
            {
                "rater": person,
                "bound": person.id in bound,
                "done": sum(each.submitted for each in live),
                "given": len(live),
                "revealed": len(revealed) if second else None,
                "preparation": preparation_of(desk.database, person) if uses else None,
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
        days = _DAYS.get(str(form.get("expires", "")))
        invitation = add_rater(
            desk.database, led.study, name, RaterRole(role), at=desk.now(), by=led.viewer.id,
            expires=desk.now() + timedelta(days=days) if days else None, single_use=bool(form.get("once")),
        )  # fmt: skip
        if study_of(desk.database, led.study).mode is StudyMode.BALANCED and form.get("assign"):
            assign(desk.database, led.study, at=desk.now(), by=led.viewer.id)
    except BadInput as error:
        return _progress(desk, led, str(error))
    study = study_of(desk.database, led.study)
    return page("invited.html", viewer=led.viewer, study=study, name=name, token=invitation.token, role=role)


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
    found = rater_in(desk, led, rater)
    disable_rater(desk.database, found, at=desk.now(), by=led.viewer.id)
    end_sessions_of(desk.database, found.id)
    return RedirectResponse(f"/review/studies/{led.study}", 303)


@router.get("/close")
def ask_to_close(desk: Here, led: AsLead) -> Response:
    """Ask before closing, with what is still missing."""
    study = study_of(desk.database, led.study)
    people = [person for person in raters_of(desk.database, led.study) if person.role is RaterRole.RATER]
    uses = uses_of(desk.database, led.study)
    line = [each for person in people for each in queue_of(desk.database, person) if each.item not in uses]
    busy = sum(each.until is not None and each.until > desk.now() for each in line)
    expected, done = len(line), sum(each.submitted for each in line)
    if study.mode is StudyMode.OVERLAP:
        # Everybody's queue holds every item, and each is rated so many times only.
        counts = Counter(each.item for each in line if each.submitted)
        expected = study.overlap * len({each.item for each in line})
        done = sum(min(count, study.overlap) for count in counts.values())
    return page(
        "close.html", viewer=led.viewer, study=study, tab="progress", given=expected, missing=expected - done, busy=busy
    )


@router.post("/reopen")
def reopen(desk: Here, led: AsLead, _: Form) -> Response:
    """Undo closing."""
    reopen_study(desk.database, led.study, at=desk.now(), actor=led.viewer.id)
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
        return StreamingResponse(ratings_to_jsonl(ratings), media_type=_TYPES[ending], headers=headers)
    with temporary_folder("export") as place:
        path = Path(place, f"ratings{ending}")
        write_ratings(ratings, path)
        return Response(path.read_bytes(), media_type=_TYPES[ending], headers=headers)


@router.get("/table.zip")
def table_folder(desk: Here, led: AsLead) -> Response:
    """The whole study as one tidy table, with codebook and scripts, as `repoassay review export` writes them."""
    formats = [each for each in TIDY_FORMATS if each != "parquet" or arrow_installed()]
    packed = io.BytesIO()
    with temporary_folder("export") as place:
        write_tidy_folder(study_records(desk.database, led.study), Path(place), formats)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(Path(place).iterdir()):
                archive.write(file, f"{led.study}/{file.name}")
    headers = {"Content-Disposition": f'attachment; filename="{led.study}.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.post("/import")
def take_in(desk: Here, led: AsLead, form: Form) -> Response:
    """Add ratings from a file that was exported from this study."""
    upload = form.get("file")
    if not isinstance(upload, UploadFile) or Path(upload.filename or "").suffix.lower() not in FORMATS:
        return _progress(desk, led, "Choose a file that ends in .jsonl, .csv or .parquet.")
    with temporary_folder("import") as place:
        path = Path(place, f"ratings{Path(upload.filename or '').suffix.lower()}")
        path.write_bytes(upload.file.read())
        try:
            import_ratings(desk.database, led.study, read_ratings(path), at=desk.now(), by=led.viewer.id)
        except BadInput as error:
            return _progress(desk, led, str(error))
    return RedirectResponse(f"/review/studies/{led.study}", 303)


def rater_in(desk: ReviewState, led: Led, rater: str) -> Rater:
    """Return a rater of the study led.

    Raises:
        HTTPDenied: When there is none, or he is an admin and the viewer is not.
    """
    found = next((each for each in raters_of(desk.database, led.study) if each.id == rater), None)
    if found is None:
        raise HTTPDenied(404, "There is no such rater in this study.")
    if found.role is RaterRole.ADMIN and led.viewer.role is not RaterRole.ADMIN:
        raise HTTPDenied(403, "Only an admin ends an admin's invitation.")
    return found
