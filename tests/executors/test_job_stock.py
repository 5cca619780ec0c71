"""Answers of a node's jobs go together, and none waits while a worker may soon have nothing to do."""

from __future__ import annotations

import threading
from functools import partial

from repoassay.executors.job_stock import JobStock, StockAnswer


def test_answers_of_many_jobs_come_together_and_each_once() -> None:
    stock = JobStock(1)
    held = threading.Event()

    last = threading.Event()

    def work(number: int) -> bytes:
        held.wait(30)
        if number == 7:
            last.set()
        return str(number).encode()

    for number in range(8):
        stock.add(number, partial(work, number))
    held.set()
    assert last.wait(30)
    takes: list[list[StockAnswer]] = []
    while sum(len(take) for take in takes) < 8:
        takes.append(stock.take())
    answers = [answer for take in takes for answer in take]
    assert [(number, answer) for number, answer, _ in answers] == [(each, str(each).encode()) for each in range(8)]
    assert all(seconds >= 0 for _, _, seconds in answers)
    assert len(takes[0]) > 1


def test_an_answer_does_not_wait_for_a_job_that_takes_long() -> None:
    stock = JobStock(2)
    end = threading.Event()
    stock.add(1, lambda: b"a" if end.wait(60) else b"")
    stock.add(2, lambda: b"b")
    assert [(number, answer) for number, answer, _ in stock.take()] == [(2, b"b")]
    for number in range(3, 9):  # more than it would hold back for
        stock.add(number, lambda: b"c" if end.wait(60) else b"")
    stock.add(9, lambda: b"d")
    end.set()
    left = set(range(1, 10)) - {2}
    while left:
        left -= {number for number, _, _ in stock.take()}


def test_whoever_waits_is_let_go_when_it_is_closed() -> None:
    stock = JobStock(1)
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(stock.take()))
    waiting.start()
    stock.close()
    waiting.join(30)
    assert found == [[]]
