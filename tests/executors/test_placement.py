"""Which node is given a job."""

from __future__ import annotations

from repoassay.executors.placement import NodeLoad, choose_node


def load(workers: int, jobs: int, *warm: str, idle_since: float = 0.0) -> NodeLoad:
    return NodeLoad(workers, set(range(jobs)), set(warm), idle_since)


def test_an_idle_warm_node_comes_first() -> None:
    cold, warm = load(2, 0), load(2, 1, "a")
    assert choose_node("a", [cold, warm], 9) is warm
    assert choose_node("b", [cold, warm], 9) is cold


def test_no_job_is_put_behind_another_while_a_node_is_idle() -> None:
    idle, busy = load(1, 0, idle_since=8.0), load(1, 1, "a")  # what is under way may take an hour
    assert choose_node("a", [idle, busy], 9.0) is None
    assert choose_node("a", [idle, busy], 9.6) is idle


def test_when_all_are_busy_the_next_job_waits_where_it_is_warm_and_the_one_after_here() -> None:
    cold, warm = load(1, 1), load(1, 1, "a")
    assert choose_node("a", [cold, warm], 9) is warm
    assert choose_node("a", [load(1, 2), load(1, 2, "a")], 9) is None


def test_of_several_warm_nodes_the_one_with_the_fewest_jobs() -> None:
    more, fewer = load(3, 2, "a"), load(3, 1, "a")
    assert choose_node("a", [more, fewer], 9) is fewer


def test_an_idle_node_begins_anew_with_what_is_warm_elsewhere_once_it_has_waited() -> None:
    cold, full = load(1, 0, idle_since=8.0), load(1, 2, "a")
    assert choose_node("a", [cold, full], 9.0) is None
    assert choose_node("a", [cold, full], 9.6) is cold


def test_what_is_warm_nowhere_waits_for_nobody() -> None:
    idle, busy = load(1, 0, "b", idle_since=9.0), load(1, 1)
    assert choose_node("a", [idle, busy], 9.0) is idle
    assert choose_node("a", [busy], 9.0) is busy
    assert choose_node("a", [load(1, 2)], 9.0) is None


def test_a_node_is_idle_from_when_a_worker_of_it_has_nothing_to_do() -> None:
    node = NodeLoad(1, idle_since=0.0)
    node.take(1, "a")
    node.take(2, "a")
    assert (node.has_room, node.is_idle, node.warm) == (False, False, {"a"})
    node.drop(1)
    assert node.idle_since == 0.0
    node.drop(2)
    assert node.is_idle
    assert node.idle_since > 0.0


def test_short_jobs_are_given_further_ahead_and_never_more_than_eight_a_worker() -> None:
    short, long = NodeLoad(2), NodeLoad(2)
    for number in range(200):
        for node, seconds in ((short, 0.01), (long, 20.0)):
            node.take(number, "a")
            node.drop(number, seconds)
    for node, most in ((short, 16), (long, 4), (NodeLoad(1), 2)):
        taken = 0
        while node.has_room:
            node.take(taken, "a")
            taken += 1
        assert taken == most
