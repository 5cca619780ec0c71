"""The observer among hostile classes: it runs none of their methods, never raises, and stays within its limits."""

from __future__ import annotations

import ast
import gc
import json
import sys
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

import pytest

from repoassay.grading.oracle.nodes import TAGS, check, same_node
from repoassay.grading.oracle.observer import describe_exception, encode
from repoassay.grading.oracle.sandbox_code import observer_source

NAMES = (
    "__eq__", "__ne__", "__hash__", "__iter__", "__len__", "__bool__", "__getitem__", "__contains__", "__repr__",
    "__str__", "__format__", "__index__", "__int__", "__float__", "__reduce__", "__reduce_ex__", "__getattribute__",
    "__getattr__", "__sizeof__", "__lt__", "__call__", "__bytes__", "__getstate__", "items", "keys", "values", "hex",
    "encode", "isascii", "bit_length", "tobytes", "utcoffset", "tzname",
)  # fmt: skip
called: list[str] = []


def trap(name: str) -> Any:
    def method(self: Any, *_: Any) -> Any:
        called.append(name)
        raise SystemExit(name)

    return method


def trapped(base: type) -> type:
    """A subclass that overrides everything, and calls itself an int."""
    body = {name: trap(name) for name in NAMES} | {"__class__": property(trap("__class__"))}
    return type("Trap", (base,), {**body, "__dict__": property(trap("__dict__"))} if base is object else body)


@pytest.mark.parametrize(
    ("base", "arguments", "node"),
    [(int, (5,), 5), (int, (2**70,), ["int", hex(2**70)]), (float, (0.5,), ["float", "0x1.0000000000000p-1"]),
     (str, ("ab",), "ab"), (bytes, (b"a",), ["bytes", "61"]), (bytearray, (b"a",), ["bytearray", "61"]),
     (complex, (1,), ["complex", "0x1.0000000000000p+0", "0x0.0p+0"]), (list, ([1, 2],), ["list", 1, 2]),
     (tuple, ([1, 2],), ["tuple", 1, 2]), (dict, ({1: 2},), ["dict", 1, 2]), (set, ([1],), ["set", 1]),
     (frozenset, ([1],), ["frozenset", 1]), (OrderedDict, ({1: 2},), ["OrderedDict", 1, 2])],
)  # fmt: skip
def test_a_subclass_that_overrides_everything_is_read_by_the_base(base: type, arguments: Any, node: Any) -> None:
    kind = trapped(base)
    value = base.__new__(kind, *arguments)
    base.__dict__["__init__"](value, *arguments) if "__init__" in base.__dict__ else None
    called.clear()
    found = encode(value)
    assert (found[0], found[2:]) == ("sub", [False, node])
    assert encode([value])[1] == found
    assert not called


def test_objects_that_lie_and_raise() -> None:
    raising = {name: property(trap(name)) for name in ("__class__", "__dict__")}
    liar: Any = type("Liar", (), {"__slots__": ("held",), "__getattribute__": trap("get"), **raising})
    value = object.__new__(liar)
    liar.held.__set__(value, 3)
    called.clear()
    assert encode(value)[2:] == ["held", 3]
    called.clear()
    encode(object.__new__(trapped(object)))
    assert not called


def test_metaclasses_that_lie_and_raise() -> None:
    class Meta(type):
        __hash__ = trap("hash")
        __eq__ = trap("eq")
        __getattribute__ = trap("getattribute")
        __instancecheck__ = trap("instancecheck")
        __subclasscheck__ = trap("subclasscheck")
        __call__ = trap("call")
        __repr__ = trap("repr")

        @property
        def __mro__(cls) -> Any:
            raise SystemExit

    made: Any = type.__new__(Meta, "Made", (), {})
    named: Any = type.__new__(Meta, "Decimal", (), {"__module__": "decimal"})
    called.clear()
    for kind in (made, named):
        value = object.__new__(kind)
        assert encode(value)[0] == "object"
        assert encode({1: [value, kind]})[2][2][0] == "type"
    assert not called


