"""What goes over the wire: requests and answers, with the examples of the OpenAPI document."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from repoassay.formats import checked_id
from repoassay.server.queue import StoredSubmission

__all__ = [
    "Health",
    "Page",
    "ProblemDetail",
    "SubmissionReceipt",
    "SubmissionReceipts",
    "SubmissionRequest",
    "SubmissionRequests",
    "SubmissionStatus",
    "status_of",
]

_ULID = "01JD3V6Q8ZK4T5W2N7R9XGYBMC"
_DIFF = "--- a/ledger.py\n+++ b/ledger.py\n@@ -1 +1 @@\n-old\n+new\n"
_ALIASES = {"instance_id": "id", "model_patch": "patch", "model_name_or_path": "model"}


class SubmissionRequest(BaseModel):
    """A patch for a task. For id, patch and model, instance_id, model_patch and model_name_or_path are accepted."""

    model_config = ConfigDict(
        title="NewSubmission",
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"id": "edit-ledger-monthly", "patch": _DIFF, "key": "run-7/task-3"}]},
    )

    id: Annotated[str, Field(min_length=1, max_length=512, description="The task."), AfterValidator(checked_id)]
    patch: Annotated[str | None, Field(description="A unified diff; empty or null changes nothing.")]
    model: Annotated[
        str | None, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="Who made it; only kept.")
    ] = None
    key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            pattern=r"^[!-~]+$",
            description="Your own name for the submission: sent again, the same one is answered.",
        ),
    ] = None
    priority: Annotated[
        int, Field(ge=-100, le=100, description="Of what you handed in, the highest is judged first.")
    ] = 0

    @model_validator(mode="before")
    @classmethod
    def _resolve_aliases(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        for alias, name in _ALIASES.items():
            if alias in data and name in data and data[alias] != data[name]:
                raise ValueError(f"{alias} and {name} differ; keep one of them")
        return {_ALIASES.get(name, name): value for name, value in data.items()}


class SubmissionRequests(BaseModel):
    """One submission, or a list of up to 1,000."""

    model_config = ConfigDict(strict=True)

    items: Annotated[list[SubmissionRequest], Field(min_length=1, max_length=1000)]


class SubmissionReceipt(BaseModel):
    """A submission that is on disk and will get exactly one verdict."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "submission": _ULID,
                    "id": "edit-ledger-monthly",
                    "key": "run-7/task-3",
                    "status": "queued",
                    "url": f"/v1/submissions/{_ULID}",
                }
            ]
        }
    )

    submission: str = Field(description="Its name, a ULID.")
    id: str = Field(description="The task.")
    key: str | None = None
    status: Literal["queued", "running", "done"]
    url: str = Field(description="Where its verdict will be.")


class SubmissionReceipts(BaseModel):
    """What was accepted, in the order it was handed in."""

    submissions: list[SubmissionReceipt]


class SubmissionStatus(BaseModel):
    """A submission and what came of it; what follows `submitted` is null until it is done."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "submission": _ULID,
                    "id": "edit-ledger-monthly",
                    "model": "",
                    "key": "run-7/task-3",
                    "status": "done",
                    "faults": 0,
                    "submitted": "2026-01-05T09:30:00Z",
                    "finished": "2026-01-05T09:30:02Z",
                    "cursor": 41,
                    "message": "FAIL",
                    "success": False,
                    "whose": "agent",
                    "feedback": "test_monthly.py::test_totals: failed\nassert 3 == 4",
                    "verdict": None,
                }
            ]
        }
    )

    submission: str = Field(description="Its name, a ULID.")
    id: str = Field(description="The task.")
    model: str = ""
    key: str | None = None
    status: Literal["queued", "running", "done"]
    faults: int = Field(description="How often our own machinery failed at it; it is tried three times.")
    submitted: datetime
    finished: datetime | None = None
    cursor: int | None = Field(None, description="Its place in the stream of results.")
    message: Literal["PASS", "FAIL", "PATCH FAILED", "TIMED OUT", "ERROR"] | None = None
    success: bool | None = Field(None, description="Whether it passed; null where that is unknown.")
    whose: Literal["agent", "suite", "ours"] | None = Field(
        None, description="Whose doing the verdict is: ERROR is the suite's or ours, never the submission's."
    )
    feedback: str | None = Field(None, description="Which tests failed and why; at most 8,000 characters.")
    verdict: dict[str, Any] | None = Field(None, description="The whole verdict, where it was asked for.")


class Page(BaseModel):
    """Submissions in the order they were accepted."""

    submissions: list[SubmissionStatus]
    next: str | None = Field(description="Give this as `after` for the page that follows; null on the last page.")


class Health(BaseModel):
    """Whether the service accepts work."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "ok", "version": "0.1.0", "tasks": 9, "queued": 0, "running": 2, "places": 2}]
        }
    )

    status: Literal["ok", "stopping"]
    version: str
    tasks: int
    queued: int
    running: int
    places: int = Field(description="How many submissions all servers of the queue that are alive judge at a time.")


class ProblemDetail(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"error": "unknown_task", "message": "There is no task 'leger'. Did you mean ledger?"}]
        }
    )

    error: str = Field(description="One word for programs.")
    message: str = Field(description="A sentence for people: what, where and the remedy.")


def status_of(stored: StoredSubmission, *, whole: bool) -> SubmissionStatus:
    """A submission as it is shown; with its whole verdict where `whole`."""
    return SubmissionStatus(
        submission=stored.ulid,
        id=stored.task,
        model=stored.model,
        key=stored.key,
        status=stored.status,
        faults=stored.faults,
        submitted=_time(stored.created),
        finished=None if stored.finished is None else _time(stored.finished),
        cursor=stored.number,
        message=stored.word,
        success=None if stored.word in {None, "ERROR"} else stored.word == "PASS",
        whose=stored.whose,
        feedback=stored.feedback,
        verdict=json.loads(stored.verdict) if whole and stored.verdict else None,
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
