import cachetools
import pytest


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def filled(kind, size=4):
    cache = kind(size)
    for number in range(4):
        cache[number] = str(number)
    return cache


def test_growing_keeps_everything():
    cache = filled(cachetools.LRUCache)
    cache.resize(10)
    cache["new"] = "x"
    assert cache.maxsize == 10
    assert set(cache) == {0, 1, 2, 3, "new"}


@pytest.mark.parametrize(
    ("kind", "touched", "left"),
    [(cachetools.FIFOCache, [0], {2, 3}), (cachetools.LRUCache, [0], {0, 3}), (cachetools.LFUCache, [1, 2], {1, 2})],
)
def test_shrinking_discards_as_usual(kind, touched, left):
    cache = filled(kind)
    for key in touched:
        cache[key]
    cache.resize(2)
    assert set(cache) == left
    assert [cache.maxsize, cache.currsize] == [2, 2]


@pytest.mark.parametrize("kind", [cachetools.Cache, cachetools.RRCache])
def test_shrinking_where_any_item_may_go(kind):
    cache = filled(kind)
    cache.resize(3)
    assert [len(cache), cache.maxsize] == [3, 3]


def test_expired_items_go_first():
    clock = Clock()
    cache = cachetools.TTLCache(4, 10, timer=clock)
    cache["a"] = 1
    clock.now = 5
    cache["b"] = 2
    cache["c"] = 3
    cache["d"] = 4
    clock.now = 12
    cache.resize(3)
    assert sorted(cache) == ["b", "c", "d"]


def test_expired_items_go_first_with_times_of_their_own():
    clock = Clock()
    cache = cachetools.TLRUCache(4, ttu=lambda key, value, now: now + value, timer=clock)
    cache["late"], cache["soon"], cache["later"] = 20, 5, 30
    clock.now = 6
    cache.resize(2)
    assert sorted(cache) == ["late", "later"]


def test_size_of_items_counts():
    cache = cachetools.FIFOCache(10, getsizeof=len)
    cache["a"], cache["b"], cache["c"] = "xxxx", "xxx", "xx"
    cache.resize(5)
    assert dict(cache) == {"b": "xxx", "c": "xx"}
    cache.resize(0)
    assert [len(cache), cache.currsize] == [0, 0]


def test_the_new_limit_holds():
    cache = filled(cachetools.LRUCache)
    cache.resize(2)
    cache["x"] = 1
    assert list(cache) == [3, "x"]


def test_eviction_goes_through_popitem():
    gone = []

    class Noted(cachetools.FIFOCache):
        def popitem(self):
            item = super().popitem()
            gone.append(item[0])
            return item

    filled(Noted).resize(1)
    assert gone == [0, 1, 2]


def test_negative_size_is_refused():
    cache = filled(cachetools.RRCache)
    with pytest.raises(ValueError):
        cache.resize(-1)
    assert [len(cache), cache.maxsize] == [4, 4]


def test_limit_holds_as_before():
    cache = filled(cachetools.LRUCache, size=3)
    assert list(cache) == [1, 2, 3]
    with pytest.raises(ValueError):
        cachetools.LRUCache(2, getsizeof=len)["x"] = "xxx"
