"""Reading without end takes bounded memory and keeps both ends."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from repoassay.sandbox.stream import Bounded, Log, pump

NOTE = re.compile(rb"\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n")
PARTS = st.lists(st.binary(max_size=30), max_size=30)


@given(limit=st.integers(1, 200), parts=PARTS)
def test_what_fits_is_kept_whole_and_else_both_ends_are(limit: int, parts: list[bytes]) -> None:
    bounded = Bounded(limit)
    for part in parts:
        bounded.feed(part)
    whole, kept = b"".join(parts), bounded.value()
    assert bounded.total == len(whole)
    assert bounded.truncated == (len(whole) > limit)
    if len(whole) <= limit:
        assert kept == whole
        return
    head, tail = limit - limit // 2, limit // 2
    note = f"\n[... {len(whole) - limit} bytes left out ...]\n".encode()
    assert kept == whole[:head] + note + whole[len(whole) - tail :]


@given(limit=st.integers(1, 5000), sizes=st.lists(st.integers(1, 70_000), max_size=40))
def test_how_it_came_in_makes_no_difference(limit: int, sizes: list[int]) -> None:
    whole = os.urandom(16) * (sum(sizes) // 16 + 1)
    at_once, in_parts = Bounded(limit), Bounded(limit)
    at_once.feed(whole[: sum(sizes)])
    place = 0
    for size in sizes:
        in_parts.feed(whole[place : place + size])
        place += size
    assert at_once.value() == in_parts.value()


@pytest.mark.long
def test_many_small_pieces_take_no_more_memory_than_the_limit() -> None:
    import tracemalloc

    bounded = Bounded(100_000)
    tracemalloc.start()
    for number in range(200_000):
        bounded.feed(b"%06d" % number)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert bounded.value().endswith(b"199999")


@given(limit=st.integers(1, 100), parts=PARTS)
def test_a_log_holds_the_first_bytes_and_a_note(tmp_path_factory: object, limit: int, parts: list[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "below/log.txt")
        with Log(path, limit) as log:
            for part in parts:
                log.write(part)
        whole, kept = b"".join(parts), path.read_bytes()
    if len(whole) < limit:
        assert kept == whole
    else:
        assert kept.startswith(whole[:limit])
        assert kept[limit:] == b"\n[... the log ends here: the output limit was reached ...]\n"


def test_a_log_without_a_path_takes_nothing() -> None:
    with Log(None, 10) as log:
        log.write(b"x")


def test_every_descriptor_is_read_to_its_end_however_late() -> None:
    pipes = [os.pipe() for _ in range(3)]
    ticks = []
    seen: dict[int, bytes] = {}

    def write() -> None:
        for number, (_, end) in enumerate(pipes):
            os.write(end, b"x" * 1000 * (number + 1))
            threading.Event().wait(0.05)
            os.close(end)

    writer = threading.Thread(target=write)
    writer.start()
    sinks = {read: Bounded(1500) for read, _ in pipes}
    pump(sinks, lambda: ticks.append(1), lambda fd, data: seen.update({fd: seen.get(fd, b"") + data}), every=0.01)
    writer.join()
    assert [sink.total for sink in sinks.values()] == [1000, 2000, 3000]
    assert [len(seen[read]) for read, _ in pipes] == [1000, 2000, 3000]
    assert ticks
    for read, _ in pipes:
        os.close(read)
