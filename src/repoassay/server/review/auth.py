"""Who may come in, and what every answer carries: sessions, roles, CSRF, sizes, hosts, security headers.

A route names what it needs as the type of an argument (`Anyone`, `AsRater`, `AsLead`, `AsCreator`; `Form` and `Body`
for changes), so that a route without a check is one without any argument, which a test finds.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import FormData, MutableHeaders
from starlette.responses import PlainTextResponse

from repoassay.review import Rater, RaterRole, study_names
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import Viewer, viewer_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "COOKIE",
    "AnyForm",
    "Anyone",
    "AsCreator",
    "AsLead",
    "AsRater",
    "Body",
    "Form",
    "HTTPDenied",
    "Here",
    "Led",
    "SecurityMiddleware",
    "desk_of",
]  # fmt: skip

COOKIE = "repoassay_review"
_MAX_BODY = 2 * 2**20
_MAX_IMPORT = 64 * 2**20
_MAX_JOIN = 2**16
"""Bytes that may come from whoever is not logged in."""
_SECONDS = 60.0
_SLOWEST = 2**16
"""Seconds in which a body must arrive, and bytes for each of which there is a second more."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer` browsers would send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


class HTTPDenied(Exception):
    """A request is refused with a status, in one sentence; `more` goes into answers of the API."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.more = more


@dataclass(frozen=True, slots=True)
class Led:
    """A study, and who leads it."""

    viewer: Viewer
    study: str


async def desk_of(request: Request) -> ReviewState:
    """The application's state."""
    desk: ReviewState = request.app.state.desk
    return desk


Here = Annotated[ReviewState, Depends(desk_of)]


def _viewer(request: Request, desk: Here) -> Viewer:
    found = viewer_of(desk.database, request.cookies.get(COOKIE, ""), desk.now())
    if found is None:
        raise HTTPDenied(401, "You are not logged in, or your session has ended. Open your invitation link again.")
    return found


Anyone = Annotated[Viewer, Depends(_viewer)]


async def _rater(viewer: Anyone) -> Rater:
    if viewer.rater is None or viewer.role is not RaterRole.RATER:
        raise HTTPDenied(403, "This page is for raters.")
    return viewer.rater


async def _creator(viewer: Anyone) -> Viewer:
    if viewer.role not in {RaterRole.LEAD, RaterRole.ADMIN}:
        raise HTTPDenied(403, "This page is for leads.")
    return viewer


def _lead(study: str, viewer: Anyone, desk: Here) -> Led:
    if viewer.role not in {RaterRole.LEAD, RaterRole.ADMIN}:
        raise HTTPDenied(403, "This page is for leads.")
    # What a lead of another study may not see is not told from what there is not.
    own = viewer.rater is not None and viewer.role is RaterRole.LEAD
    allowed = viewer.rater.study == study if own and viewer.rater else study in study_names(desk.database)
    if not allowed:
        raise HTTPDenied(404, "There is no such study.")
    return Led(viewer, study)


AsRater = Annotated[Rater, Depends(_rater)]
AsCreator = Annotated[Viewer, Depends(_creator)]
AsLead = Annotated[Led, Depends(_lead)]


async def _any_form(request: Request) -> AsyncIterator[FormData]:
    _same_origin(request)
    async with request.form(max_files=1, max_fields=500, max_part_size=_MAX_IMPORT) as form:
        yield form


async def _form(request: Request, viewer: Anyone) -> AsyncIterator[FormData]:
    _same_origin(request)
    async with request.form(max_files=1, max_fields=500, max_part_size=_MAX_IMPORT) as form:
        _check(str(form.get("csrf", "")), viewer)
        yield form


async def _body(request: Request, viewer: Anyone) -> dict[str, Any]:
    _same_origin(request)
    _check(request.headers.get("x-csrf-token", ""), viewer)
    try:
        document = json.loads(await request.body(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise HTTPDenied(422, "The request is no JSON.") from None
    if not isinstance(document, dict):
        raise HTTPDenied(422, "The request is no JSON object.")
    return document


AnyForm = Annotated[FormData, Depends(_any_form)]
"""A form of somebody who is not logged in yet."""
Form = Annotated[FormData, Depends(_form)]
Body = Annotated[dict[str, Any], Depends(_body)]


def _no_number(name: str) -> None:
    raise ValueError(name)


def _check(token: str, viewer: Viewer) -> None:
    if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), viewer.csrf.encode()):
        raise HTTPDenied(403, "This change does not come from our own page. Reload the page and try again.")


def _same_origin(request: Request) -> None:
    """Refuse changes that a browser says come from elsewhere; programs that say nothing still need the token."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    # Behind a proxy that ends TLS we do not know our own scheme, so hosts are compared.
    host = request.headers.get("host", "").lower()
    elsewhere = origin is not None and origin.lower().rpartition("://")[2] != host
    if elsewhere or site not in {"same-origin", "none"}:
        raise HTTPDenied(403, "This change comes from another site.")


class SecurityMiddleware:
    """Bounds what comes in and puts security headers on what goes out, whatever a route does.

    Args:
        app: The application.
        hosts: As in `ReviewState`.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request_headers = dict(scope["headers"])
        host = request_headers.get(b"host", b"").decode("latin-1").lower()
        if self._hosts and _bare(host) not in self._hosts:
            refused = PlainTextResponse("This is not the host this service answers for.\n", 421)
            await refused(scope, receive, dressed)
            return
        most = {"import": _MAX_IMPORT, "join": _MAX_JOIN}.get(scope["path"].rpartition("/")[2], _MAX_BODY)
        length = request_headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 12 or int(length) > most:
            await PlainTextResponse("The request is too large.\n", 413)(scope, receive, dressed)
            return
        came, whole, began = 0, False, asyncio.get_running_loop().time()

        async def bounded() -> Message:
            nonlocal came, whole
            try:
                # Once all has come, this waits for the client to leave.
                async with asyncio.timeout_at(None if whole else began + _SECONDS + came / _SLOWEST):
                    message = await receive()
            except TimeoutError:
                raise HTTPDenied(408, "The request took too long to arrive.") from None
            came, whole = came + len(message.get("body", b"")), not message.get("more_body", False)
            if came > most:
                raise HTTPDenied(413, "The request is too large.")
            return message

        await self._app(scope, bounded, dressed)


def _bare(host: str) -> str:
    return host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
