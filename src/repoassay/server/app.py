"""The application: routes, what is said when something goes wrong, health and metrics."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

import repoassay
from repoassay.errors import Unavailable
from repoassay.server.environment import router as episodes
from repoassay.server.problems import ApiError, documented
from repoassay.server.routes import Caller, Ours, router
from repoassay.server.schemas import Health
from repoassay.server.service import Service
from repoassay.text import printable

__all__ = ["build_app"]

_LOG = logging.getLogger("repoassay.serve")
_ABOUT = """Hand in unified diffs for tasks; get PASS, FAIL, PATCH FAILED or TIMED OUT with feedback, or ERROR where we
failed to judge. What is accepted survives the server being killed, and gets exactly one verdict."""


def build_app(service: Service) -> FastAPI:
    """The application that answers for `service`; workers are started and stopped by whoever runs it."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        service.bell.hang()
        yield

    app = FastAPI(
        title="RepoAssay submissions", description=_ABOUT, version=repoassay.__version__, lifespan=life,
        docs_url=None, redoc_url=None, openapi_url=None,
    )  # fmt: skip
    app.state.service = service
    if service.more is not None:
        service.more(app)
    if service.workers.settings.role != "worker":
        app.include_router(router)
        app.include_router(episodes)
    app.get("/healthz", tags=["operation"], summary="Ask whether work is accepted", responses=documented(503))(healthz)
    app.get(
        "/metrics", tags=["operation"], summary="Numbers for Prometheus", response_class=Response,
        responses={**documented(401, 421, 429, 503), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )(metrics)  # fmt: skip
    app.exception_handler(ApiError)(_refused)
    app.exception_handler(Unavailable)(_unavailable)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_other)
    app.exception_handler(Exception)(_fault)  # told to the log by the server, whole
    return app


async def healthz(service: Ours, response: Response) -> Health:
    """Whether work is accepted: 200 with `ok`, or 503 with `stopping`. Needs no token."""
    counts = await run_in_threadpool(service.queue.counts)
    stopping = service.workers.stopping
    response.status_code = 503 if stopping else 200
    return Health(
        status="stopping" if stopping else "ok",
        version=repoassay.__version__,
        tasks=len(service.engine.tasks),
        queued=counts.queued,
        running=counts.running,
        places=await run_in_threadpool(service.queue.servers.places),
    )


async def metrics(_: Caller, service: Ours) -> PlainTextResponse:
    """Lengths of the queue, verdicts by word, seconds a verdict, faults, refusals."""
    counts = await run_in_threadpool(service.queue.counts)
    places = await run_in_threadpool(service.queue.servers.places)
    return PlainTextResponse(
        service.meters.text(counts, places), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    )


def _answer(request: Request, refused: ApiError) -> JSONResponse:
    service: Service = request.app.state.service
    service.meters.refused(refused.problem.error)
    return JSONResponse(refused.problem.model_dump(), refused.status, refused.headers)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return _answer(request, error)


async def _unavailable(request: Request, error: Exception) -> JSONResponse:
    _LOG.warning("%s", error)
    return _answer(request, ApiError(503, "no_queue", "The queue's database cannot be had just now.", retry=5))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    message = "; ".join(
        f"{printable('.'.join(map(str, each['loc'][1:])))}: {printable(str(each['msg']), 200)}"
        for each in error.errors()[:10]
    )
    return _answer(request, ApiError(422, "invalid", f"{message}."))


async def _other(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    word = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
    return _answer(request, ApiError(error.status_code, word, f"{error.detail}.", headers=dict(error.headers or {})))


async def _fault(request: Request, _: Exception) -> JSONResponse:
    return _answer(request, ApiError(500, "fault", "The server failed at this; its log says how. Try again."))
