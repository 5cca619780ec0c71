"""Sums of usage, and what is worked out of one."""

from __future__ import annotations

from repoassay.types.usage import Usage


def test_sums() -> None:
    one = Usage(input=5, output=4, cached=3, cache_write=2, reasoning=1)
    assert one + one == Usage(input=10, output=8, cached=6, cache_write=4, reasoning=2)
    assert (one.total, one.fresh) == (9, 0)
