"""What a rater is told and asked beside the items: instructions, expertise, feedback on what was trained."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from repoassay.review import (
    Expertise,
    ItemUse,
    confirm_instructions,
    declare_expertise,
    instructions_of,
    must_read,
    place_of,
    ratings_by,
    read_rubric_of,
    repositories_to_ask,
    study_of,
    uses_of,
)
from repoassay.server.review.auth import Anyone, AsRater, Form, Here, HTTPDenied
from repoassay.server.review.pages import page

__all__ = ["router"]

router = APIRouter(prefix="/start")


@router.get("")
def start(desk: Here, rater: AsRater, viewer: Anyone) -> Response:
    """The newest instructions, and the repositories that were not asked about yet."""
    every = instructions_of(desk.database, rater.study)
    return page(
        "start.html", viewer=viewer, study=study_of(desk.database, rater.study),
        rubric=read_rubric_of(desk.database, rater.study), newest=every[-1] if every else None,
        unread=must_read(desk.database, rater) is not None, repositories=repositories_to_ask(desk.database, rater),
        levels=list(Expertise),
    )  # fmt: skip


@router.post("")
def confirm(desk: Here, rater: AsRater, form: Form) -> Response:
    """Keep what was confirmed and said."""
    version = str(form.get("version", ""))
    asked = repositories_to_ask(desk.database, rater)
    said = [str(form.get(f"repository.{number}", "")) for number in range(len(asked))]
    if any(level not in set(Expertise) for level in said):
        raise HTTPDenied(422, "Say of each repository how well you know it.")
    if version.isascii() and version.isdigit() and len(version) <= 6:
        confirm_instructions(desk.database, rater, int(version), at=desk.now())
    for repository, level in zip(asked, said, strict=True):
        declare_expertise(desk.database, rater, repository, Expertise(level), at=desk.now())
    return RedirectResponse("/review/queue", 303)


@router.get("/feedback/{item}")
def feedback(desk: Here, rater: AsRater, viewer: Anyone, item: str) -> Response:
    """The lead's answers beside the rater's own, of an item that trains and is submitted."""
    use, key = uses_of(desk.database, rater.study).get(item, (ItemUse.LIVE, None))
    done = ratings_by(desk.database, rater, item) if place_of(desk.database, rater, item).submitted else ()
    if use is not ItemUse.TRAINING or key is None or not done:
        raise HTTPDenied(404, "There is no feedback on this item.")
    return page(
        "feedback.html", viewer=viewer, item=item, key=key, rating=done[-1],
        rubric=read_rubric_of(desk.database, rater.study),
    )  # fmt: skip
