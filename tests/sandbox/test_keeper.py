"""What a fork server knows of a job whose place could not be made, whoever writes or ends first."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from repoassay.sandbox.launcher.keeper import Keeper

FAULT = b"OSError: no room\n"


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper({"id": 1, "seconds": 1})
    yield keeper
    keeper.let_go()
    keeper.close()


def gone(code: int = 0) -> int:
    """The number of a process that has ended and is not buried."""
    child = os.fork()
    if child == 0:
        os._exit(code)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return child


def bury(keeper: Keeper, child: int) -> None:
    """As the server does with each process that has ended."""
    *_, usage = os.wait4(child, 0)
    keeper.know_first()
    if keeper.first == child:
        keeper.buried(usage)


@pytest.mark.parametrize("order", ["number, fault", "fault, number"])
@pytest.mark.parametrize("read", [True, False])
def test_why_a_place_could_not_be_made_is_told(keeper: Keeper, order: str, read: bool) -> None:
    child = gone()
    words = {"number": f"{child}\n".encode(), "fault": FAULT}
    for word in order.split(", "):
        os.write(keeper.made_inner, words[word])
        if read:
            keeper.ready(keeper.made)
    bury(keeper, child)
    assert keeper.answer() == {"fault": "OSError: no room"}
    assert keeper.over


@pytest.mark.parametrize("word", [b"", FAULT])
def test_who_was_buried_before_its_number_came_is_not_waited_for(keeper: Keeper, word: bytes) -> None:
    child = gone()
    os.write(keeper.made_inner, word)
    bury(keeper, child)
    if word:
        keeper.ready(keeper.made)
    early = keeper.over
    os.write(keeper.made_inner, f"{child}\n".encode())
    keeper.ready(keeper.made)
    assert keeper.over and not early
    assert "no room" in keeper.answer()["fault"] if word else "was killed" in keeper.answer()["fault"]


def test_a_process_1_that_was_killed_is_said_to_be(keeper: Keeper) -> None:
    child = gone()
    os.write(keeper.made_inner, f"{child}\n".encode())
    bury(keeper, child)
    assert keeper.over
    assert "was killed" in keeper.answer()["fault"]


def test_a_process_1_that_was_never_made_is_not_waited_for(keeper: Keeper) -> None:
    os.write(keeper.made_inner, FAULT)
    os.close(keeper.made_inner)
    keeper.made_inner = os.open("/dev/null", os.O_WRONLY)
    keeper.ready(keeper.made)
    early = keeper.over  # its number may still come
    keeper.ready(keeper.made)
    assert keeper.over and not early
    assert keeper.answer() == {"fault": "OSError: no room"}
