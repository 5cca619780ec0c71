import unittest
from pathlib import Path

import networkx as nx


class RemoveIsolates(unittest.TestCase):
    def test_removed_in_place(self):
        G = nx.path_graph(3)
        G.add_nodes_from("ab")
        self.assertEqual(nx.remove_isolates(G), 2)
        self.assertEqual(list(G), [0, 1, 2])
        self.assertEqual(list(G.edges), [(0, 1), (1, 2)])

    def test_nothing_to_remove(self):
        G = nx.cycle_graph(4)
        self.assertEqual(nx.remove_isolates(G), 0)
        self.assertEqual(nx.remove_isolates(nx.Graph()), 0)
        self.assertEqual(len(G), 4)

    def test_directed_and_multi(self):
        G = nx.MultiDiGraph([(1, 2), (1, 2)])
        G.add_node(3)
        self.assertEqual(nx.remove_isolates(G), 1)
        self.assertEqual(set(G), {1, 2})

    def test_loop_is_no_isolate(self):
        G = nx.Graph([(1, 1)])
        G.add_node(2)
        self.assertEqual(nx.remove_isolates(G), 1)
        self.assertEqual(list(G), [1])

    def test_everything_else_stays(self):
        G = nx.Graph((n, 2 * n + 3) for n in (1, 4, 6, 15))
        G.add_nodes_from(range(30), colour="red")
        self.assertEqual([nx.remove_isolates(G), sorted(G)], [24, [1, 4, 5, 6, 11, 15, 33]])
        G.remove_edge(4, 11)
        self.assertEqual([nx.remove_isolates(G), dict(G.degree)], [2, {1: 1, 5: 1, 6: 1, 15: 2, 33: 1}])

    def test_only_nodes_without_any_edge_go(self):
        G = nx.DiGraph((n, n * n % 23) for n in range(2, 20, 3))
        G.add_nodes_from(range(23))
        self.assertEqual([nx.remove_isolates(G), sorted(G)], [12, [2, 4, 5, 6, 8, 11, 12, 13, 14, 17, 18]])

    def test_frozen(self):
        G = nx.freeze(nx.empty_graph(2))
        with self.assertRaises(nx.NetworkXError):
            nx.remove_isolates(G)
        self.assertEqual(len(G), 2)

    def test_isolates_is_as_before(self):
        G = nx.empty_graph(2)
        self.assertEqual(list(nx.isolates(G)), [0, 1])
        self.assertEqual(nx.number_of_isolates(G), 2)

    def test_reference(self):
        page = Path("doc/reference/algorithms/isolates.rst").read_text(encoding="utf-8")
        self.assertIn("remove_isolates", page)


if __name__ == "__main__":
    unittest.main()
