"""Values as the judge sees them: decoded from nodes by structure only.

Nothing from inside is evaluated, imported, or used as a pattern or a format. Exact builtin and standard value types
come back as themselves; instances of their subclasses as instances of subclasses of ours that compare as the base
does; everything else as a `Structure`, which equals nothing but its like.

Made to run in the judge's sandbox: equal hashes, chosen by an attacker, may make decoding slow.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import types
import uuid
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from repoassay.grading.oracle.forms import canonical
from repoassay.grading.oracle.nodes import check, is_plain, same_node, size

__all__ = ["Opaque", "RaisedValue", "Structure", "ValueKind", "decode", "is_plain", "same_node", "size"]


@dataclass(frozen=True, slots=True)
class Structure:
    """A value of a class nobody here has: equal to what has the same type and content, and to nothing else."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """Something of which only the type was told; equal to itself alone."""

    kind: str


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A class nobody here has, by its qualified name."""

    name: str


@dataclass(frozen=True, slots=True)
class RaisedValue:
    """An exception: its type, the names of all its classes, its arguments and its text."""

    kind: str
    names: tuple[str, ...]
    args: Any
    text: Any

    def __str__(self) -> str:
        return str(self.text)


def decode(node: object) -> Any:
    """The value of a node.

    Raises:
        ValueError: When it is no node.
    """
    check(node)
    try:
        return _decode(node)
    except (TypeError, AttributeError, ArithmeticError, RecursionError, LookupError) as error:
        raise ValueError(f"a node is malformed: {type(error).__name__}") from None


def _decode(node: Any) -> Any:
    if type(node) is not list:
        return node
    form = _FORMS.get(node[0])
    return form(*node[1:]) if form else Structure(node[0], canonical(node))


def _all(items: tuple[Any, ...]) -> list[Any]:
    return [_decode(item) for item in items]


def _need(fits: object) -> None:
    if not fits:
        raise ValueError("a node is malformed")


def _word(text: Any) -> str:
    _need(type(text) is str)
    return str(text)


def _number(value: Any) -> int:
    value = _decode(value)
    _need(type(value) is int)
    return int(value)


def _float(text: Any) -> float:
    value = float.fromhex(_word(text))
    _need(value.hex() == text)
    return value


def _int(text: Any) -> int:
    _need(re.fullmatch(r"-?0x[0-9a-f]{1,3571}", _word(text)))
    value = int(text, 16)
    _need(hex(value) == text and not -(2**63) < value < 2**63)
    return value


def _hex(text: Any) -> bytes:
    data = bytes.fromhex(_word(text))
    _need(data.hex() == text)
    return data


def _str(text: Any) -> str:
    value = _hex(text).decode("utf-8", "surrogatepass")
    _need(any("\ud800" <= letter <= "\udfff" for letter in value))
    return value


def _distinct(values: list[Any], rebuilt: Any) -> Any:
    _need(len(rebuilt) == len(values))
    return rebuilt


def _dict(*items: Any) -> dict[Any, Any]:
    _need(len(items) % 2 == 0)
    keys = _all(items[0::2])
    return dict(_distinct(keys, dict(zip(keys, _all(items[1::2]), strict=True))))


def _mapping(node: Any) -> dict[Any, Any]:
    value = _decode(node)
    _need(isinstance(value, dict))
    return dict(value) if type(value) is dict else value


def _default(factory: Any, *items: Any) -> defaultdict[Any, Any]:
    factory_type = _TYPES.get(_word(factory)) if factory is not None else None
    return defaultdict(
        factory_type if factory_type in (int, float, str, list, dict, set, tuple, bool) else None, _dict(*items)
    )


def _counter(*items: Any) -> Counter[Any]:
    counter: Counter[Any] = Counter()
    dict.update(counter, _dict(*items))
    return counter


