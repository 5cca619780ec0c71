import io
import sys

import pytest

import tabulate


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def call(*options, text="a b c\nd e f\n"):
        source, target = tmp_path / "in.txt", tmp_path / "out.txt"
        source.write_text(text)
        monkeypatch.setattr(sys, "argv", ["tabulate", "-f", "tsv", "-o", str(target), *options, str(source)])
        tabulate._main()
        return [line.split("\t") for line in target.read_text().splitlines()]

    return call


def cells(rows):
    return [[cell.strip() for cell in row] for row in rows]


def test_without_columns(run):
    assert cells(run()) == [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize("option", ["-c", "--columns"])
def test_picked_in_that_order(run, option):
    assert cells(run(option, "3,1")) == [["c", "a"], ["f", "d"]]


def test_one_column_twice(run):
    assert cells(run("-c", "2,2")) == [["b", "b"], ["e", "e"]]


def test_with_header(run):
    assert cells(run("-1", "-c", "2")) == [["b"], ["e"]]


def test_short_rows(run):
    rows = run("-c", "3,1", text="a b c\nd\n")
    assert cells(rows) == [["c", "a"], ["", "d"]]


@pytest.mark.parametrize("columns", ["0", "-1", "x", "1,,2", "1.5", ""], ids=str.__repr__)
def test_bad_columns(run, columns):
    with pytest.raises(SystemExit) as ended:
        run("--columns", columns)
    assert ended.value.code == 2


def test_header_follows_its_column(run):
    rows = run("-1", "-c", "3,1", text="x y z\n1 2 3\n")
    assert cells(rows) == [["z", "x"], ["3", "1"]]


def test_a_separator_of_ones_own(run):
    rows = run("-s", ",", "-c", "2", text="a b,c d\ne,f\n")
    assert cells(rows) == [["c d"], ["f"]]


def test_standard_input(tmp_path, monkeypatch):
    target = tmp_path / "out.txt"
    monkeypatch.setattr(sys, "stdin", io.StringIO("a b c\n"))
    monkeypatch.setattr(sys, "argv", ["tabulate", "-f", "tsv", "-o", str(target), "-c", "3,1"])
    tabulate._main()
    assert target.read_text().split() == ["c", "a"]
