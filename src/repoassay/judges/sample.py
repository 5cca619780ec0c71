"""One sample: asked once, once more where the answer cannot be read, and its evidence checked."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from repoassay.judges.answer import JudgeReply, read_answer, read_reply, wrong_evidence
from repoassay.judges.injection import Flag
from repoassay.judges.judgement import Judgement
from repoassay.judges.prompt import prompt_of
from repoassay.judges.store import JudgeRecord
from repoassay.model_proxy import UnreadableAnswer
from repoassay.review import ItemPayload, Rubric, Study, rater_view
from repoassay.text import printable
from repoassay.types import RatingPhase

__all__ = ["Asker", "SampleRequest", "take_samples"]

Asker = Callable[[str, str], str]
"""Asks a model: the system's message and the user's in, the text of its answer out."""


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What one sample is of. `signals` is text for the second pass, empty in the first."""

    item: str
    axis: str
    sample: int
    phase: RatingPhase
    signals: str = ""


def take_samples(
    judge: JudgeRecord,
    asker: Asker,
    request: SampleRequest,
    payload: ItemPayload,
    study: Study,
    rubric: Rubric,
    flags: tuple[Flag, ...] = (),
) -> Judgement:
    """Take one sample.

    Args:
        judge: Who is asked.
        asker: Asks its model.
        request: What about.
        payload: What raters see of the item; nothing else of it is known here.
        study: Says whether raters see the reference.
        rubric: Of the study.
        flags: What of the payload speaks to reviewers; kept with the sample, told to nobody.

    Raises:
        NoAnswer: When there was none.
        BudgetSpent: When the budget lets no further call through.
        BadInput: When the judge's templates cannot be filled in.
    """
    view = rater_view(request.item, payload, rubric, study, 1, 1)
    swapped = _swapped(request, study.seed) if view.payload.reference else None
    reply: JudgeReply | None = None
    correction, calls = "", 0
    while reply is None and calls < 2:
        prompt = prompt_of(
            judge.definition, view, request.axis, swapped=bool(swapped), signals=request.signals, correction=correction
        )
        calls += 1
        try:
            reply = read_answer(asker(prompt.system, prompt.user), rubric, request.axis)
        except UnreadableAnswer as error:
            correction = str(error)
    # What it cites is not asked for again: a second try would be a guess at what passes.
    void = correction if reply is None else wrong_evidence(reply, prompt.diff, rubric, request.axis)
    return Judgement(
        rater=judge.rater.id,
        item=request.item,
        axis=request.axis,
        phase=request.phase,
        sample=request.sample,
        answer=None if reply is None or void else read_reply(reply),
        void=void[:1000],
        why="" if reply is None else reply.why,
        asked=calls,
        swapped=swapped,
        cut=tuple(printable(each, 1500) for each in prompt.cut[:50]),
        flags=flags,
        at=datetime.now(UTC),
    )


def _swapped(request: SampleRequest, seed: int) -> bool:
    """Whether the reference comes first: by turns, from a start that differs from item to item."""
    start = random.Random(f"order:{seed}:{request.item}:{request.axis}").randrange(2)  # noqa: S311 - balances, no secret
    return (start + request.sample) % 2 == 0
