"""Nodes an attacker writes: each is refused or is data, and comparing them costs little."""

from __future__ import annotations

from typing import Any

import pytest

from repoassay.grading.oracle.nodes import check, is_plain, same_node, size
from repoassay.grading.oracle.observer import encode
from repoassay.grading.oracle.values import RaisedValue, Structure, ValueKind, decode

CODE = "__import__('os').system('id')"
DATE = ["datetime", 2024, 1, 1, 0, 0, 0, 0, 0, None, None]


def deep(levels: int) -> Any:
    node: Any = 1
    for _ in range(levels):
        node = ["list", node]
    return node


def lasting() -> list[Any]:
    ring: list[Any] = ["list"]
    ring.append(ring)
    return ring


MALFORMED: list[Any] = [
    {}, {"list": 1}, 1.5, float("nan"), (), ("list",), b"a", object(), [], [[]], [None], [1], [["list"]],
    ["nothing", 1],
    ["List"], ["__class__"], ["list", {}], ["list", 1.0], ["list", [1]], "\ud800", ["list", "\ud800"], 1 << 20_000,
    deep(70), deep(100_000), lasting(), ["int", "5"], ["int", "0x5"], ["int", "1" * 5000], ["int", "0x" + "f" * 4000],
    ["int", 5], ["int", "0x8000000000000000 "], ["int", "0X8000000000000000"], ["int"], ["int", hex(2**70), 1],
    ["float", "1.5"], ["float", 1], ["float", CODE], ["float", "0x1p0"], ["float", "infinity"], ["float"],
    ["complex", "nan"], ["str", "61"], ["str", "zz"], ["str", "ff"], ["str", "ed a080"], ["bytes", "6"],
    ["bytes", "6 1"],
    ["bytes", 5], ["bytes", ["list"]], ["bytearray", "x"], ["memoryview", None], ["...", 1], ["NotImplemented", 1],
    ["dict", 1], ["dict", 1, 2, 3], ["dict", ["list"], 1], ["dict", 1, 2, 1, 3], ["dict", 1, 2, True, 3],
    ["set", ["list"]], ["set", 1, 1], ["set", 1, ["float", (1.0).hex()]], ["frozenset", ["dict"]],
    ["OrderedDict", 1], ["defaultdict"], ["defaultdict", 5], ["defaultdict", "builtins.list", 1], ["Counter", 1],
    ["keys", ["list"]], ["items", 1], ["items", ["tuple", 1]], ["items", ["tuple", ["list"], 1]],
    ["deque"], ["deque", -1], ["deque", "a"], ["deque", 2**62 * 4, 1], ["deque", True], ["range", 0, 1, 0],
    ["range", 0, 1], ["range", "a", 1, 1], ["range", True, 1, 1], ["slice", 1], ["ChainMap", 1],
    ["mappingproxy", ["list"]],
    ["mappingproxy"], [*DATE[:-1]], [*DATE, 1], ["datetime", CODE, *DATE[2:]], ["datetime", 0, *DATE[2:]],
    ["datetime", 2**62, *DATE[2:]], [*DATE[:-2], 10**15, "X"], [*DATE[:-2], "+01:00", "X"], [*DATE[:-2], 0, 5],
    [*DATE[:-3], 5, None, None], ["date", 2024, 13, 1], ["date", 2024, 1], ["date", True, 1, 1],
    ["time", 25, 0, 0, 0, 0, None, None],
    ["timedelta", 10**10, 0, 0], ["timedelta", 1], ["timezone", "UTC", "UTC"], ["timezone", None, None],
    ["timezone", 86_400 * 10**6, None], ["decimal", "Decimal", CODE], ["decimal", "Decimal", "1e5"],
    ["decimal", "Decimal", "١"], ["decimal", "Fraction", "1"], ["decimal", "Decimal", "1" * 20_000],
    ["decimal", "Decimal", "1E+" + "9" * 30], ["Fraction", 1, 0], ["Fraction", "1", 2], ["Fraction", 1], ["UUID", "5"],
    ["UUID", CODE], ["pathlib", "Path", "a"], ["pathlib", "PosixPath", 5], ["pathlib", "__class__", "a"],
    ["ipaddress", "IPv4Address", "1.2.3"], ["ipaddress", "ip_address", "1.2.3.4"], ["type", 5], ["type"],
    ["type", ["list"]],
    ["exc"], ["exc", "a"], ["exc", "a", "b", ["tuple"], "c"], ["exc", "a", [1], ["tuple"], "c"], ["exc", "a", ["b"],
    ["tuple"]],
    ["exc", 5, ["b"], ["tuple"], "c"], ["exc", "a", ["b"] * 100, ["tuple"], "c"], ["array", "int64", ["a"], 1],
    ["array", "int64", [True], 1], ["sub"], ["sub", "a", True], ["sub", "a", 1, "x"], ["sub", 5, False, "x"],
    ["enum", "a"], ["view", "a", True], ["?"], ["?", 5], ["deep"], ["up", "a"], ["list"] + ["x"] * 1_100_000,
    "x" * (17 * 2**20),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_what_is_malformed_is_refused(number: int) -> None:
    for node in (MALFORMED[number], ["list", MALFORMED[number]], ["dict", 1, MALFORMED[number]]):
        with pytest.raises(ValueError):
            decode(node)
        assert not same_node(node, encode([1]))
        assert is_plain(node) in (True, False)


@pytest.mark.parametrize("node", [["dict", 1, 2, 3], ["defaultdict"], {}, ["nothing"], deep(100_000), lasting()],
                         ids=["odd", "short", "object", "tag", "deep", "ring"])  # fmt: skip
def test_what_cannot_be_walked_equals_nothing(node: Any) -> None:
    assert not same_node(node, node)
    assert not is_plain(node)
    with pytest.raises(ValueError):
        size(node)
    with pytest.raises(ValueError):
        check(node)


@pytest.mark.parametrize(
    "node",
    [CODE, ["list", CODE], ["function", "os", "system"], ["module", "os"], ["pattern", "(a+)+$", 32],
    ["object", CODE, CODE, CODE],
     ["method", "os", "system", CODE], ["partial", ["function", "os", "system"], ["tuple", "id"], ["dict"]],
     ["sub", CODE, True, "a"], ["enum", CODE, CODE, True, 1], ["type", CODE], ["type", "os.system"], ["?", CODE],
     [*DATE[:-2], 0, CODE], ["pathlib", "PosixPath", CODE], ["exc", CODE, [CODE], ["tuple", CODE], CODE],
     ["exc", "builtins.SystemExit", ["builtins.SystemExit"], ["tuple", 0], ""], ["match", 0, 1, CODE],
     ["array", CODE, [1], CODE], ["view", CODE, True, ["dict", CODE, CODE]], ["digest", CODE, CODE]],
    ids=str,
)  # fmt: skip
def test_what_looks_like_code_is_data(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr(os, "system", lambda _: pytest.fail("ran"))
    found = decode(node)
    assert found is not os.system
    assert not callable(found)
    for way in (repr, str, hash, bool):
        if not isinstance(found, (list, dict)):
            way(found)


def test_a_type_is_a_builtin_one_or_a_name() -> None:
    assert decode(["type", "builtins.dict"]) is dict
    assert decode(["type", "builtins.KeyError"]) is KeyError
    assert decode(["type", "datetime.date"]).__name__ == "date"
    for name in ("builtins.eval", "builtins.exec", "os.system", "builtins.__import__", "subprocess.Popen"):
        assert decode(["type", name]) == ValueKind(name)


def test_what_was_raised_is_no_exception() -> None:
    found = decode(["exc", "builtins.SystemExit", ["builtins.SystemExit"], ["tuple", 0], "0"])
    assert isinstance(found, RaisedValue)
    assert "SystemExit" not in [base.__name__ for base in type(found).__mro__]


def test_a_digest_equals_only_its_like() -> None:
    one, other = (decode(["digest", "builtins.list", text]) for text in ("00", "11"))
    assert [one] != ["00"]
    assert isinstance(one, Structure)
    assert one != other
    assert one == decode(["digest", "builtins.list", "00"])


def test_hostile_shapes_are_compared_in_one_walk() -> None:
    """Equal hashes, equal beginnings and nested mappings, which a comparison of dicts would pay for dearly."""
    colliding = ["dict", *(part for number in range(1, 20_000) for part in (number * (2**61 - 1), None))]
    alike = ["set", *(f"{'x' * 200}{number}" for number in range(20_000))]
    nest: Any = ["dict", *(part for number in range(10_000) for part in (number, "x" * 20))]
    for _ in range(50):
        nest = ["dict", 1, nest]
    for node in (colliding, alike, nest):
        turned = node if node is nest else [node[0], *_pairs_reversed(node)]
        assert same_node(node, turned)
        assert not same_node(node, [node[0], *turned[1:-2]])


def _pairs_reversed(node: list[Any]) -> list[Any]:
    rest = node[1:]
    if node[0] == "set":
        return rest[::-1]
    return [part for at in range(len(rest) - 2, -1, -2) for part in rest[at : at + 2]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), ("a", True), ([1, {"a": (2.5, b"x", {1}, frozenset())}], True), ([1, range(3)], False), (1j, True),
     (None, True), (object(), False), ([object()], False), (ValueError(), False), (int, False), (2**80, True)],
)  # fmt: skip
def test_plain(value: object, expected: bool) -> None:
    assert is_plain(encode(value)) is expected


def test_size_is_that_of_the_text() -> None:
    assert size(encode("abc")) == 5
    assert size(encode([1, 2])) == len('["list",1,2]')
