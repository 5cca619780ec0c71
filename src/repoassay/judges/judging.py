"""A judge at work: every item, axis and sample that is not stored yet is asked, checked and stored, one by one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait as wait_for
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.judges.injection import Flag, injections
from repoassay.judges.judgement import Judgement
from repoassay.judges.prompt import signals_by_axis
from repoassay.judges.sample import Asker, SampleRequest, take_samples
from repoassay.judges.store import JudgeRecord, judge_ratings, judgements_of, keep
from repoassay.judges.votes import rating_of, votes
from repoassay.model_proxy import BudgetSpent, NoAnswer
from repoassay.review import (
    Conflict,
    hidden_of,
    import_ratings,
    item_names,
    payload_of,
    queue_of,
    read_rubric_of,
    study_of,
)
from repoassay.text import printable, suggest
from repoassay.types import Rating, RatingPhase

__all__ = ["JudgingResult", "JudgingStep", "judge_study"]

_MOST_FAILURES = 3


@dataclass(frozen=True, slots=True)
class JudgingStep:
    """One sample that was stored (`judgement`) or failed (`failure`, one sentence); `number` of `of` in this run."""

    item: str
    axis: str
    sample: int
    number: int
    of: int
    judgement: Judgement | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class JudgingResult:
    """The result of one run of a judge. `stopped`: why it ended early, else empty; `left` samples were not asked.

    `interrupted`: it was the user who stopped it.
    """

    stored: int
    void: int
    failed: int
    left: int
    kept_before: int
    rated: int
    skipped: tuple[str, ...] = ()
    stopped: str = ""
    interrupted: bool = False


def judge_study(
    database: Database,
    judge: JudgeRecord,
    asker: Asker,
    *,
    samples: int = 3,
    axes: Sequence[str] = (),
    signals: bool = False,
    workers: int = 1,
    on_step: Callable[[JudgingStep], None] = lambda _: None,
    abandon: Callable[[], None] = lambda: None,
) -> JudgingResult:
    """Ask what is not stored yet, and submit a rating of every item all of whose axes are judged.

    Every sample is stored as it comes, so whatever ends the run, nothing that was answered is asked again. A call that
    fails is not stored: the next run asks it. After three failures in a row nothing more is asked.

    Args:
        database: Of the study.
        judge: From `seat`.
        asker: Asks the judge's model.
        samples: How often each axis of each item is asked, 1 to 1000.
        axes: Keys of the axes asked about; all by default.
        signals: Whether a second pass is made, in which items that have signals are judged again knowing them.
        workers: Calls at a time. With one, the order is that of items, axes and samples.
        on_step: Hears of every step, on the thread that made it.
        abandon: Called when the user interrupts, so that calls under way end soon.

    Raises:
        BadInput: When the rubric has no such axis, or no item of the study has a diff.
    """
    work = _Work(database, judge, asker, on_step, _axes(database, judge, axes), samples)
    for phase in (RatingPhase.BLIND, RatingPhase.REVEALED) if signals else (RatingPhase.BLIND,):
        if not work.stopped:
            work.plan(phase)
            work.run(workers, abandon)
    return work.done()


class _Work:
    """One run: what is to be asked, what came of it, and whether to go on."""

    def __init__(
        self,
        database: Database,
        judge: JudgeRecord,
        asker: Asker,
        on_step: Callable[[JudgingStep], None],
        axes: list[str],
        samples: int,
    ) -> None:
        self.database, self.judge, self.asker, self.on_step = database, judge, asker, on_step
        self.axes, self.samples = axes, samples
        study = judge.rater.study
        self.study, self.rubric = study_of(database, study), read_rubric_of(database, study)
        self.places = {each.item: each.position for each in queue_of(database, judge.rater)}
        self.rows: list[SampleRequest] = []
        self.open: Counter[tuple[str, RatingPhase]] = Counter()
        self.skipped: list[str] = []
        self.planned = self.before = self.stored = self.void = self.failed = self.rated = self.in_a_row = 0
        self.stopped = ""  # read through `ended`: another thread may set it at any time
        self.flags: dict[str, tuple[Flag, ...]] = {}
        self.interrupted = False
        self.lock = threading.Lock()

    def plan(self, phase: RatingPhase) -> None:
        """Add what is to be asked in a phase."""
        self.rows = []
        held = {(each.item, each.axis, each.sample) for each in judgements_of(self.database, self.judge, phase)}
        judgeable = 0
        for item in item_names(self.database, self.study.name):
            if not payload_of(self.database, self.study.name, item).diff.strip():
                self.skipped.append(f"{item}: it has no diff, and a judge reads nothing else.")
                continue
            judgeable += 1
            texts = dict.fromkeys(self.axes, "")
            if phase is RatingPhase.REVEALED:
                known = signals_by_axis(hidden_of(self.database, self.study.name, item), self.rubric)
                texts = {axis: known[axis] for axis in self.axes if axis in known}
                if not known:
                    self.skipped.append(f"{item}: no signals are recorded, so it has no second pass.")
            asks = [
                SampleRequest(item, axis, n, phase, text)
                for axis, text in texts.items()
                for n in range(1, self.samples + 1)
            ]
            new = [each for each in asks if (each.item, each.axis, each.sample) not in held]
            self.before += len(asks) - len(new)
            self.rows += new
            self.open[item, phase] = len(new)
            if asks and not new:
                self.rate(item, phase)  # killed between the last sample and the rating
        if not judgeable:
            raise BadInput(f"No item of the study {self.study.name!r} has a diff.", "Judges review changes only.")
        self.planned += len(self.rows)
        self.skipped = list(dict.fromkeys(self.skipped))

    def run(self, workers: int, abandon: Callable[[], None]) -> None:
        """Ask; an interrupt ends calls under way."""
        with ThreadPoolExecutor(max_workers=max(1, workers), thread_name_prefix="judge") as pool:
            line = [pool.submit(self.one, number, each) for number, each in enumerate(self.rows, 1)]
            try:
                wait_for(line)
            except KeyboardInterrupt:
                self.interrupted = True
                self.stop("Interrupted.")
                pool.shutdown(wait=False, cancel_futures=True)
                abandon()
        for each in line:
            if not each.cancelled():
                each.result()

    def ended(self) -> bool:
        """Whether nothing more is asked."""
        return bool(self.stopped)

    def stop(self, why: str) -> None:
        """Ask nothing more; the first reason stays."""
        with self.lock:
            self.stopped = self.stopped or why

    def one(self, number: int, request: SampleRequest) -> None:
        """Ask for one sample and store it."""
        if self.ended():
            return
        step = JudgingStep(request.item, request.axis, request.sample, number, len(self.rows))
        try:
            payload = payload_of(self.database, self.study.name, request.item)
            if request.item not in self.flags:
                self.flags[request.item] = injections(payload)
            flags = self.flags[request.item]
            judgement = take_samples(self.judge, self.asker, request, payload, self.study, self.rubric, flags)
            keep(self.database, self.study.name, judgement)
        except BudgetSpent as error:
            self.stop(str(error))
            return
        except NoAnswer as error:
            if self.ended():
                return
            with self.lock:
                self.failed += 1
                self.in_a_row += 1
                many = self.in_a_row >= _MOST_FAILURES
            if many:
                self.stop(f"{_MOST_FAILURES} calls in a row failed; the last: {error}")
            self.on_step(JudgingStep(step.item, step.axis, step.sample, number, step.of, failure=str(error)))
            return
        except BaseException as error:
            self.stop(str(error))  # whatever it is, nothing more is paid for
            raise
        with self.lock:
            self.in_a_row = 0
            self.stored += 1
            self.void += judgement.answer is None
            self.open[request.item, request.phase] -= 1
            last = not self.open[request.item, request.phase]
        self.on_step(JudgingStep(step.item, step.axis, step.sample, number, step.of, judgement=judgement))
        if last:
            self.rate(request.item, request.phase)

    def rate(self, item: str, phase: RatingPhase) -> None:
        """Submit the rating of an item, where all its axes are judged and it says something new."""
        mine = judgements_of(self.database, self.judge, item=item)
        found = votes((each for each in mine if each.phase is RatingPhase.BLIND), self.rubric)
        if phase is RatingPhase.REVEALED:  # what no signal speaks of stays as it was
            found |= votes((each for each in mine if each.phase is phase), self.rubric)
        with self.lock:
            line = judge_ratings(self.database, self.judge, item)
            same = [each for each in line if each.phase is phase]
            if same and phase is RatingPhase.BLIND and same[-1] is not line[-1]:
                return  # amended by a second pass already; figures of the first read its samples
            rating = rating_of(
                found, item, self.rubric, study=self.study.name, rater=self.judge.rater.id, phase=phase,
                position=self.places.get(item, 1), before=line[-1] if line else None, at=_now(),
            )  # fmt: skip
            if rating is not None:
                self.submit(rating)

    def submit(self, rating: Rating) -> None:
        """Submit a rating; where another run of the same judge was quicker, its rating stays."""
        with suppress(Conflict):
            import_ratings(self.database, self.study.name, [rating], at=rating.submitted, by=self.judge.rater.id)
            self.rated += 1

    def done(self) -> JudgingResult:
        """What it came to."""
        left = self.planned - self.stored - self.failed
        return JudgingResult(
            self.stored,
            self.void,
            self.failed,
            left,
            self.before,
            self.rated,
            tuple(self.skipped),
            self.stopped,
            self.interrupted,
        )


def _axes(database: Database, judge: JudgeRecord, names: Sequence[str]) -> list[str]:
    known = [axis.key for axis in read_rubric_of(database, judge.rater.study).axes]
    for each in names:
        if each not in known:
            raise BadInput(f"The rubric has no axis {printable(each)!r}.", suggest(each, known))
    return [axis for axis in known if axis in names] if names else known


def _now() -> datetime:
    return datetime.now(UTC)
