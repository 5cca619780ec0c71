"""Branches of a prefork server: each holds what its jobs share, and nothing of another's."""

from __future__ import annotations

import threading

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from warm_parents import Warm, run, warm

__all__ = ["warm"]

SEEN = "found = [each['name'] for each in held]"


def test_a_job_has_what_its_branch_holds_and_nothing_else(warm: Warm, cache: Cache) -> None:
    """Nor is anything of another branch in its memory or its descriptors."""
    parent = warm()
    for name in ("one", "two"):
        parent.hold(name, {"name": name, "secret": f"only in branch {name}"})
    look = """
import os
places = [f"/proc/self/fd/{number}" for number in range(4, 4096)]
links = [os.readlink(place) for place in places if os.path.lexists(place)]
memory = []
with open("/proc/self/mem", "rb", 0) as stream:
    for line in open("/proc/self/maps"):
        place, modes, *_ = line.split()
        if modes == "rw-p":
            stream.seek(int(place.partition("-")[0], 16))
            memory.append(stream.read(int(place.partition("-")[2], 16) - stream.tell()))
whole = b"".join(memory)[::-1]  # sought backwards, since what is sought is in this memory too
names = [each["name"] for each in held]
found = [names, [name for name in ("one", "two") if f"{name[::-1]} hcnarb ni ylno".encode() in whole],
         [link for link in links if "memfd" in link or "socket" in link]]
"""
    for name in ("one", "two", "one"):
        assert run(parent, cache, look, branch=name)[0] == [[name], [name], []]
    assert run(parent, cache, SEEN, branch="three")[0] == []
    assert run(parent, cache, SEEN)[0] == []


def test_what_is_held_anew_or_imported_later_is_there(warm: Warm, cache: Cache) -> None:
    """A branch that lacks it is cut, and grows again."""
    parent = warm("found = 0")
    parent.hold("one", {"name": "before"})
    assert run(parent, cache, SEEN, branch="one")[0] == ["before"]
    parent.hold("one", {"name": "after"})
    assert run(parent, cache, SEEN, branch="one")[0] == ["after"]
    parent.import_too(["wave"])
    code = "import sys; found = ['wave' in sys.modules, *(each['name'] for each in held)]"
    assert run(parent, cache, code, branch="one")[0] == [True, "after"]


def test_more_branches_than_are_kept(warm: Warm, cache: Cache) -> None:
    """Those longest unused make room, and come back when they are asked for."""
    parent = warm()
    names = [f"branch-{number}" for number in range(20)]
    for name in names:
        parent.hold(name, {"name": name})
    for name in [*names, *names[:3]]:
        assert run(parent, cache, SEEN, branch=name)[0] == [name]


def test_jobs_of_several_branches_at_a_time(warm: Warm, cache: Cache) -> None:
    """They are isolated from each other as jobs of one are."""
    parent = warm()
    names = ["one", "two"]
    for name in names:
        parent.hold(name, {"name": name})
    code = f"import time; time.sleep(0.2)\n{SEEN}"
    found: dict[str, list[object]] = {name: [] for name in names}

    def several(name: str) -> None:
        for _ in range(3):
            found[name].append(run(parent, cache, code, branch=name)[0])

    threads = [threading.Thread(target=several, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [[name]] * 3 for name in names}


def test_a_branch_that_ends_is_a_fault_of_its_jobs_alone(warm: Warm, cache: Cache) -> None:
    """What it holds is ours: a failure there is never blamed on a submission.

    A job that was given to it is a fault. One for which it had ended before is forked without what it holds.
    """
    parent = warm()
    parent.hold("bad", {"name": "bad", "code": "raise ValueError('cannot be held')"})
    parent.hold("good", {"name": "good"})
    try:
        held, done = run(parent, cache, SEEN, branch="bad")
    except InfraFault:
        pass
    else:
        assert (held, done.exit.code) == ([], 0)
    assert run(parent, cache, SEEN, branch="good")[0] == ["good"]
    assert run(parent, cache, SEEN)[0] == []