def _set(kind: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def form(*items: Any) -> Any:
        values = _all(items)
        return _distinct(values, kind(values))

    return form


def _keys(*items: Any) -> Any:
    values = _all(items)
    return _distinct(values, dict.fromkeys(values)).keys()


def _items(*items: Any) -> Any:
    values = _all(items)
    return _distinct(values, dict(values)).items()


def _zone(offset: Any, name: Any) -> datetime.timezone | None:
    _need(name is None or type(name) is str)
    if offset is None:
        return None
    zone = datetime.timezone(datetime.timedelta(microseconds=_number(offset)))
    if name is None or name == zone.tzname(None):
        return zone if offset else datetime.UTC
    return datetime.timezone(zone.utcoffset(None), name)


def _datetime(*fields: Any) -> datetime.datetime:
    *numbers, fold, offset, name = fields
    _need(len(numbers) == 7)
    return datetime.datetime(*map(_number, numbers), tzinfo=_zone(offset, name), fold=_number(fold))  # type: ignore[misc,arg-type]


def _time(*fields: Any) -> datetime.time:
    *numbers, fold, offset, name = fields
    _need(len(numbers) == 4)
    return datetime.time(*map(_number, numbers), tzinfo=_zone(offset, name), fold=_number(fold))  # type: ignore[misc,arg-type]


def _numbers(kind: Callable[..., Any], count: int) -> Callable[..., Any]:
    def form(*items: Any) -> Any:
        _need(len(items) == count)
        return kind(*map(_number, items))

    return form


def _decimal(kind: Any, text: Any) -> decimal.Decimal:
    form = r"-?(\d{1,9999}(\.\d{1,9999})?(E[+-]\d{1,18})?|Infinity|s?NaN\d{0,9})"
    _need(kind == "Decimal" and re.fullmatch(form, _word(text), re.ASCII))
    return decimal.Decimal(text)


def _by_kind(**kinds: Callable[[str], Any]) -> Callable[..., Any]:
    return lambda kind, text: kinds[kind](_word(text))


def _raised(kind: Any, names: Any, args: Any, text: Any) -> RaisedValue:
    return RaisedValue(_word(kind), tuple(names), _decode(args), _decode(text))


def _derived(kind: Any, comparable: Any, base: Any, *fields: Any) -> Any:
    value = _decode(base)
    _need(type(comparable) is bool)
    if not comparable or isinstance(value, (Structure, Opaque, RaisedValue, ValueKind)):
        return Structure(_word(kind), canonical(["sub", kind, comparable, base, *fields]))
    make = _SUBCLASSES.get(type(value))
    return make(value) if make else value


def _enum(kind: Any, name: Any, comparable: Any, base: Any) -> Any:
    if comparable is True:
        return _derived(kind, comparable, base)
    return Structure(_word(kind), canonical(["enum", kind, name, comparable, base]))


def _type(name: Any) -> Any:
    return _TYPES.get(_word(name)) or ValueKind(name)


_EXACT = (bool, int, float, str, bytes, bytearray, complex, list, tuple, dict, set, frozenset, range, slice,
          OrderedDict, defaultdict, Counter, deque, datetime.datetime, datetime.date, datetime.time, datetime.timedelta,
          decimal.Decimal, fractions.Fraction, uuid.UUID, object, type)  # fmt: skip
_ERRORS = [each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, BaseException)]
_TYPES: dict[str, Any] = {f"{each.__module__}.{each.__qualname__}": each for each in (*_EXACT, *_ERRORS)}
_TYPES["builtins.NoneType"] = type(None)
_SUBCLASSES = {
    base: types.new_class(f"{base.__name__}_subclass", (base,))
    for base in (int, float, str, bytes, bytearray, complex, list, tuple, dict, set, frozenset, OrderedDict, deque)
}
_FORMS: dict[str, Callable[..., Any]] = {
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "?": lambda kind: Opaque(_word(kind)),
    "deep": lambda kind: Opaque(_word(kind)),
    "up": lambda levels: Opaque(f"the container {_number(levels)} levels above"),
    "int": _int,
    "float": _float,
    "complex": lambda real, imag: complex(_float(real), _float(imag)),
    "str": _str,
    "bytes": _hex,
    "bytearray": lambda text: bytearray(_hex(text)),
    "memoryview": lambda text: memoryview(_hex(text)),
    "list": lambda *items: _all(items),
    "tuple": lambda *items: tuple(_all(items)),
    "set": _set(set),
    "frozenset": _set(frozenset),
    "dict": _dict,
    "OrderedDict": lambda *items: OrderedDict(_dict(*items)),
    "defaultdict": _default,
    "Counter": _counter,
    "deque": lambda most, *items: deque(_all(items), None if most is None else _number(most)),
    "ChainMap": lambda *maps: ChainMap(*map(_mapping, maps)),
    "mappingproxy": lambda node: types.MappingProxyType(_mapping(node)),
    "keys": _keys,
    "values": lambda *items: dict(enumerate(_all(items))).values(),
    "items": _items,
    "range": _numbers(range, 3),
    "slice": lambda *parts: slice(*_all(parts)) if len(parts) == 3 else _need(fits=False),
    "date": _numbers(datetime.date, 3),
    "datetime": _datetime,
    "time": _time,
    "timedelta": _numbers(datetime.timedelta, 3),
    "timezone": lambda offset, name: _zone(_number(offset), name),
    "decimal": _decimal,
    "Fraction": _numbers(fractions.Fraction, 2),
    "UUID": lambda text: uuid.UUID(bytes=_hex(text)),
    "pathlib": _by_kind(PosixPath=pathlib.PurePosixPath, PurePosixPath=pathlib.PurePosixPath,
                      WindowsPath=pathlib.PureWindowsPath, PureWindowsPath=pathlib.PureWindowsPath),
    "ipaddress": _by_kind(**{f"IPv{version}{kind}": getattr(ipaddress, f"IPv{version}{kind}")
                           for version in (4, 6) for kind in ("Address", "Network", "Interface")}),
    "exc": _raised,
    "sub": _derived,
    "enum": _enum,
    "view": _derived,
    "type": _type,
}  # fmt: skip
