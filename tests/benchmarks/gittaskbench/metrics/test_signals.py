"""Events matched one to one, against matching by brute force; lists in cells, however they are written."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.benchmarks.gittaskbench.metrics.signals import matched_events, read_lists
from repoassay.errors import InfraFault
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get

EVENTS = st.lists(st.integers(0, 30), max_size=6)


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def value(name: str, *arguments: Path, **options: object) -> float:
    return get(name).measure(*arguments, **options).value


@given(EVENTS, EVENTS, st.integers(0, 6))
@settings(max_examples=150, deadline=None)
def test_no_way_to_pair_events_finds_more_pairs(ours: list[int], theirs: list[int], tolerance: int) -> None:
    few, many = sorted((ours, theirs), key=len)
    best = max(
        sum(abs(a - b) <= tolerance for a, b in zip(few, chosen, strict=True))
        for chosen in itertools.permutations(many, len(few))
    )
    assert matched_events(ours, theirs, tolerance) == best


def test_repeating_an_event_earns_nothing(tmp_path: Path) -> None:
    truth = save(tmp_path, "t.csv", 'A\n"[10, 20, 30, 40]"\n')
    once = save(tmp_path, "1.csv", "A\n[10]\n")
    often = save(tmp_path, "2.csv", 'A\n"[10, 10, 10, 10]"\n')
    assert value("events_f1", once, truth, column="a", tolerance=1) == pytest.approx(2 / 5)
    assert value("events_f1", often, truth, column="a", tolerance=1) == pytest.approx(2 / 8)
    assert value("events_f1", truth, truth, column="A", tolerance=0) == 1


def test_the_edge_of_a_tolerance_is_inside_it(tmp_path: Path) -> None:
    truth, ours = save(tmp_path, "t.csv", "A\n49.24\n"), save(tmp_path, "o.csv", "A\n49.34\n")
    assert 49.34 - 49.24 > 0.1
    assert value("events_f1", ours, truth, column="A", tolerance=0.1) == 1


@pytest.mark.parametrize(
    "content",
    [
        'A,B\n"[1, 2.5, -3e0]",x\n',
        "A,B\n[1 2.5 -3],x\n",
        'A,B\n"1, 2.5, -3",\n',
        "B,A\n,1\n,2.5\n,-3\n",
        "\ufeffB;A\r\n;[1, 2.5, -3]\r\n",
        "B\tA\n\t[1, 2.5, -3]\n",
        'B,A\nx,"[np.float64(1), np.float64(2.5), np.int64(-3)]"\n',
        'a ,B\n"array([1. , 2.5, -3. ])",\n\n',
        'A,B\n"[1, 2.5]",x\n[-3]\n',
    ],
)
def test_ways_to_write_a_list(tmp_path: Path, content: str) -> None:
    assert read_lists(save(tmp_path, "o.csv", content))["a"] == [1, 2.5, -3]


@pytest.mark.parametrize(
    "cell", ["nan", "[1, nan]", "inf", "one", "1e999", "__import__('os')", "1_0", "0x1", "[1, 'a']"]
)
def test_what_is_no_list_of_numbers(tmp_path: Path, cell: str) -> None:
    ours, truth = save(tmp_path, "o.csv", f'A\n"{cell}"\n'), save(tmp_path, "t.csv", "A\n1\n")
    assert read_lists(ours)["a"] is None
    assert math.isnan(value("events_f1", ours, truth, column="A", tolerance=1))


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\x00\x9d" * 99, "A\n1,2\n", 'A\n"' + "1," * 2**24])
def test_what_is_no_table(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(UnreadableOutput):
        read_lists(save(tmp_path, "o.csv", content))


def test_a_broken_reference_is_ours(tmp_path: Path) -> None:
    with pytest.raises(InfraFault):
        value(
            "events_f1",
            save(tmp_path, "o.csv", "A\n1\n"),
            save(tmp_path, "t.csv", b"\xff\x00"),
            column="A",
            tolerance=1,
        )


def test_errors_of_numbers(tmp_path: Path) -> None:
    truth = save(tmp_path, "t.csv", 'N,L\n20,"[1, 2, 0]"\n')
    ours = save(tmp_path, "o.csv", 'N,L\n[22],"[1.1, 1.9, 0]"\n')
    assert value("column_number_error", ours, truth, column="N") == 2
    assert value("column_number_error", ours, truth, column="N", relative=True) == pytest.approx(0.1)
    assert value("column_values_error", ours, truth, column="L") == pytest.approx(0.1)
    assert value("events_distance", ours, truth, column="L") == pytest.approx(0.2 / 3)
    for bad in ("N,L\n,\n", 'N,L\n"[22, 23]","[1, 2]"\n', "M\n1\n"):
        other = save(tmp_path, "b.csv", bad)
        assert math.isnan(value("column_number_error", other, truth, column="N"))
        assert math.isnan(value("column_values_error", other, truth, column="L"))
    zero = save(tmp_path, "z.csv", 'N,L\n20,"[1, 2, 1]"\n')
    assert value("column_values_error", zero, truth, column="L") == math.inf


def test_a_grid_has_no_spread(tmp_path: Path) -> None:
    assert value("intervals_spread", save(tmp_path, "g.csv", 'A\n"[150, 300, 450, 600]"\n'), column="A") == 0
    assert value("intervals_spread", save(tmp_path, "h.csv", 'A\n"[600, 150, 451, 303]"\n'), column="A") == 5
    assert math.isnan(value("intervals_spread", save(tmp_path, "i.csv", 'A\n"[150, 300]"\n'), column="A"))
