"""Coming in and leaving: an invitation link becomes a session; what a rater is told and asked before the items."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from repoassay.review import (
    Expertise,
    ItemUse,
    RaterRole,
    confirm_instructions,
    declare_expertise,
    instructions_of,
    must_read,
    place_of,
    rater_by_token,
    ratings_by,
    read_rubric_of,
    repositories_to_ask,
    study_of,
    use_invitation,
    uses_of,
)
from repoassay.server.review.account_pages import let_in, send_to_provider
from repoassay.server.review.auth import COOKIE, AnyForm, Anyone, AsRater, Form, Here, HTTPDenied
from repoassay.server.review.pages import page
from repoassay.server.review.sessions import end_session

__all__ = ["router"]

router = APIRouter()
_UNKNOWN = "This invitation is not known, has ended or was withdrawn. Ask whoever sent it for a new one."


@router.get("/")
def home(viewer: Anyone) -> Response:
    """Lead everybody where their work is."""
    if viewer.role is RaterRole.RATER:
        return RedirectResponse("/review/queue", 303)
    if viewer.rater is not None and viewer.role is RaterRole.LEAD:
        return RedirectResponse(f"/review/studies/{viewer.rater.study}", 303)
    return RedirectResponse("/review/studies", 303)


@router.get("/join/{token}")
def welcome(desk: Here, token: str) -> Response:
    """The page an invitation leads to; nothing happens until its button is pressed, so previews of links do no harm."""
    if desk.owns(token):
        return page("join.html", viewer=None, token=token, name="the owner of this server", role="admin")
    rater = rater_by_token(desk.database, token, desk.now())
    if rater is None:
        raise HTTPDenied(404, _UNKNOWN)
    return page("join.html", viewer=None, token=token, name=rater.name, role=rater.role.value)


@router.post("/join")
def join(desk: Here, form: AnyForm) -> Response:
    """Exchange an invitation for a session."""
    token = str(form.get("token", ""))
    if desk.provider is not None and not desk.owns(token):
        invited = rater_by_token(desk.database, token, desk.now())
        if invited is not None and invited.role is not RaterRole.JUDGE:
            return send_to_provider(desk, desk.provider, invited)
    rater = None if desk.owns(token) else use_invitation(desk.database, token, desk.now())
    if rater is None and not desk.owns(token):
        raise HTTPDenied(404, _UNKNOWN)
    if rater is not None and rater.role is RaterRole.JUDGE:
        raise HTTPDenied(403, "A judge is a program and has no pages.")
    return let_in(desk, rater, RedirectResponse("/review/", 303))


@router.post("/leave")
def leave(desk: Here, request: Request, _: Form) -> Response:
    """End the session."""
    end_session(desk.database, request.cookies.get(COOKIE, ""))
    answer = page("message.html", viewer=None, title="You have left", text="Your link opens the review again.")
    answer.delete_cookie(COOKIE, path="/review", httponly=True, samesite="strict", secure=desk.secure)
    return answer


@router.get("/start")
def start(desk: Here, rater: AsRater, viewer: Anyone) -> Response:
    """The newest instructions, and the repositories that were not asked about yet."""
    every = instructions_of(desk.database, rater.study)
    return page(
        "start.html", viewer=viewer, study=study_of(desk.database, rater.study),
        rubric=read_rubric_of(desk.database, rater.study), newest=every[-1] if every else None,
        unread=must_read(desk.database, rater) is not None, repositories=repositories_to_ask(desk.database, rater),
        levels=list(Expertise),
    )  # fmt: skip


@router.post("/start")
def confirm(desk: Here, rater: AsRater, form: Form) -> Response:
    """Keep what was confirmed and said."""
    version = str(form.get("version", ""))
    repositories = repositories_to_ask(desk.database, rater)
    levels = [str(form.get(f"repository.{number}", "")) for number in range(len(repositories))]
    if any(level not in set(Expertise) for level in levels):
        raise HTTPDenied(422, "Say of each repository how well you know it.")
    if version.isascii() and version.isdigit() and len(version) <= 6:
        confirm_instructions(desk.database, rater, int(version), at=desk.now())
    for repository, level in zip(repositories, levels, strict=True):
        declare_expertise(desk.database, rater, repository, Expertise(level), at=desk.now())
    return RedirectResponse("/review/queue", 303)


@router.get("/start/feedback/{item}")
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
