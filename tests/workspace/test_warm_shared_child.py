"""Branches enter slots by a child that shares their memory: jobs are as in a fork, and none leaves a trace there."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox import WarmParent
from repoassay.sandbox.cache import Cache
from repoassay.types import Ended, FileEdit
from warm_parents import AT_THE_GATE, LAUNCHER, SMALL, Warm, WarmJob, base, run, warm

__all__ = ["warm"]

Branched = Callable[..., WarmParent]
GROWN = b"the branch has grown"
LATE = "did not start it"


@pytest.fixture
def branched(warm: Warm) -> Branched:
    """A prefork server with a branch that says each time that it grows."""

    def begin(hostile: str = "") -> WarmParent:
        parent = warm(hostile)
        parent.hold("own", {"name": "own", "code": f"import os\nos.write(2, {GROWN!r})"})
        return parent

    return begin


@pytest.mark.parametrize("name", AT_THE_GATE)
def test_what_differs_at_the_gate_is_ended(branched: Branched, cache: Cache, name: str) -> None:
    """However often it tries, and whether the branch it was ended in is there or not."""
    code, reason = AT_THE_GATE[name]
    parent = branched(LAUNCHER + code + "\n")
    with pytest.raises(InfraFault, match=reason):
        run(parent, cache, "found = 'it ran'", branch="own")
    for _ in range(2):  # a branch that is about to end may have been given the next one
        with pytest.raises(InfraFault, match=f"{reason}|{LATE}"):
            run(parent, cache, "found = 'it ran'", branch="own")


def test_a_branch_whose_child_was_stopped_midway_is_not_used_again(branched: Branched, cache: Cache) -> None:
    """It has changed what it shared and did not change it back; a job after it finds a new one."""
    code = """
tried = []
def enter_but_once(fd, kind):
    tried.append(kind)
    if len(tried) == 3:
        os.execv("/bin/true", ["true"])
    enter(fd, kind)
kernel.setns = enter_but_once
"""
    parent = branched(LAUNCHER + code)
    with pytest.raises(InfraFault, match="at the gate"):
        run(parent, cache, branch="own")
    assert bytes(parent._said).count(GROWN) == 1
    for _ in range(3):
        with pytest.raises(InfraFault, match=f"at the gate|{LATE}"):
            run(parent, cache, branch="own")
    assert bytes(parent._said).count(GROWN) >= 2


def test_a_slot_that_cannot_be_made_costs_no_branch(branched: Branched, cache: Cache) -> None:
    parent = branched()
    upwards = WarmJob(base(cache), None, {"/tests/../x": FileEdit(b"")}, {"path": [], "code": ""}, SMALL, "own")
    for _ in range(3):
        with pytest.raises(InfraFault, match="leads upwards"):
            parent.run(upwards)
        assert run(parent, cache, "found = [each['name'] for each in held]", branch="own")[0] == ["own"]
    assert bytes(parent._said).count(GROWN) == 1


@pytest.mark.long
def test_jobs_that_end_early_cost_no_branch(branched: Branched, cache: Cache) -> None:
    parent, cancel = branched(), threading.Event()
    _, done = run(parent, cache, "import os; os.kill(0, 9)", branch="own")
    assert (done.exit.ended, done.exit.signal) == (Ended.SIGNALLED, 9)
    short = SMALL.model_copy(update={"seconds": 1})
    assert run(parent, cache, "import time; time.sleep(30)", short, "own")[1].exit.ended is Ended.TIMED_OUT
    threading.Timer(1, cancel.set).start()
    facts = {"path": [], "code": "import time; time.sleep(30)"}
    job = WarmJob(base(cache), None, {}, facts, SMALL, "own")
    assert parent.run(job, cancel).exit.ended is Ended.CANCELLED
    assert run(parent, cache, "found = 'on'", branch="own")[0] == "on"
    assert bytes(parent._said).count(GROWN) == 1


def test_a_job_is_as_in_a_process_of_its_own(branched: Branched, cache: Cache) -> None:
    """Main thread, signals, variables, and a stack as deep as elsewhere."""
    code = """
import json, os, signal, sys, threading
deep = json.loads("[" * 20_000 + "]" * 20_000) if sys.setrecursionlimit(100_000) is None else None
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    heard = True
told = []
beside = threading.Thread(target=lambda: told.append(threading.get_ident()))
beside.start()
beside.join()
found = [threading.current_thread() is threading.main_thread(), told[0] != threading.get_ident(), heard,
         signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, sorted(os.environ), len(deep), os.getpid(), os.getppid()]
os.environ["LEFT"] = "1"
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
"""
    parent = branched()
    plain = run(parent, cache, code)[0]
    assert plain[:4] == [True] * 4
    for _ in range(2):
        assert run(parent, cache, code, branch="own")[0] == plain


@pytest.mark.long
def test_a_stack_that_overflows_ends_the_job_alone(branched: Branched, cache: Cache) -> None:
    parent = branched()
    endless = "import sys\nsys.setrecursionlimit(10**9)\na = []\nfor _ in range(10**6): a = [a]\nfound = len(repr(a))"
    for branch in ("", "own", "own"):
        done = run(parent, cache, endless, branch=branch)[1]
        assert (done.exit.ended, done.exit.signal) == (Ended.SIGNALLED, 11)
    assert run(parent, cache, "found = 'on'", branch="own")[0] == "on"
    assert bytes(parent._said).count(GROWN) == 1


@pytest.mark.long
def test_what_a_job_took_is_told(branched: Branched, cache: Cache) -> None:
    busy = "import time\nx = b'x' * (64 * 2**20)\nwhile time.process_time() < 0.8: pass\nfound = len(x)"
    for branch in ("", "own"):
        exit = run(branched(), cache, busy, branch=branch)[1].exit
        assert 0.55 < exit.cpu < 5
        assert exit.peak_memory is not None and exit.peak_memory >= 64 * 2**20
