from tabulate import tabulate, tabulate_formats


def lines(*args, **kwargs):
    return tabulate(*args, **kwargs).splitlines()


def test_github_cells():
    assert lines([["a|b", 1], ["c", 22]], headers=["k", "n"], tablefmt="github") == [
        r"| k    |   n |",
        r"|------|-----|",
        r"| a\|b |   1 |",
        r"| c    |  22 |",
    ]


def test_pipe_cells():
    assert lines([["a|b", 1], ["c", 22]], headers=["k", "n"], tablefmt="pipe") == [
        r"| k    |   n |",
        r"|:-----|----:|",
        r"| a\|b |   1 |",
        r"| c    |  22 |",
    ]


def test_headers():
    assert lines([["x", "y"]], headers=["in|out", "p"], tablefmt="github") == [
        r"| in\|out   | p   |",
        r"|-----------|-----|",
        r"| x         | y   |",
    ]
    assert lines([["x"]], headers=["||"], tablefmt="pipe") == [r"| \|\|   |", r"|:-------|", r"| x      |"]


def test_every_pipe_in_a_cell():
    assert lines([["|a||b|"], ["z"]], tablefmt="pipe") == [r"|:-----------|", r"| \|a\|\|b\| |", r"| z          |"]


def test_columns_line_up_when_the_longest_cell_has_no_pipe():
    rows = [["a|b", "right|"], ["abcdefgh", "x"], ["|", "y|y|y|y|y"]]
    for tablefmt in ("pipe", "github"):
        table = lines(rows, headers=["one", "two"], tablefmt=tablefmt)
        assert {len(line) for line in table} == {len(table[0])}
        assert [cell.strip() for cell in table[2].replace(r"\|", "!").strip("|").split("|")] == ["a!b", "right!"]
        assert table[4].replace(r"\|", "!").count("|") == 3


def test_right_and_centre_alignment():
    assert lines([["a|b"], ["long text"]], tablefmt="pipe", colalign=("right",)) == [
        "|----------:|",
        r"|      a\|b |",
        "| long text |",
    ]
    assert lines([["a|b"], ["long txt"]], tablefmt="pipe", colalign=("center",)) == [
        "|:--------:|",
        r"|   a\|b   |",
        "| long txt |",
    ]


def test_cells_that_are_not_strings():
    class Either:
        def __str__(self):
            return "x|y"

    assert lines([[Either()]], headers=["t"], tablefmt="github") == [r"| t    |", r"|------|", r"| x\|y |"]
    assert lines({"k": [["p|q"]]}, headers="keys", tablefmt="github")[2] == r"| ['p\|q'] |"


def test_missing_values_and_index():
    table = lines([["a", None]], tablefmt="pipe", missingval="-|-", showindex=["i|j"])
    assert table[-1] == r"| i\|j | a | -\|- |"


def test_dict_keys_and_multiline_cells():
    assert lines([{"a|b": "one\ntwo|3"}], headers="keys", tablefmt="github") == [
        r"| a\|b   |",
        r"|--------|",
        r"| one    |",
        r"| two\|3 |",
    ]


def test_formats_with_other_rules_are_unchanged():
    for tablefmt in tabulate_formats:
        if tablefmt not in ("pipe", "github"):
            table = tabulate([["a|b", 1]], headers=["c|d", "n"], tablefmt=tablefmt)
            assert [table.count("a|b"), table.count("c|d"), table.count(r"\|")] == [1, 1, 0], tablefmt


def test_grid_is_unchanged():
    assert lines([["a|b"]], headers=["k"], tablefmt="grid") == ["+-----+", "| k   |", "+=====+", "| a|b |", "+-----+"]


def test_tables_without_pipes_are_unchanged():
    assert lines([["spam", 41.9999], ["eggs", "451.0"]], headers=["s", "n"], tablefmt="pipe") == [
        "| s    |        n |",
        "|:-----|---------:|",
        "| spam |  41.9999 |",
        "| eggs | 451      |",
    ]
    assert lines([[1, 2.5], [10, 3]], tablefmt="github")[1] == "|  1 | 2.5 |"


def test_backslashes_alone_are_unchanged():
    assert lines([["a\\b"]], headers=["k"], tablefmt="github") == ["| k   |", "|-----|", "| a\\b |"]
