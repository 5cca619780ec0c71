"""Values go through the observer, JSON and the decoder and come back as themselves."""

from __future__ import annotations

import datetime
import enum
import functools
import ipaddress
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import types
import uuid
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.grading.oracle.observer import describe_exception, encode
from repoassay.grading.oracle.values import Opaque, RaisedValue, Structure, ValueKind, decode, same_node

HOUR = datetime.timedelta(hours=1)
ZONED = datetime.datetime(2024, 2, 29, 23, 59, 58, 7, tzinfo=datetime.timezone(-HOUR, "X"), fold=1)


def through(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


VALUES: list[Any] = [
    None, True, False, 0, -1, 2**63 - 1, 2**63, -(2**63), 10**4200, 0.0, -0.0, 0.1, 1e-320, math.inf, -math.inf,
    "", "a", "é", "\ud800", "\ud83d\ude00", "\U0001f600", "\0", '["list"]', "x" * 10_000, b"", b"\xff", bytearray(b"a"),
    1j, complex(-0.0, math.inf), ..., NotImplemented, [], [[]], (), ((),), {}, {1: {2: 3}}, {(1, 2): [3]}, set(),
    {1, "a"},  # whose order may differ from one equal set to the next
    frozenset([frozenset([1])]), OrderedDict(b=1, a=2), defaultdict(list, a=[1]), Counter("abca"), deque([1, 2], 2),
    deque([1]), range(3), range(2**70, 0, -7), slice(1, None, "a"), ChainMap({1: 2}, {3: 4}), ZONED,
    datetime.datetime(1, 1, 1),  # noqa: DTZ001 - naive, as some are
    datetime.date(9999, 12, 31), datetime.time(1, 2, 3, 4, fold=1),
    datetime.timedelta(-1, 5, 6), datetime.UTC, datetime.timezone(HOUR), datetime.timezone(HOUR, "CET"),
    Decimal("1.50"), Decimal("-Infinity"), Decimal("1E+999999"), Decimal("0E-9"), Fraction(-1, 3), uuid.UUID(int=5),
    pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("c:/a"), ipaddress.ip_address("::1"),
    ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_interface("10.0.0.1/8"), int, str, dict, ValueError, type(None),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[f"{at}-{type(value).__name__}" for at, value in enumerate(VALUES)])
def test_plain_values_return_as_themselves(value: Any) -> None:
    found = through(value)
    assert found == value
    assert type(found) is type(value)
    assert sorted(repr(found)) == sorted(repr(value))


def test_no_two_of_them_are_the_same() -> None:
    nodes = [encode(value) for value in VALUES]
    for number, node in enumerate(nodes):
        assert [other for other in range(len(nodes)) if same_node(node, nodes[other])] == [number]


def test_nan() -> None:
    assert math.isnan(through(math.nan))
    assert Decimal.is_nan(through(Decimal("NaN")))
    assert same_node(encode(math.nan), encode(-math.nan))


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()) | st.binary()
    | st.dates() | st.datetimes() | st.timedeltas() | st.decimals(allow_nan=False) | st.fractions() | st.uuids()
    | st.complex_numbers(allow_nan=False)
)  # fmt: skip
KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text())
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner) | st.sets(KEYS)
        | st.frozensets(KEYS) | st.lists(inner).map(deque)
    ),
    max_leaves=20,
)  # fmt: skip


@given(TREES)
@pytest.mark.long
def test_any_tree_of_them_returns(value: Any) -> None:
    found = through(value)
    assert found == value
    assert same_node(encode(found), encode(value))


@settings(max_examples=15)
@given(st.dictionaries(KEYS, TREES, min_size=2), st.randoms())
@pytest.mark.long
def test_the_order_of_a_mapping_is_kept_and_does_not_count(value: dict[Any, Any], chance: random.Random) -> None:
    items = list(value.items())
    chance.shuffle(items)
    assert list(through(dict(items))) == [key for key, _ in items]
    assert same_node(encode(value), encode(dict(items)))
    assert same_node(encode(OrderedDict(value)), encode(OrderedDict(items))) == (list(value) == list(dict(items)))


def test_sets_have_one_text_whatever_the_seed() -> None:
    code = (
        "import json; from repoassay.grading.oracle.observer import encode;"
        "print(json.dumps(encode([{*'abcdefgh', (1, 'x'), 2.5, None}, frozenset('xyz')])))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "0123"
    }
    assert len(texts) == 1


Point = namedtuple("Point", "x y")


class Text(str):
    __slots__ = ()


class Colour(str, enum.Enum):  # noqa: UP042 - an older way to write it
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Plain(enum.Enum):
    ONE = 1


class Rights(enum.Flag):
    READ, WRITE = 1, 2


