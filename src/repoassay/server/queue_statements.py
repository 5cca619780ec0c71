"""The queue's statements, built once: SQLAlchemy keeps what it compiled of them.

States are written into the SQL, for a partial index serves no statement that has them as parameters. Parameters named
`of_...` are compared with columns.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from repoassay.db import epoch_now
from repoassay.server.queue_tables import answers, requests, submissions, turns, verdicts

__all__ = [
    "ADD_ANSWERS",
    "ADD_HOLDER",
    "ADD_REQUEST",
    "ADD_SUBMISSION",
    "ADD_VERDICT",
    "ANSWERED",
    "ANSWERS_OF",
    "CLAIM",
    "COUNT_ALL",
    "COUNT_ANSWER",
    "COUNT_OWN",
    "COUNT_SINCE",
    "DELETE_REQUESTS",
    "DELETE_SUBMISSION",
    "DELETE_VERDICTS",
    "FIND_KEY",
    "FIND_REQUEST",
    "FINISH",
    "FIRST_PAGE",
    "GET",
    "GET_BRIEF",
    "NEXT",
    "NEXT_PAGE",
    "PUT_BACK",
    "RECOVER_ALL",
    "RECOVER_LAPSED",
    "RELEASE",
    "RENEW",
    "RESULTS",
    "RESULTS_BRIEF",
    "SET_WEIGHT",
    "SIZE_ALL",
    "SIZE_OWN",
    "STATES",
    "TAKE_TURN",
    "TASKS",
    "WAIT_SINCE",
]  # fmt: skip

_s, _v = submissions.c, verdicts.c
_QUEUED = sa.literal_column("'queued'", sa.Text)
_RUNNING = sa.literal_column("'running'", sa.Text)
_DONE = sa.literal_column("'done'", sa.Text)
_ONE = sa.literal_column("1", sa.Integer)


def _parameter(name: str, type_: Any = sa.Text) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=type_)


_LIMIT = _parameter("limit", sa.Integer)
_HOLDER = _parameter("of_holder")
_LEASE_END = epoch_now() + _parameter("seconds", sa.Double)
_MINE = (_s.status == _RUNNING, _s.owner == _parameter("of_owner"))
_CLAIMED = (_s.ulid == _parameter("of_ulid"), *_MINE, _s.claims == _parameter("of_claims", sa.Integer))

# What is accepted.
ADD_HOLDER = sa.insert(turns).from_select(
    ["holder"],
    sa.select(_parameter("new_holder")).where(~sa.exists().where(turns.c.holder == _HOLDER)),
    include_defaults=False,
)
COUNT_ALL = sa.select(sa.func.count()).select_from(submissions).where(_s.status == _QUEUED)
COUNT_OWN = COUNT_ALL.where(_s.holder == _HOLDER)
SIZE_ALL = sa.select(sa.cast(sa.func.coalesce(sa.func.sum(sa.func.length(_s.patch)), 0), sa.BigInteger)).where(
    _s.status == _QUEUED
)
SIZE_OWN = SIZE_ALL.where(_s.holder == _HOLDER)
_weight = _parameter("weight", sa.Integer)
SET_WEIGHT = sa.update(turns).where(turns.c.holder == _HOLDER, turns.c.weight != _weight).values(weight=_weight)
_since = (_s.holder == _HOLDER, _s.created > epoch_now() - _parameter("seconds", sa.Double))
COUNT_SINCE = sa.select(sa.func.count()).select_from(submissions).where(*_since)
# Seconds until so many of those that count have ceased to count.
WAIT_SINCE = (
    sa.select(_s.created + _parameter("seconds", sa.Double) - epoch_now())
    .where(*_since)
    .order_by(_s.created)
    .offset(_parameter("surplus", sa.Integer))
    .limit(_ONE)
)
ADD_SUBMISSION = sa.insert(submissions).values(created=epoch_now()).returning(_s.ulid, _s.created)

# Requests with a key of their own.
_r = requests.c
ADD_REQUEST = sa.insert(requests).values(created=epoch_now()).inline()
FIND_REQUEST = sa.select(_r.digest, _r.ulids).where(_r.holder == _HOLDER, _r.client_key == _parameter("of_key"))

# Who judges what: whoever has the fewest under way for their weight, of those whoever's last turn was over first, of
# theirs what has the highest priority, of these what came first.
_first = (
    sa.select(_s.number)
    .where(_s.holder == turns.c.holder, _s.status == _QUEUED, _s.ready <= epoch_now())
    .order_by(_s.priority.desc(), _s.number)
    .limit(_ONE)
    .correlate(turns)
    .scalar_subquery()
)
_under_way = (
    sa.select(sa.func.count())
    .select_from(submissions)
    .where(_s.holder == turns.c.holder, _s.status == _RUNNING)
    .correlate(turns)
    .scalar_subquery()
)
_line = sa.select(
    turns.c.holder, turns.c.turn, turns.c.weight, _first.label("number"), _under_way.label("running")
).subquery("line")
NEXT = (
    sa.select(_line.c.number, _line.c.holder)
    .where(_line.c.number.is_not(None), _line.c.running < _parameter("each", sa.BigInteger))
    .order_by(_line.c.running * sa.literal_column("1.0", sa.Double) / _line.c.weight, _line.c.turn, _line.c.number)
    .limit(_ONE)
)
CLAIM = (
    sa.update(submissions)
    .where(_s.number == _parameter("of_number", sa.BigInteger), _s.status == _QUEUED)
    .values(status=_RUNNING, owner=_parameter("by"), lease=_LEASE_END, claims=_s.claims + _ONE)
    .returning(_s.ulid, _s.task, _s.patch, _s.claims, _s.faults, _s.task_digest, _s.created, epoch_now().label("now"))
)
# Start-time fair queueing: a line that was idle joins at the present, which is when the latest turn began.
_present = sa.select(sa.func.max(turns.alias().c.began)).scalar_subquery()
_start = sa.case((turns.c.turn > _present, turns.c.turn), else_=_present)
TAKE_TURN = (
    sa.update(turns)
    .where(turns.c.holder == _HOLDER)
    .values(began=_start, turn=_start + sa.literal_column("1000", sa.BigInteger) / turns.c.weight)
)
RENEW = sa.update(submissions).where(*_MINE).values(lease=_LEASE_END)

# How a claim ends.
FINISH = sa.update(submissions).where(*_CLAIMED).values(status=_DONE, owner=None).returning(_s.holder, _s.task)
ADD_VERDICT = sa.insert(verdicts).values(finished=epoch_now()).inline()
_task_is = answers.c.task == _parameter("of_task")
ADD_ANSWERS = sa.insert(answers).from_select(
    ["task", "given"], sa.select(_parameter("new_task"), sa.literal_column("0")).where(~sa.exists().where(_task_is))
)
COUNT_ANSWER = sa.update(answers).where(_task_is).values(given=answers.c.given + _ONE)
ANSWERS_OF = sa.select(answers.c.given).where(_task_is)
PUT_BACK = (
    sa.update(submissions)
    .where(*_CLAIMED)
    .values(
        status=_QUEUED,
        owner=None,
        ready=_LEASE_END,
        faults=_s.faults + _parameter("more_faults", sa.Integer),
        claims=_s.claims + _parameter("more_claims", sa.Integer),
    )
)
RECOVER_ALL = sa.update(submissions).where(_s.status == _RUNNING).values(status=_QUEUED, owner=None).returning(_s.ulid)
RECOVER_LAPSED = RECOVER_ALL.where(_s.lease < epoch_now())
# What is deleted when it was kept for long enough, some at a time.
_kept_until = epoch_now() - _parameter("seconds", sa.Double)
_old = sa.select(_v.number).where(_v.finished < _kept_until).order_by(_v.finished).limit(_LIMIT)
DELETE_VERDICTS = sa.delete(verdicts).where(_v.number.in_(_old.scalar_subquery())).returning(_v.ulid)
DELETE_SUBMISSION = sa.delete(submissions).where(_s.ulid == _parameter("of_ulid"))
DELETE_REQUESTS = sa.delete(requests).where(_r.created < _kept_until)
RELEASE = (
    sa.update(submissions).where(*_MINE).values(status=_QUEUED, owner=None, claims=_s.claims - _ONE).returning(_s.ulid)
)

# What is asked. Rows are the fields of `StoredSubmission`, and the patch's digest.
_rows = sa.select(
    _s.ulid, _s.task, _s.model, _s.client_key, _s.status, _s.faults, _s.created,
    _v.number, _v.word, _v.whose, _v.feedback, _v.verdict, _v.finished, _s.digest,
).select_from(submissions.outerjoin(verdicts, _v.ulid == _s.ulid))  # fmt: skip
_brief = _rows.with_only_columns(
    *(sa.null().label("verdict") if column is _v.verdict else column for column in _rows.selected_columns)
)
FIND_KEY = _rows.where(_s.holder == _HOLDER, _s.client_key == _parameter("of_key"))
GET = _rows.where(_s.holder == _HOLDER, _s.ulid == _parameter("of_ulid"))
GET_BRIEF = _brief.where(_s.holder == _HOLDER, _s.ulid == _parameter("of_ulid"))
FIRST_PAGE = _brief.where(_s.holder == _HOLDER).order_by(_s.number).limit(_LIMIT)
_before = submissions.alias()
NEXT_PAGE = FIRST_PAGE.where(
    _s.number > sa.select(_before.c.number).where(_before.c.ulid == _parameter("of_ulid")).scalar_subquery()
)
_after = (_v.holder == _HOLDER, _v.number > _parameter("after", sa.BigInteger))
RESULTS = _rows.where(*_after).order_by(_v.number).limit(_LIMIT)
RESULTS_BRIEF = _brief.where(*_after).order_by(_v.number).limit(_LIMIT)
STATES = sa.select(_s.status, sa.func.count()).where(_s.status != _DONE).group_by(_s.status)
TASKS = sa.select(_s.task).where(_s.status != _DONE).distinct()
ANSWERED = sa.select(answers.c.task, answers.c.given)
