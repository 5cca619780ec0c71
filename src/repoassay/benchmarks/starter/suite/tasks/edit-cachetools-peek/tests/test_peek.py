import pytest

from cachetools import Cache, FIFOCache, LFUCache, LRUCache, RRCache, TLRUCache, TTLCache


class Clock:
    """A timer that moves on only when told to."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def all_caches(clock):
    return [
        Cache(3),
        FIFOCache(3),
        LFUCache(3),
        LRUCache(3),
        RRCache(3),
        TTLCache(3, ttl=10, timer=clock),
        TLRUCache(3, ttu=lambda key, value, now: now + 10, timer=clock),
    ]


def test_every_cache_returns_what_is_stored():
    for cache in all_caches(Clock()):
        cache["a"] = 1
        cache["b"] = None
        cache["c"] = [3]
        assert [cache.peek("a"), cache.peek("b", 7), cache.peek("c")] == [1, None, [3]], type(cache)


def test_every_cache_returns_the_default():
    for cache in all_caches(Clock()):
        cache["a"] = 1
        found = [cache.peek("z"), cache.peek("z", 5), cache.peek("z", default="none")]
        assert found == [None, 5, "none"], type(cache)
        assert len(cache) == 1, type(cache)


def test_lru_order_is_left_alone():
    cache = LRUCache(3)
    for key in "abc":
        cache[key] = key.upper()
    assert cache.peek("a") == "A"
    cache["d"] = "D"
    assert sorted(cache) == ["b", "c", "d"]
    assert cache.peek("b") == "B"
    assert [cache.popitem() for _ in range(3)] == [("b", "B"), ("c", "C"), ("d", "D")]


def test_lfu_counts_are_left_alone():
    cache = LFUCache(2)
    cache["often"] = 1
    cache["seldom"] = 2
    cache["often"]
    for _ in range(5):
        assert cache.peek("seldom") == 2
    cache["new"] = 3
    assert sorted(cache) == ["new", "often"]


def test_ttl_order_is_left_alone():
    cache = TTLCache(3, ttl=10, timer=Clock())
    for key in "abc":
        cache[key] = key.upper()
    assert cache.peek("a") == "A"
    cache["d"] = "D"
    assert sorted(cache) == ["b", "c", "d"]


def test_tlru_order_is_left_alone():
    cache = TLRUCache(3, ttu=lambda key, value, now: now + value, timer=Clock())
    for key, value in (("a", 30), ("b", 20), ("c", 10)):
        cache[key] = value
    assert cache.peek("a") == 30
    cache["d"] = 5
    assert sorted(cache) == ["b", "c", "d"]


def test_an_expired_item_counts_as_missing():
    clock = Clock()
    ttl = TTLCache(3, ttl=10, timer=clock)
    tlru = TLRUCache(3, ttu=lambda key, value, now: now + 10, timer=clock)
    for cache in (ttl, tlru):
        cache["a"] = 1
    clock.now = 9
    assert [ttl.peek("a", 0), tlru.peek("a", 0)] == [1, 1]
    clock.now = 10
    assert [ttl.peek("a", 0), tlru.peek("a", 0)] == [0, 0]
    assert [ttl.peek("a"), tlru.peek("a")] == [None, None]


def test_peeking_does_not_prolong_a_life():
    clock = Clock()
    cache = TTLCache(3, ttl=10, timer=clock)
    cache["a"] = 1
    clock.now = 5
    assert cache.peek("a") == 1
    clock.now = 12
    assert cache.peek("a", "gone") == "gone"


def test_missing_is_not_called():
    calls = []

    class Loading(LRUCache):
        def __missing__(self, key):
            calls.append(key)
            self[key] = key * 2
            return self[key]

    cache = Loading(3)
    assert cache.peek("x", "no") == "no"
    assert calls == []
    assert cache["x"] == "xx"
    assert cache.peek("x", "no") == "xx"
    assert calls == ["x"]


def test_missing_is_not_called_for_an_expired_item():
    calls = []

    class Loading(TTLCache):
        def __missing__(self, key):
            calls.append(key)
            return "loaded"

    clock = Clock()
    cache = Loading(3, ttl=10, timer=clock)
    cache["x"] = 1
    clock.now = 11
    assert cache.peek("x", "no") == "no"
    assert calls == []


def test_get_still_counts_as_a_use():
    cache = LRUCache(2)
    cache["a"] = 1
    cache["b"] = 2
    assert cache.get("a") == 1
    cache["c"] = 3
    assert sorted(cache) == ["a", "c"]


def test_get_and_pop_still_treat_expired_items_as_missing():
    clock = Clock()
    cache = TTLCache(3, ttl=10, timer=clock)
    cache["a"] = 1
    clock.now = 11
    assert cache.get("a", 4) == 4
    assert cache.pop("a", 5) == 5
    with pytest.raises(KeyError):
        cache["a"]


def test_fifo_and_lfu_still_discard_as_before():
    fifo = FIFOCache(2)
    lfu = LFUCache(2)
    for cache in (fifo, lfu):
        cache["a"] = 1
        cache["b"] = 2
        cache["a"]
        cache["c"] = 3
    assert [sorted(fifo), sorted(lfu)] == [["b", "c"], ["a", "c"]]
