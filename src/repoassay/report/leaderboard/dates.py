"""Times: nothing happens in the future, before the plan, or takes longer than it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import RUN, SUBMISSION, EntryRefusal, LeaderboardEntry
from repoassay.types import Plan

__all__ = ["check_dates"]

_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
_SLACK = timedelta(seconds=5)
"""Clocks are set while attempts run; seconds of difference mean nothing."""


def check_dates(
    plan: Plan, submitted: LeaderboardEntry, made: Sequence[AttemptFiles], latest: datetime
) -> Iterator[EntryRefusal]:
    """Refuse times that cannot be. `latest` is the present, with some minutes of leave."""
    created = _utc(plan.created)
    if not _EARLIEST <= created <= latest:
        yield EntryRefusal(f"{RUN}/run.json", f"created is {created.isoformat()}, which is in the future or long past.")
        return
    if submitted.submitted > latest:
        yield EntryRefusal(SUBMISSION, f"submitted is {submitted.submitted.isoformat()}, which is in the future.")
        return
    for one in made:
        attempt = one.attempt
        started, ended, graded = _utc(attempt.started), _utc(attempt.ended), _utc(one.verdict.graded_at)
        if max(started, ended, graded) > latest:
            yield EntryRefusal(one.place, "it started, ended or was graded in the future.")
            continue
        if started < created - _SLACK:
            yield EntryRefusal(one.place, f"it started at {started.isoformat()}, before its run was planned.")
        if ended < started or graded < started:
            yield EntryRefusal(one.place, "it ended or was graded before it started.")
        if ended > submitted.submitted + _SLACK:
            yield EntryRefusal(one.place, "it ended after it was submitted.")
        ending = attempt.submission.exit
        if ending is not None and not 0 <= ending.wall <= (ended - started + _SLACK).total_seconds():
            took = (ended - started).total_seconds()
            yield EntryRefusal(
                one.place, f"its agent is said to have run {ending.wall:g} s in an attempt of {took:g} s."
            )


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