@pytest.mark.parametrize(
    ("value", "equals"),
    [(Point(1, 2), (1, 2)), (Text("a"), "a"), (Colour.RED, "red"), (Number.ONE, 1), (types.MappingProxyType({1: 2}),
     {1: 2}),
     ({1: 2}.keys(), {1}), ({1: 2}.items(), {(1, 2)}), (pathlib.Path("a"), pathlib.PurePath("a")),
     (memoryview(b"a"), b"a"), (UserDict({1: 2}), {1: 2}), (OrderedDict(a=1).keys(), {"a"})],
)  # fmt: skip
def test_what_compares_as_a_plain_value_still_does(value: Any, equals: Any) -> None:
    found = through(value)
    assert value == equals
    assert found == equals
    assert type(found) is not type(equals) or isinstance(value, (pathlib.Path, memoryview))
    assert not same_node(encode(value), encode(equals))


class Sly(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@dataclass
class Box:
    inside: Any = None

    def method(self) -> None: ...

    def other(self) -> None: ...


class Slotted:
    __slots__ = ("absent", "held")

    def __init__(self, held: Any) -> None:
        self.held = held


class Child(Slotted):
    def __init__(self, held: Any, more: Any) -> None:
        super().__init__(held)
        self.more = more


@pytest.mark.parametrize(
    ("value", "other"),
    [pytest.param(Sly("a"), Sly("b"), id="text"), (Box(1), Box(2)), (Slotted(1), Slotted(2)), (Child(1, 2),
    Child(1, 3)),
     (Child(1, 2), Child(2, 2)), (Plain.ONE, Number.ONE), (Rights.READ, Rights.READ | Rights.WRITE),
     (re.compile("a"), re.compile("b")), (re.match("a", "ab"), re.match(".b", "ab")), (len, print),
     (functools.partial(int, base=2), functools.partial(int, base=3)), (Box(1).method, Box(1).other)],
)  # fmt: skip
def test_structures_equal_their_like_and_nothing_else(value: Any, other: Any) -> None:
    found = through(value)
    assert isinstance(found, Structure)
    assert found == through(value)
    assert hash(found) == hash(through(value))
    assert found != through(other)
    others: list[Any] = [1, "a", "b", None, {}, {"inside": 1}]
    assert found not in others


def test_classes_of_others_are_names() -> None:
    assert through(Box) == ValueKind(f"{Box.__module__}.Box")
    assert through(Box) != through(Slotted)


def test_iterators_and_files_tell_their_type_and_are_not_consumed() -> None:
    numbers = (number for number in range(3))
    with open(__file__) as stream:  # noqa: PTH123
        for value in (numbers, iter([1]), stream, object(), map(int, "1")):
            found = through(value)
            assert isinstance(found, Opaque)
            assert found != through(value)
        assert stream.read(3) == '"""'
    assert list(numbers) == [0, 1, 2]


def test_a_cycle_is_told_by_its_height_and_sharing_is_not_told() -> None:
    ring: list[Any] = [1]
    ring.append({"back": ring})
    assert encode(ring) == ["list", 1, ["dict", "back", ["up", 2]]]
    shared = [1]
    assert same_node(encode([shared, shared]), encode([[1], [1]]))
    assert isinstance(through(ring)[1]["back"], Opaque)


def test_exceptions() -> None:
    class Odd(KeyError):
        def __str__(self) -> str:
            raise ValueError

    found = decode(describe_exception(KeyError("a", 1)))
    assert isinstance(found, RaisedValue)
    assert found.args == ("a", 1)
    assert str(found) == "('a', 1)"
    assert found.names[:2] == ("builtins.KeyError", "builtins.LookupError")
    odd = decode(describe_exception(Odd("a")))
    assert odd.kind.endswith("Odd")
    assert "builtins.KeyError" in odd.names
    huge = decode(describe_exception(ValueError("x" * 2**21)))
    assert huge.kind == "builtins.ValueError"
    assert same_node(encode(KeyError("a")), describe_exception(KeyError("a")))


def test_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    assert through(numpy.float64(1.5)) == 1.5
    assert through(numpy.int64(3)) == 3
    assert through(numpy.bool_(True)) is True
    small = numpy.arange(6).reshape(2, 3)
    assert same_node(encode(small), encode(small.copy()))
    assert not same_node(encode(small), encode(small.reshape(3, 2)))
    assert not same_node(encode(small), encode(small.astype("int32")))
    large = numpy.arange(100_000)
    other = large.copy()
    other[-1] = 0
    assert same_node(encode(large), encode(large[::1]))
    assert not same_node(encode(large), encode(other))
    assert encode(large)[3][0] == "digest"
