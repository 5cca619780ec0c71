"""The application put together: routes below `/review`, static files, and what is said when something goes wrong."""

from __future__ import annotations

import logging
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from repoassay.errors import BadInput, InfraFault, RepoAssayError, Unavailable
from repoassay.review import Conflict
from repoassay.server.review import (
    account_pages,
    adjudication_pages as settle_pages,
    figure_pages,
    lead_pages,
    login as join,
    plan_pages,
    preparation_pages,
    rater_pages,
    rating_api,
    rating_pages,
    study_pages,
)
from repoassay.server.review.auth import HTTPDenied, SecurityMiddleware
from repoassay.server.review.pages import page
from repoassay.server.review.rating_api import conflict
from repoassay.server.review.review_state import ReviewState

__all__ = ["build_review", "mount_review"]

_LOG = logging.getLogger("repoassay.review")
# `studies/new` must come before `studies/{study}`.
_ROUTERS = (
    join, rating_pages, rating_api, study_pages, lead_pages, settle_pages, figure_pages, preparation_pages,
    rater_pages, account_pages, plan_pages,
)  # fmt: skip
_STATIC = Path(__file__).parent / "static"


def build_review(desk: ReviewState) -> FastAPI:
    """The application whose paths all begin with `/review`; `/` leads there."""
    app = FastAPI(title="RepoAssay review", docs_url=None, redoc_url=None, openapi_url=None)

    async def root(_: Request) -> Response:
        return RedirectResponse("/review/", 303)

    app.router.routes.append(Route("/", root))
    mount_review(app, desk)
    return app


def mount_review(app: FastAPI, desk: ReviewState) -> None:
    """Put the application below `/review` of another one, with its own state, errors and headers."""
    inner = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    inner.state.desk = desk
    for module in _ROUTERS:
        inner.include_router(module.router)
    inner.mount("/static", StaticFiles(directory=_STATIC))
    inner.exception_handler(HTTPDenied)(_denied)
    inner.exception_handler(RepoAssayError)(_answer_error)
    inner.exception_handler(RequestValidationError)(_invalid)
    inner.exception_handler(HTTPException)(_other)
    inner.exception_handler(Exception)(_fault)
    packed = GZipMiddleware(inner, minimum_size=2000, compresslevel=1)
    app.router.routes.append(Mount("/review", app=SecurityMiddleware(packed, desk.hosts)))


def _answer(request: Request, status: int, text: str, **more: object) -> Response:
    if "/api/" in request.url.path:
        return JSONResponse({"error": text, **more}, status)
    if request.headers.get("hx-request"):
        return page("fragment.html", status, text=text)
    title = {401: "Not logged in", 403: "Not allowed", 404: "Not found", 409: "Somebody was first"}
    return page("message.html", status, viewer=None, title=title.get(status, "That did not work"), text=text)


async def _denied(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPDenied)
    return _answer(request, error.status, str(error), **error.more)


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RepoAssayError)
    if isinstance(error, Conflict):
        return _answer(request, 409, str(error), **conflict(error.stored, error.offered))
    status = 422 if isinstance(error, BadInput) else 503 if isinstance(error, InfraFault | Unavailable) else 500
    if status != 422:
        _LOG.warning("%s", error)
    return _answer(request, status, str(error))


async def _invalid(request: Request, _: Exception) -> Response:
    return _answer(request, 422, "The request holds something else than what is asked for.")


async def _other(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _answer(request, error.status_code, f"{error.detail}.")
    answer.headers.update(error.headers or {})
    return answer


async def _fault(request: Request, error: Exception) -> Response:
    _LOG.error("A request failed: %s", type(error).__name__, exc_info=error)
    return _answer(request, 500, "The server failed at this; its log says how. Try again.")
