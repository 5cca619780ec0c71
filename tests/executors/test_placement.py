"""Which node is given a job."""

from __future__ import annotations

from repoassay.executors.placement import NodeLoad, choose_node


def load(workers: int, jobs: int, *warm: str, idle_since: float = 0.0, seconds: float = 0.3) -> NodeLoad:
    return NodeLoad(workers, set(range(jobs)), set(warm), idle_since, seconds)


def test_an_idle_warm_node_comes_first() -> None:
    cold, warm = load(2, 0), load(2, 1, "a")
    assert choose_node(["a"], [cold, warm], 9) is warm
    assert choose_node(["b"], [cold, warm], 9) is cold


def test_no_job_is_put_behind_another_while_a_node_is_idle() -> None:
    idle, busy = load(1, 0, idle_since=8.0), load(1, 1, "a")  # what is under way may take an hour
    assert choose_node(["a"], [idle, busy], 9.0) is None
    assert choose_node(["a"], [idle, busy], 9.6) is idle


def test_when_all_are_busy_the_next_job_waits_where_it_is_warm_and_the_one_after_here() -> None:
    cold, warm = load(1, 1), load(1, 1, "a")
    assert choose_node(["a"], [cold, warm], 9) is warm
    assert choose_node(["a"], [load(1, 2), load(1, 2, "a")], 9) is None


def test_of_several_warm_nodes_the_one_with_the_fewest_jobs() -> None:
    more, fewer = load(3, 2, "a"), load(3, 1, "a")
    assert choose_node(["a"], [more, fewer], 9) is fewer


def test_an_idle_node_begins_anew_with_what_is_warm_elsewhere_once_it_has_waited() -> None:
    cold, full = load(1, 0, idle_since=8.0), load(1, 2, "a")
    assert choose_node(["a"], [cold, full], 9.0) is None
    assert choose_node(["a"], [cold, full], 9.6) is cold


def test_what_is_warm_nowhere_waits_for_nobody() -> None:
    idle, busy = load(1, 0, "b", idle_since=9.0), load(1, 1)
    assert choose_node(["a"], [idle, busy], 9.0) is idle
    assert choose_node(["a"], [busy], 9.0) is busy
    assert choose_node(["a"], [load(1, 2)], 9.0) is None


def test_of_nodes_with_the_environment_the_one_that_has_begun_with_the_task() -> None:
    task = ["env", "task"]
    other, same = load(4, 0, "env", "more"), load(4, 2, "env", "task")
    assert choose_node(task, [other, same], 9.0) is same
    assert choose_node(task, [other, load(4, 0, "env")], 9.0) is not other  # begun nowhere: with fewer tasks


def test_an_idle_node_begins_with_a_task_that_is_warm_on_busy_ones_sooner_than_with_an_environment() -> None:
    task = ["env", "task"]
    idle, bare = load(1, 0, "env", idle_since=8.9), load(1, 0, idle_since=8.0)
    busy = load(1, 2, "env", "task")
    assert choose_node(task, [idle, bare, busy], 9.0) is None
    assert choose_node(task, [idle, bare, busy], 9.15) is idle


def test_short_jobs_of_a_task_are_given_ahead_where_it_is_warm_while_others_wait_for_theirs() -> None:
    idle, quick = load(1, 0, "env", idle_since=8.9), load(1, 3, "env", "task", seconds=0.02)
    assert choose_node(["env", "task"], [idle, quick], 9.0) is quick
    full = load(1, 8, "env", "task", seconds=0.02)
    assert choose_node(["env", "task"], [idle, full], 9.0) is None


def test_no_busy_node_begins_anew_with_what_is_warm_on_one_that_is_full() -> None:
    full, busy = load(1, 2, "env", "task"), load(1, 1, "env")
    assert choose_node(["env", "task"], [full, busy], 9.0) is None


def test_a_job_that_wants_nothing_waits_for_nobody() -> None:
    idle, busy = load(1, 0, idle_since=9.0), load(1, 1, "a")
    assert choose_node([], [busy, idle], 9.0) is idle


def test_a_node_is_idle_from_when_a_worker_of_it_has_nothing_to_do() -> None:
    node = NodeLoad(1, idle_since=0.0)
    node.take(1, ["a"])
    node.take(2, ["a"])
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
            node.take(number, ["a"])
            node.drop(number, seconds)
    for node, most in ((short, 16), (long, 4), (NodeLoad(1), 2)):
        taken = 0
        while node.has_room:
            node.take(taken, ["a"])
            taken += 1
        assert taken == most
