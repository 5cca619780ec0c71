"""Coming in and leaving: an invitation link becomes a session."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from repoassay.review import RaterRole, rater_by_token, use_invitation
from repoassay.server.review.auth import COOKIE, AnyForm, Anyone, Form, Here, HTTPDenied
from repoassay.server.review.pages import page
from repoassay.server.review.sessions import end_session, start_session

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
def invited(desk: Here, token: str) -> Response:
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
    rater = None if desk.owns(token) else use_invitation(desk.database, token, desk.now())
    if rater is None and not desk.owns(token):
        raise HTTPDenied(404, _UNKNOWN)
    if rater is not None and rater.role is RaterRole.JUDGE:
        raise HTTPDenied(403, "A judge is a program and has no pages.")
    secret, lasts = start_session(desk.database, rater, desk.now())
    answer = RedirectResponse("/review/", 303)
    answer.set_cookie(
        COOKIE, secret, max_age=int(lasts), path="/review", httponly=True, samesite="strict", secure=desk.secure
    )
    return answer


@router.post("/leave")
def leave(desk: Here, request: Request, _: Form) -> Response:
    """End the session."""
    end_session(desk.database, request.cookies.get(COOKIE, ""))
    answer = page("message.html", viewer=None, title="You have left", text="Your link opens the review again.")
    answer.delete_cookie(COOKIE, path="/review", httponly=True, samesite="strict", secure=desk.secure)
    return answer
