"""Edit tasks as an environment over HTTP, as OpenEnv's are: reset, step, state below /openenv.

An episode is one task and one patch, which waits on the same queue as every submission, under the quotas of its token.
The reward is 1 when the pass is attested with 40 bits after all that answers have told, and otherwise 0; null when the
fault is ours. Episodes are kept in memory: bounded for each token, in number and age.
"""

from __future__ import annotations

import hashlib
import logging
import random
import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from repoassay.errors import BadInput, InfraFault
from repoassay.grading import ENOUGH
from repoassay.rewards import ANSWER_FORM, extract_patch, repository_text
from repoassay.server.body import read_one
from repoassay.server.episodes import Episode
from repoassay.server.problems import ApiError
from repoassay.server.queue import New
from repoassay.server.routes import Caller, Ours, accept, get
from repoassay.server.schemas import SubmissionStatus
from repoassay.text import printable

__all__ = ["router"]

_WAIT = 60.0
"""Seconds that a step waits for the verdict; whoever sends the same step again waits on."""
_LOG = logging.getLogger("repoassay.serve")
_NAME = r"^[A-Za-z0-9._:-]{1,100}$"

router = APIRouter(prefix="/openenv", include_in_schema=False)


class _ResetRequest(BaseModel):
    """What begins an episode: a task, or one drawn by `seed`."""

    model_config = ConfigDict(extra="ignore")

    task: Annotated[str | None, Field(min_length=1, max_length=512)] = None
    seed: Annotated[int | None, Field(ge=0, lt=2**63)] = None
    episode_id: Annotated[str | None, Field(pattern=_NAME)] = None


class _PatchAction(BaseModel):
    patch: str


class _StepRequest(BaseModel):
    """A step: `action.patch` is a diff, or an answer that holds one in a fenced block."""

    model_config = ConfigDict(extra="ignore")

    action: _PatchAction
    episode_id: Annotated[str, Field(pattern=_NAME)]


@router.post("/reset")
async def reset(request: Request, holder: Caller, service: Ours) -> dict[str, Any]:
    """Begin an episode: the instruction of a task and its repository's files."""
    request_body = await read_one(request, service, holder, _ResetRequest)
    tasks = sorted(service.engine.tasks)
    drawn = random.Random(request_body.seed).choice(tasks)  # noqa: S311 - which task comes next is no secret
    task, name = request_body.task or drawn, request_body.episode_id or uuid.uuid4().hex
    try:
        folder = service.engine.task(task)
        async with service.episodes.turns[holder], service.episodes.preparing:
            base = await run_in_threadpool(service.engine.checkout, task)
            files = await run_in_threadpool(repository_text, base)
    except BadInput as error:
        raise ApiError(422, "unknown_task", str(error)) from None
    except InfraFault as error:
        _LOG.warning("The task %s cannot be prepared: %s", printable(task), printable(str(error), 500))
        raise ApiError(503, "not_prepared", "The task cannot be prepared; the log says why.", retry=30) from None
    service.episodes.begin(holder, name, task)
    observation = {
        "episode_id": name, "task": task, "instruction": folder.instruction, "repository": files,
        "answer_form": ANSWER_FORM, "message": "",
    }  # fmt: skip
    return {"observation": observation, "reward": None, "done": False}


@router.post("/step")
async def step(request: Request, holder: Caller, service: Ours) -> dict[str, Any]:
    """Hand in the episode's patch and wait for the reward; sent again, the same step is answered alike."""
    request_body = await read_one(request, service, holder, _StepRequest)
    async with service.parsing:  # a long text takes seconds
        patch, why = await run_in_threadpool(extract_patch, request_body.action.patch)
    episode = service.episodes.find(holder, request_body.episode_id)
    handed_in = hashlib.sha256(request_body.action.patch.encode("utf-8", "surrogatepass")).hexdigest()
    if episode.patch not in (None, handed_in):
        raise ApiError(409, "episode_done", "The episode has its patch already. Reset for another.")
    if len(patch.encode("utf-8", "surrogatepass")) > service.guards.patch:
        raise ApiError(413, "too_large", f"The patch is larger than {service.guards.patch:,} bytes.")
    episode.patch = handed_in
    if not patch:
        return _stepped(request_body.episode_id, episode, 0.0, why)
    if not episode.submission:
        if service.workers.stopping:
            raise ApiError(503, "stopping", "The server is stopping.", retry=5)
        digest = service.engine.tasks[episode.task].digest
        new = New(episode.task, patch.encode(), key=episode.key, task_digest=digest)
        (stored,) = await accept(service, holder, [new])
        episode.submission = stored.ulid
    status = await get(episode.submission, holder, service, _WAIT)
    if status.message is None:
        raise ApiError(503, "not_judged", "The patch is not judged yet. Send the same step again.", retry=1)
    return _stepped(request_body.episode_id, episode, _reward(status), status.message)


@router.get("/state")
async def state(
    holder: Caller, service: Ours, episode_id: Annotated[str, Query(pattern=_NAME)]
) -> dict[str, str | int | bool]:
    """How far an episode is."""
    episode = service.episodes.find(holder, episode_id)
    steps = int(episode.patch is not None)
    return {"episode_id": episode_id, "step_count": steps, "task": episode.task, "done": episode.done}


def _stepped(name: str, episode: Episode, reward: float | None, message: str) -> dict[str, Any]:
    episode.done = True
    observation = {"episode_id": name, "task": episode.task, "message": message}
    return {"observation": observation, "reward": reward, "done": True}


def _reward(status: SubmissionStatus) -> float | None:
    """1 for an attested pass; None where we failed to judge."""
    if status.whose != "agent":
        return None
    assurance = (status.verdict or {}).get("assurance") or {}
    attested = assurance.get("grade") == "attested" and assurance.get("bits", 0.0) >= ENOUGH
    return 1.0 if status.message == "PASS" and attested else 0.0
