"""The routes below /v1."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from repoassay.errors import Unavailable
from repoassay.server.body import read_given
from repoassay.server.notifier import rung_within
from repoassay.server.problems import ApiError, documented
from repoassay.server.queue import KeyTaken, New, QueueFull, QuotaUsed, StoredSubmission
from repoassay.server.schemas import (
    Page,
    SubmissionReceipt,
    SubmissionReceipts,
    SubmissionRequest,
    SubmissionStatus,
    status_of,
)
from repoassay.server.service import Service

__all__ = ["ULID_PATTERN", "Caller", "Ours", "accept", "body_schema", "get", "router"]

ULID_PATTERN = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
_LOG = logging.getLogger("repoassay.serve")
_LOOK = 1.0
"""Seconds between looks for verdicts that other servers gave."""
_BATCH = 100
_WHOLE = 10
"""Whole verdicts that are held at a time; one may be long."""
_KEEP_ALIVE = 15.0

_bearer = HTTPBearer(auto_error=False, description="A token of the server's token file, where it has one.")


def service_of(request: Request) -> Service:
    """The service that answers a request."""
    service: Service = request.app.state.service
    return service


def caller(request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    """Who asks, once they are let in; raises `ApiError`."""
    guards = service_of(request).guards
    if guards.hosts and _host(request) not in guards.hosts:
        raise ApiError(421, "other_host", "The Host header names another machine, and no tokens are asked for here.")
    holder = guards.tokens.holder(bearer.credentials if bearer else None)
    if holder is None:
        raise ApiError(
            401, "unauthorised", "Send a token we know in the header Authorization: Bearer TOKEN.",
            headers={"WWW-Authenticate": "Bearer"},
        )  # fmt: skip
    if wait := guards.rate.wait(holder):
        raise ApiError(
            429, "too_many_requests", f"More than {guards.rate.each_minute:g} requests a minute.", retry=wait
        )
    return holder


Caller = Annotated[str, Depends(caller)]
Ours = Annotated[Service, Depends(service_of)]
router = APIRouter(prefix="/v1", responses=documented(401, 421, 422, 429, 503))


def body_schema() -> dict[str, Any]:
    """What the OpenAPI document says of the body that `submit` reads by itself."""
    one = SubmissionRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    example = one.pop("examples")[0]
    schema = {"oneOf": [one, {"type": "array", "minItems": 1, "maxItems": 1000, "items": one}]}
    examples = {
        "one": {"value": example},
        "many": {"value": [example, {"id": "edit-ledger-elided-amount", "patch": ""}]},
    }
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}
    }


@router.post(
    "/submissions", status_code=202, tags=["submissions"], summary="Hand in one patch or many",
    responses=documented(400, 408, 409, 413, 415), openapi_extra=body_schema(),
)  # fmt: skip
async def submit(
    request: Request,
    holder: Caller,
    service: Ours,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=r"^[!-~]+$",
            description="Your own name for the whole request: "
            "the same request sent again is answered with the same submissions.",
        ),
    ] = None,
) -> SubmissionReceipts:
    """Accept submissions: once this is answered they are on disk, and each will get exactly one verdict.

    A list is accepted as a whole or not at all. Give each submission a `key` to be able to send it again after a
    broken connection: the same key is answered with the same submission. Or give the request an `Idempotency-Key`.
    """
    if service.workers.stopping:
        raise ApiError(503, "stopping", "The server is stopping.", retry=5)
    entries = await read_given(request, service, holder)
    tasks = service.engine.tasks
    new = [
        New(each.id, patch, each.model or "", each.key, each.priority, tasks[each.id].digest) for each, patch in entries
    ]
    stored = await accept(service, holder, new, idempotency_key)
    return SubmissionReceipts(submissions=[_accepted(each) for each in stored])


async def accept(
    service: Service, holder: str, new: list[New], request_key: str | None = None
) -> list[StoredSubmission]:
    """Put submissions on the queue, all of them or none; raises `ApiError`.

    With a `request_key` that this holder gave with the same before, what became of that is returned.
    """
    limit, most, size = service.guards.queue, service.guards.most, service.guards.size
    if len(new) > most:
        raise ApiError(413, "too_large", f"No more than {most:,} submissions of yours may be handed in at once.")
    quota = service.guards.quota_of(holder)
    try:
        stored, count = await run_in_threadpool(service.queue.add, holder, new, limit, quota, request_key, size)
    except QueueFull:
        message = f"{limit:,} submissions or patches of {size:,} bytes may wait, and as many do."
        raise ApiError(503, "queue_full", message, retry=5) from None
    except QuotaUsed as error:
        raise ApiError(429, "quota_used", str(error), retry=error.wait) from None
    except KeyTaken as error:
        raise ApiError(409, "key_taken", str(error)) from None
    service.meters.accepted(count)
    service.workers.wake()
    return stored


@router.get("/submissions", tags=["submissions"], summary="List what you handed in")
async def page(
    holder: Caller,
    service: Ours,
    after: Annotated[str | None, Query(pattern=ULID_PATTERN, description="The submission before the page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Page:
    """Submissions in the order they were accepted, without their whole verdicts."""
    found = await run_in_threadpool(service.queue.page, holder, after, limit)
    shown = [status_of(each, whole=False) for each in found]
    return Page(submissions=shown, next=shown[-1].submission if len(shown) == limit else None)


@router.get("/submissions/{submission}", tags=["submissions"], summary="Ask for a verdict",
            responses=documented(404))  # fmt: skip
async def get(
    submission: str,
    holder: Caller,
    service: Ours,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for the verdict.")] = 0.0,
) -> SubmissionStatus:
    """A submission with its status and, once it is done, its whole verdict."""
    until = time.monotonic() + wait
    with _waiting(service, holder, wait), service.bell.listening(submission) as rung:
        while True:
            found = await run_in_threadpool(service.queue.get, holder, submission) if _is_ulid(submission) else None
            if found is None:
                raise ApiError(404, "unknown_submission", "There is no such submission, or it is somebody else's.")
            left = until - time.monotonic()
            if found.status == "done" or left <= 0 or service.workers.stopping:
                return status_of(found, whole=True)
            await rung_within(rung, min(left, _LOOK))


@router.get(
    "/results", tags=["results"], summary="Stream verdicts", response_class=StreamingResponse,
    responses={200: {"description": "One JSON object a line.", "content": {"application/x-ndjson": {"schema": {
        "type": "string"}}}}},
)  # fmt: skip
async def results(
    holder: Caller,
    service: Ours,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="The last cursor you have.")] = 0,
    wait: Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for further verdicts.")] = 0.0,
    whole: Annotated[bool, Query(description="Whether each line has the whole verdict.")] = False,
) -> StreamingResponse:
    """Verdicts as JSON Lines, in the order they were given, each line a submission with its `cursor`.

    The stream ends `wait` seconds after the last verdict; an empty line now and then says that it is alive. Whoever
    asks again with `after` set to the last cursor misses nothing and gets nothing twice.
    """
    # Faults and refusals are still answers of their own here; once the stream has begun they could not be.
    with _waiting(service, holder, 1):  # a slow reader holds a stream for long, whatever it waits
        first = await run_in_threadpool(_read, service, holder, after, whole)
    return StreamingResponse(_lines(service, holder, after, wait, whole, first), media_type="application/x-ndjson")


async def _lines(
    service: Service, holder: str, after: int, wait: float, whole: bool, found: list[StoredSubmission]
) -> AsyncIterator[str]:
    last = last_sent = time.monotonic()
    with service.waiting.taken(holder) as let, service.meters.streaming(), service.bell.listening() as rung:
        while let:  # else others were quicker, and it ends: its reader asks again
            for each in found:
                yield status_of(each, whole=whole).model_dump_json() + "\n"
                assert each.number is not None  # it has a verdict
                after = each.number
            now = time.monotonic()
            if found:
                last = last_sent = now
            elif now - last >= wait or service.workers.stopping:
                return
            else:
                if now - last_sent >= _KEEP_ALIVE:
                    yield "\n"
                    last_sent = now
                await rung_within(rung, min(_LOOK, max(0.0, wait - (now - last))))
            try:
                found = await run_in_threadpool(_read, service, holder, after, whole)
            except Unavailable as error:  # the stream just ends, and its reader resumes it
                _LOG.warning("%s", error)
                return


def _read(service: Service, holder: str, after: int, whole: bool) -> list[StoredSubmission]:
    return service.queue.results(holder, after, _WHOLE if whole else _BATCH, whole=whole)


@contextlib.contextmanager
def _waiting(service: Service, holder: str, wait: float) -> Iterator[None]:
    """Hold one of the holder's places for requests that wait, since connections are everybody's."""
    if not wait:
        yield
        return
    with service.waiting.taken(holder) as let:
        if not let:
            message = f"{service.waiting.most} requests of this token wait already. Follow /v1/results instead."
            raise ApiError(429, "too_many_waiting", message, retry=5)
        yield


def _accepted(stored: StoredSubmission) -> SubmissionReceipt:
    return SubmissionReceipt(
        submission=stored.ulid,
        id=stored.task,
        key=stored.key,
        status=stored.status,
        url=f"/v1/submissions/{stored.ulid}",
    )


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, _: Caller) -> JSONResponse:
    """The document that says all this to programs."""
    application: FastAPI = request.app
    return JSONResponse(application.openapi())


def _is_ulid(text: str) -> bool:
    return re.fullmatch(ULID_PATTERN, text) is not None


def _host(request: Request) -> str:
    host = request.headers.get("host", "").strip().lower()
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