@pytest.mark.parametrize("name", ["no module", "module is a number", "qualified name"])
def test_names_that_are_none(name: str) -> None:
    kind = type("Odd", (), {})
    if name == "no module":
        kind = type("Odd", (), {"__module__": None})
    elif name == "module is a number":
        kind.__module__ = 5  # type: ignore[assignment]
    else:
        kind.__qualname__ = "a\ud800"
    node = encode([kind(), kind])
    check(json.loads(json.dumps(node)))


class Zone(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta:
        raise SystemExit

    tzname = dst = utcoffset  # type: ignore[assignment]


class Reader(Mapping[str, int]):
    def __iter__(self) -> Iterator[str]:
        return iter("ab")

    def __len__(self) -> int:
        return 2

    def __getitem__(self, key: str) -> int:
        if key == "b":
            raise RuntimeError
        return 1


class Endless(Mapping[int, int]):
    def __iter__(self) -> Iterator[int]:
        number = 0
        while True:
            yield (number := number + 1)

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: int) -> int:
        return key


class Unsaid(Exception):
    def __str__(self) -> str:
        raise SystemExit


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def released() -> memoryview:
    view = memoryview(b"a")
    view.release()
    return view


def doubling(times: int) -> Any:
    value: Any = [1]
    for _ in range(times):
        value = [value, value]
    return value


HARD = [
    datetime(2020, 1, 1, tzinfo=Zone()), Reader(), Endless(), Unsaid("a"), nested(13), nested(900), nested(50_000),
    released(),
    doubling(11), doubling(40), "x" * (2**20 + 1), "é" * 2**20, "\ud800" * 2**20, b"x" * (2**20 + 1), 1 << 200_000,
    [10**5000], list(range(60_000)), ["y" * 2**18] * 5, {number: number for number in range(60_000)},
    list(range(600_000)), sys, type, encode, len, [].append, object, sys._getframe(), (lambda: 0).__code__, sys.flags,
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("value", HARD, ids=[f"{at}-{type(value).__name__}" for at, value in enumerate(HARD)])
def test_every_value_has_a_node_that_the_other_side_takes(value: Any) -> None:
    for asked in (value, [value, "beside"], {"key": value}):
        node = encode(asked)
        text = json.dumps(node)
        assert len(text) < 4 * 2**20
        assert same_node(node, json.loads(text))
        assert same_node(node, encode(asked))
    nested_text = encode([value, "beside"])
    assert nested_text[0] in ("digest", "?") or nested_text[2] == "beside"


@pytest.mark.long
def test_digests_tell_values_apart() -> None:
    many = list(range(60_000))
    assert encode(many)[0] == "digest"
    assert not same_node(encode(many), encode([*many[:-1], 0]))
    assert not same_node(encode("x" * 2**21), encode("x" * 2**21 + "y"))
    turned = {number: number for number in reversed(many)}
    assert same_node(encode({number: number for number in many}), encode(turned))


def test_at_the_end_of_the_stack() -> None:
    def fall() -> Any:
        try:
            return fall()
        except RecursionError:
            return ["list", encode([[1]]), describe_exception(ValueError("a"))]

    check(fall())


@pytest.mark.long
def test_nothing_is_kept_alive() -> None:
    class Kept:
        pass

    value, kind = Kept(), weakref.ref(Kept)
    watch = weakref.ref(value)
    encode([value, Kept])
    del value, Kept
    gc.collect()
    assert watch() is None
    assert kind() is None


def test_what_is_shipped_is_one_text_for_python_3_8() -> None:
    source = observer_source()
    tree = ast.parse(source, feature_version=(3, 8))
    for statement in ast.walk(tree):
        if isinstance(statement, ast.ImportFrom):
            assert statement.module in ("__future__", "typing")
    space: dict[str, Any] = {"__name__": "observer"}
    exec(compile(source, "observer", "exec"), space)
    for value in (1, "a", [{"b": {1, 2}}], ValueError("x"), object()):
        assert space["encode"](value) == encode(value)


def test_both_sides_know_the_same_tags() -> None:
    source = observer_source()
    assert not [tag for tag in TAGS if f'"{tag}"' not in source and tag not in _BY_NAME]


_BY_NAME = {"bytes", "bytearray", "memoryview", "set", "frozenset", "OrderedDict", "date", "datetime", "time",
            "timedelta",
            "range", "slice", "Fraction", "partial", "defaultdict", "decimal", "pathlib", "ipaddress"}  # fmt: skip
