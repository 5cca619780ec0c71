"""Reading a request's body: never more of it than is allowed, and whatever it holds, an answer below 500."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from repoassay.errors import BadInput
from repoassay.server.problems import ApiError
from repoassay.server.schemas import SubmissionRequest, SubmissionRequests
from repoassay.server.service import Guards, Service
from repoassay.text import printable

if TYPE_CHECKING:
    from fastapi import Request

__all__ = ["read_given", "read_one", "read_parsed"]

_Parsed = TypeVar("_Parsed")
_Model = TypeVar("_Model", bound=BaseModel)

_SECONDS = 60.0
"""How long a body may take to arrive."""
_SMALL = 2**16
"""Bytes of a body that are held without asking."""
_MOST_SAID = 10


async def read_given(request: Request, service: Service, holder: str) -> list[tuple[SubmissionRequest, bytes]]:
    """Read one submission or a list of them, with their patches as bytes.

    Args:
        request: Of which the body is read.
        service: Says how large it may be, and which tasks there are.
        holder: Who sends it.

    Raises:
        ApiError: When it cannot be used.
    """
    return await read_parsed(request, service, holder, lambda body: _parse(body, service.guards, service.engine.task))


async def read_one(request: Request, service: Service, holder: str, kind: type[_Model]) -> _Model:
    """Read a body that is one record of a kind; an empty body is one without keys.

    Raises:
        ApiError: When it cannot be used.
    """

    def parse_one(body: bytearray) -> _Model:
        try:
            return kind.model_validate(from_json(body) if body.strip() else {})
        except ValidationError as error:
            raise ApiError(422, "invalid", _problems_text(error)) from None
        except ValueError as error:
            raise ApiError(400, "malformed_json", f"The body is not JSON: {printable(str(error), 200)}.") from None

    return await read_parsed(request, service, holder, parse_one)


async def read_parsed(
    request: Request, service: Service, holder: str, parse: Callable[[bytearray], _Parsed]
) -> _Parsed:
    """Read a bounded body, as much of it at a time as there is room for, and parse it beside the event loop.

    Raises:
        ApiError: It is no JSON, too large, too slow, or `parse` raises it.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError(415, "not_json", "The body must be JSON. Send it with Content-Type: application/json.")
    limit = service.guards.body
    too_large = ApiError(
        413, "too_large", f"The body is larger than {limit:,} bytes. Send fewer submissions at a time."
    )
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and (len(length) >= 20 or int(length) > limit):
        raise too_large
    body = bytearray()
    async with contextlib.AsyncExitStack() as held:
        try:
            async with asyncio.timeout(_SECONDS):
                async for part in request.stream():
                    if len(body) + len(part) > limit:
                        raise too_large
                    if len(body) <= _SMALL < len(body) + len(part):
                        await held.enter_async_context(service.bodies[holder])
                        await held.enter_async_context(service.large)
                    body += part
        except TimeoutError:
            raise ApiError(408, "too_slow", f"The body took longer than {_SECONDS:g} s to arrive.") from None
        except ClientDisconnect:
            raise ApiError(400, "gone", "The body ended early.") from None
        async with service.parsing:
            return await run_in_threadpool(parse, body)


def _parse(body: bytearray, guards: Guards, known: Callable[[str], object]) -> list[tuple[SubmissionRequest, bytes]]:
    try:
        data = from_json(body)
    except ValueError as error:
        raise ApiError(400, "malformed_json", f"The body is not JSON: {printable(str(error), 200)}.") from None
    many = isinstance(data, list)
    try:
        items = (
            SubmissionRequests.model_validate({"items": data}).items
            if many
            else [SubmissionRequest.model_validate(data)]
        )
    except ValidationError as error:
        raise ApiError(422, "invalid", _problems_text(error)) from None
    found = []
    for number, item in enumerate(items):
        place = f"[{number}]." if many else ""
        patch = (item.patch or "").encode()
        if len(patch) > guards.patch:
            raise ApiError(413, "too_large", f"{place}patch is larger than {guards.patch:,} bytes.")
        try:
            known(item.id)
        except BadInput as error:
            raise ApiError(422, "unknown_task", f"{place}id: {error}") from None
        found.append((item, patch))
    return found


def _problems_text(error: ValidationError) -> str:
    """Up to ten problems, each with its place; what was sent is not repeated, for it may be anything."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    lines = []
    for problem in problems[:_MOST_SAID]:
        place = ".".join(
            f"[{part}]" if isinstance(part, int) else str(part) for part in problem["loc"] if part != "items"
        )
        lines.append(
            f"{printable(place)}: {printable(problem['msg'], 200)}" if place else printable(problem["msg"], 200)
        )
    more = f" And {len(problems) - _MOST_SAID} more." if len(problems) > _MOST_SAID else ""
    return "; ".join(lines) + "." + more
