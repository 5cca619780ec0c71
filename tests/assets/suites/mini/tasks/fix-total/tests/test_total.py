"""Hidden tests."""

from sums import largest, total


def test_every_value_counts():
    assert total([1, 2, 3]) == 6


def test_nothing_adds_up_to_nothing():
    assert total([]) == 0


class TestLargest:
    def test_largest(self):
        assert largest([1, 3, 2]) == 3
