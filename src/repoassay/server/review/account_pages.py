"""Logging in at an identity provider: on the way there with a state, and back with a code."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from repoassay.errors import BadInput
from repoassay.review import PendingLogin, Rater, begin_login, bind_account, rater_named, refuse_login, take_login
from repoassay.server.review.auth import COOKIE, Here, HTTPDenied
from repoassay.server.review.oidc import Account, IdentityProvider
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import start_session

__all__ = ["let_in", "router", "send_to_provider"]

router = APIRouter()
_LOGIN = "repoassay_login"
_PLACE = "/review/oidc"
_Text = Annotated[str, Query(max_length=4000)]
_STALE = "This login is not known, was used already or took too long. Open your invitation link again."


def let_in(desk: ReviewState, rater: Rater | None, answer: Response) -> Response:
    """Begin a session with an answer; without a rater it is the owner's."""
    secret, lasts = start_session(desk.database, rater, desk.now())
    answer.set_cookie(
        COOKIE, secret, max_age=int(lasts), path="/review", httponly=True, samesite="strict", secure=desk.secure
    )
    return answer


def send_to_provider(desk: ReviewState, provider: IdentityProvider, rater: Rater) -> Response:
    """Say where the login goes, with a link: our own policy lets no form lead to another site."""
    login = begin_login(desk.database, rater, desk.now())
    answer = page("provider.html", viewer=None, host=provider.host, address=provider.address_for(login))
    # Lax, since the provider leads back from another site.
    answer.set_cookie(
        _LOGIN, login.browser, max_age=600, path=_PLACE, httponly=True, samesite="lax", secure=desk.secure
    )
    return answer


@router.get("/oidc/callback")
def come_back(
    desk: Here, request: Request, state: _Text = "", code: _Text = "", iss: _Text = "", error: _Text = ""
) -> Response:
    """Take the provider's answer. Where it leads then is always the same page, so that nothing can be slipped in."""
    if desk.provider is None:
        raise HTTPDenied(404, "This server asks no identity provider.")
    login = take_login(desk.database, state, request.cookies.get(_LOGIN, ""), desk.now())
    if login is None:
        raise HTTPDenied(403, _STALE)
    rater = rater_named(desk.database, login.rater)
    if rater is None:
        raise HTTPDenied(403, _STALE)
    try:
        account = _account_of(desk.provider, login, "" if error else code, iss, desk.now())
        rater = bind_account(desk.database, rater.id, account.issuer, account.subject, desk.now())
    except BadInput as refused:
        refuse_login(desk.database, rater, str(refused), desk.now())
        raise HTTPDenied(403, str(refused)) from None
    # A redirect would not carry the new cookie, which is for our own site alone: the browser still comes from another.
    answer = let_in(desk, rater, page("entered.html", viewer=None, name=rater.name))
    answer.delete_cookie(_LOGIN, path=_PLACE, httponly=True, samesite="lax", secure=desk.secure)
    return answer


def _account_of(provider: IdentityProvider, login: PendingLogin, code: str, issuer: str, now: datetime) -> Account:
    # RFC 9207: an answer that names another provider is of a mix-up.
    if issuer and issuer != provider.issuer:
        raise BadInput("The answer is of another identity provider.", "Open your invitation link again.")
    if not code:
        raise BadInput(f"{provider.host} did not log you in.", "Open your invitation link again.")
    return provider.account(login, code, now)
