import pytest

import networkx as nx


def test_default_is_as_before():
    grid = nx.grid_2d_graph(3, 4)
    assert grid.number_of_edges() == 17
    assert not grid.has_edge((0, 0), (1, 1))
    assert sorted(grid[(1, 1)]) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_inner_node_has_eight_neighbours():
    grid = nx.grid_2d_graph(3, 3, diagonals=True)
    assert grid.degree((1, 1)) == 8
    assert sorted(grid[(0, 0)]) == [(0, 1), (1, 0), (1, 1)]
    assert grid.number_of_edges() == 12 + 8


@pytest.mark.parametrize("m, n, extra", [(1, 5, 0), (2, 2, 2), (3, 4, 12)])
def test_number_of_diagonals(m, n, extra):
    plain = nx.grid_2d_graph(m, n)
    grid = nx.grid_2d_graph(m, n, diagonals=True)
    assert grid.number_of_edges() - plain.number_of_edges() == extra
    assert set(grid) == set(plain)


def test_periodic():
    grid = nx.grid_2d_graph(4, 5, periodic=True, diagonals=True)
    assert {degree for _, degree in grid.degree()} == {8}
    assert grid.has_edge((0, 0), (3, 4))
    tube = nx.grid_2d_graph(4, 5, periodic=(True, False), diagonals=True)
    assert tube.has_edge((0, 0), (3, 1))
    assert not tube.has_edge((0, 0), (1, 4))
    assert sorted(tube[(0, 2)]) == [(0, 1), (0, 3), (1, 1), (1, 2), (1, 3), (3, 1), (3, 2), (3, 3)]


def test_labels():
    grid = nx.grid_2d_graph("ab", "xy", diagonals=True)
    assert grid.has_edge(("a", "x"), ("b", "y"))
    assert grid.has_edge(("a", "y"), ("b", "x"))
    assert sorted(map(sorted, nx.grid_2d_graph("pq", "uvw", diagonals=True).edges)) == [
        [("p", "u"), ("p", "v")],
        [("p", "u"), ("q", "u")],
        [("p", "u"), ("q", "v")],
        [("p", "v"), ("p", "w")],
        [("p", "v"), ("q", "u")],
        [("p", "v"), ("q", "v")],
        [("p", "v"), ("q", "w")],
        [("p", "w"), ("q", "v")],
        [("p", "w"), ("q", "w")],
        [("q", "u"), ("q", "v")],
        [("q", "v"), ("q", "w")],
    ]


def test_directed():
    grid = nx.grid_2d_graph(2, 2, create_using=nx.DiGraph, diagonals=True)
    assert grid.has_edge((0, 0), (1, 1))
    assert grid.has_edge((1, 1), (0, 0))
    assert grid.number_of_edges() == 12
    wide = nx.grid_2d_graph(3, 7, create_using=nx.DiGraph, diagonals=True)
    assert wide.number_of_edges() == 112
    assert [wide.out_degree((1, column)) for column in range(7)] == [5, 8, 8, 8, 8, 8, 5]
