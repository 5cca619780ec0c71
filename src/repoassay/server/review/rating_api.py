"""What the form sends while a rater works: drafts, signs of life, comments, the submission. JSON in and out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import ValidationError

from repoassay.review import (
    Answers,
    Comment,
    ItemUse,
    Rater,
    add_comment,
    comments_by,
    is_closed,
    missing,
    parse_answers,
    place_of,
    read_rubric_of,
    remove_comment,
    renew,
    save_draft,
    submit,
    uses_of,
)
from repoassay.server.review.auth import AsRater, Body, Here, HTTPDenied
from repoassay.server.review.context_lines import lines_before, with_gaps_filled
from repoassay.server.review.diff import lines_between
from repoassay.server.review.rater_progress import revealed_to, stand
from repoassay.server.review.review_state import ReviewState
from repoassay.types import Anchor, Rating, RatingPhase

__all__ = ["router"]

router = APIRouter(prefix="/api")
_MOST_LINES = 200


@router.get("/item/{item}/draft")
def read_draft(desk: Here, rater: AsRater, item: str) -> dict[str, Any]:
    """The draft as it is kept: version 0 and empty where there is none."""
    standing = stand(desk, rater, item, hold=False)
    return {
        "version": standing.version,
        "answers": standing.answers.model_dump(mode="json"),
        "phase": standing.phase.value if standing.phase else None,
        "missing": list(missing(standing.answers, read_rubric_of(desk.database, rater.study))),
    }


@router.post("/item/{item}/draft")
def write_draft(desk: Here, rater: AsRater, item: str, body: Body) -> dict[str, Any]:
    """Save a draft over the version the page has; 409 with both where another window saved meanwhile."""
    version = body.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**31:
        raise HTTPDenied(422, "A draft needs the version it follows.")
    answers, phase = parse_answers(body.get("answers")), _phase(body)
    saved = save_draft(desk.database, rater, item, answers, version=version, now=desk.now(), phase=phase)
    closed = is_closed(desk.database, rater.study)
    return {"version": saved.version, "saved": saved.saved.isoformat(), "closed": closed}


@router.post("/item/{item}/alive")
def keep(desk: Here, rater: AsRater, item: str, _: Body) -> dict[str, bool]:
    """Hold the item longer: its rater is there."""
    return {"held": renew(desk.database, rater, item, desk.now()), "closed": is_closed(desk.database, rater.study)}


@router.post("/item/{item}/submit")
def hand_in(desk: Here, rater: AsRater, item: str, body: Body) -> dict[str, Any]:
    """Submit; the same key twice is one rating."""
    key, phase = body.get("key"), _phase(body)
    if not isinstance(key, str):
        raise HTTPDenied(422, "A submission needs a key.")
    now = desk.now()
    answers = _completed(desk, rater, item, parse_answers(body.get("answers")), now)
    rating = submit(desk.database, rater, item, answers, key=key, now=now, phase=phase)
    standing = stand(desk, rater, item, hold=False)
    again = phase is RatingPhase.BLIND and standing.phase is RatingPhase.REVEALED
    use, _ = uses_of(desk.database, rater.study).get(item, (ItemUse.LIVE, None))
    feedback = f"/review/start/feedback/{item}" if use is ItemUse.TRAINING else None
    return {
        "rating": rating.id,
        "version": rating.version,
        "mergeable": rating.mergeable,
        "contradiction": rating.contradiction,
        "then": f"/review/item/{item}" if again else feedback,
    }


@router.post("/item/{item}/comments")
def comment(desk: Here, rater: AsRater, item: str, body: Body) -> dict[str, Any]:
    """Write a comment at lines of a changed file, which we quote ourselves."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    number, side = body.get("file"), body.get("side")
    first, last = body.get("line"), body.get("end_line", body.get("line"))
    file = shown.files[number] if isinstance(number, int) and 0 <= number < len(shown.files) else None
    if not isinstance(first, int) or not isinstance(last, int) or str(side) not in {"old", "new"}:
        raise HTTPDenied(422, "A comment needs a side and the numbers of its lines.")
    if file is None or not first <= last < first + _MOST_LINES:
        raise HTTPDenied(422, "A comment needs a file of the change, a side and at most 200 lines.")
    whole = lines_before(desk.blobs, shown, file)
    lines = lines_between(file if whole is None else with_gaps_filled(file, whole), str(side), first, last)
    if len(lines) != last - first + 1:
        raise HTTPDenied(422, "The change does not show these lines.")
    quote = "\n".join(lines)[:4000]
    text, axis = body.get("text"), body.get("axis") or None
    if not isinstance(text, str) or not isinstance(axis, str | None):
        raise HTTPDenied(422, "A comment needs a text.")
    try:
        anchor = Anchor(path=file.path, side=side, line=first, end_line=last, quote=quote)
    except ValidationError:
        raise HTTPDenied(422, "These lines cannot be quoted.") from None
    saved = add_comment(desk.database, rater, item, anchor, text, now=desk.now(), axis=axis)
    return _comment_document(saved)


@router.post("/item/{item}/comments/{name}/remove")
def take_back(desk: Here, rater: AsRater, item: str, name: str, _: Body) -> dict[str, bool]:
    """Take back one's own comment."""
    mine = any(each.id == name for each in comments_by(desk.database, rater, item))
    return {"removed": mine and remove_comment(desk.database, rater, name, desk.now())}


def conflict(stored: object, offered: object) -> dict[str, Any]:
    """The answer to a page about a conflict: what is kept, and what it sent."""
    version = getattr(stored, "version", 0)
    kept = getattr(stored, "answers", None)
    return {
        "submitted": isinstance(stored, Rating) or stored is None,
        "version": version if isinstance(kept, Answers) else 0,
        "stored": kept.model_dump(mode="json") if isinstance(kept, Answers) else None,
        "offered": offered.model_dump(mode="json") if isinstance(offered, Answers) else None,
    }


def _phase(body: Mapping[str, Any]) -> RatingPhase:
    try:
        return RatingPhase(str(body.get("phase", "blind")))
    except ValueError:
        raise HTTPDenied(422, "The phase is blind or revealed.") from None


def _completed(desk: ReviewState, rater: Rater, item: str, answers: Answers, now: datetime) -> Answers:
    """Add what the page need not tell: comments tied to axes as evidence, and the time since the item was opened."""
    found = comments_by(desk.database, rater, item)
    axes = {
        key: answer.model_copy(
            update={"evidence": tuple(each.anchor for each in found if each.axis == key)[:200] or answer.evidence}
        )
        for key, answer in answers.axes.items()
    }
    place = place_of(desk.database, rater, item)
    wall = max(0.0, (now - place.opened).total_seconds()) if place.opened else answers.wall_seconds
    changes: dict[str, Any] = {"axes": axes, "wall_seconds": wall, "active_seconds": min(answers.active_seconds, wall)}
    return answers.model_copy(update=changes)


def _comment_document(saved: Comment) -> dict[str, Any]:
    anchor = saved.anchor.model_dump(mode="json")
    return {"id": saved.id, "axis": saved.axis, "anchor": anchor, "text": saved.text}
