"""Forms of the observer: how a value of each builtin and standard type is written. Runs in the hostile process.

Values are read by the unbound methods of the base type, so that a subclass's own methods do not run. A type of a module
that may not be loaded is found by its name once a value of it appears. See `observer.py`, to which this belongs.
"""

from __future__ import annotations

import collections
import hashlib
import json
import re
import sys
import types
from typing import Any

__all__ = [
    "ABSTRACT",
    "KNOWN",
    "PAIRED",
    "UNORDERED",
    "WHOLE",
    "canonical",
    "compares",
    "find_form",
    "in_order",
    "is_ascii",
    "mro_of",
    "name_of",
    "own_of",
    "said_by",
]

TEXT = 2**20
_DIGITS = 14_280
_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__len__", "__bool__")
ABSTRACT = tuple(name for name in _COMPARING if name not in ("__len__", "__contains__"))
"""The comparisons a mapping or set of the repository need not define."""
mro_of = type.__dict__["__mro__"].__get__
own_of = type.__dict__["__dict__"].__get__
is_ascii: Any = str.__dict__.get("isascii") or (lambda text: all(letter < "\x80" for letter in text))
"""Python 3.6 has no `str.isascii`."""
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__


def name_of(kind: Any) -> str:
    """Module and qualified name of a type."""
    try:
        return f"{_plain(_module(kind))}.{_plain(_qualname(kind))}"[:500]
    except Exception:  # noqa: BLE001 - a class may have lost its module
        return "?"


def _plain(text: Any) -> str:
    return str.__str__(text).encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else "?"


def compares(mro: Any, place: int, names: Any = _COMPARING) -> bool:
    """Whether no class before `mro[place]` has comparisons of its own."""
    return not any(name in own_of(base) for base in mro[:place] for name in names)


def said_by(walk: Any, error: BaseException) -> Any:
    """The text of an exception."""
    try:
        return walk.string(str.__str__(str(error))[:65_536])
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - an exception that cannot be shown
        return ["?", "builtins.str"]


def canonical(node: Any) -> str:
    """One text for all nodes of equal values: JSON, with the items of mappings and sets in order of their own texts."""
    if type(node) is not list:
        return json.dumps(node)
    tag = node[0] if node else ""
    parts = [canonical(item) for item in node]
    first = UNORDERED.get(tag, 0) if type(tag) is str else 0
    if first:
        rest = parts[first:]
        if tag in PAIRED:
            rest = [f"{key},{value}" for key, value in zip(rest[0::2], rest[1::2])]  # noqa: B905 - not in Python 3.8
        parts[first:] = sorted(rest)
    return f"[{','.join(parts)}]"


PAIRED = ("dict", "Counter", "defaultdict")
UNORDERED = {"set": 1, "frozenset": 1, "keys": 1, "items": 1, "dict": 1, "Counter": 1, "defaultdict": 2}
"""Nodes whose items have no order, and where these begin; the items of some are keys and values in turn."""


def in_order(node: Any) -> Any:
    """A node of a set, its items in the one order that does not depend on the interpreter's seed."""
    node[1:] = sorted(node[1:], key=canonical)
    return node


def _int(walk: Any, value: Any, depth: int, base: Any) -> Any:
    value = int.__int__(value)
    if -(2**63) < value < 2**63:
        return value
    if value.bit_length() > _DIGITS:
        return ["digest", "builtins.int", hashlib.sha256(hex(value).encode()).hexdigest()]
    return ["int", hex(value)]


def _bytes(walk: Any, value: Any, depth: int, base: Any) -> Any:
    data = value.tobytes() if base is memoryview else bytes(base.__getitem__(value, slice(None)))
    walk.text += 2 * min(len(data), TEXT)
    if len(data) > TEXT:
        return ["digest", name_of(base), hashlib.sha256(data).hexdigest()]
    return [base.__name__, data.hex()]


def _ordered(walk: Any, value: Any, depth: int, base: Any) -> Any:
    keys = list(base.__iter__(value))
    return [base.__name__, *walk.pairs([(key, dict.__getitem__(value, key)) for key in keys], depth)]


def _default(walk: Any, value: Any, depth: int, base: Any) -> Any:
    factory = base.default_factory.__get__(value)
    name = name_of(factory) if isinstance(factory, type) else None if factory is None else "?"
    return [base.__name__, name, *walk.pairs(dict.items(value), depth)]


def _deque(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["deque", base.maxlen.__get__(value), *walk.items(list(base.__iter__(value)), depth)]


def _fields(*names: str) -> Any:
    def form(walk: Any, value: Any, depth: int, base: Any) -> Any:
        return [base.__name__, *walk.items([getattr(base, name).__get__(value) for name in names], depth)]

    return form


def _zoned(*names: str) -> Any:
    def form(walk: Any, value: Any, depth: int, base: Any) -> Any:
        offset, name = base.utcoffset(value), base.tzname(value)
        found = [getattr(base, each).__get__(value) for each in names]
        return [base.__name__, *found, _micro(offset), walk.node(name, depth)]

    return form


def _micro(offset: Any) -> Any:
    return None if offset is None else (offset.days * 86400 + offset.seconds) * 10**6 + offset.microseconds


def _timezone(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["timezone", _micro(base.utcoffset(value, None)), walk.string(base.tzname(value, None))]


def _text(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return [name_of(base).partition(".")[0], base.__name__, walk.string(base.__str__(value))]


def _class(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["type", name_of(value)]


def _function(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["function", _plain(getattr(value, "__module__", "")), _plain(getattr(value, "__qualname__", ""))]


def _method(walk: Any, value: Any, depth: int, base: Any) -> Any:
    function = value.__func__
    if type(function) is not types.FunctionType:
        return ["?", "builtins.method"]
    return ["method", _plain(function.__module__), _plain(function.__qualname__), name_of(type(value.__self__))]


def _names_module(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["module", _plain(object.__getattribute__(value, "__dict__").get("__name__"))]


def _match(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["match", *value.span(), *walk.items([value.group(), *value.groups()], depth)]


def _exception(walk: Any, value: Any, depth: int, base: Any) -> Any:
    kind = type(value)
    names = [name_of(each) for each in mro_of(kind)][:64]
    args = walk.node(BaseException.__dict__["args"].__get__(value), depth)
    return ["exc", name_of(kind), names, args, said_by(walk, value)]


def _opaque(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return ["?", name_of(type(value))]


def _iterated(word: str) -> Any:
    def form(walk: Any, value: Any, depth: int, base: Any) -> Any:
        return [word, *walk.items(list(base.__iter__(value)), depth)]

    return form


def _set(walk: Any, value: Any, depth: int, base: Any) -> Any:
    return in_order([base.__name__, *walk.items(list(base.__iter__(value)), depth)])


_od: Any = collections.OrderedDict()
_FORMS: Any = (
    (False, _iterated("list"), list), (False, _iterated("tuple"), tuple), (False, _set, set, frozenset),
    (False, lambda w, v, d, b: ["dict", *w.pairs(dict.items(v), d)], dict),
    (False, _ordered, collections.OrderedDict), (False, _default, collections.defaultdict),
    (False, lambda w, v, d, b: ["Counter", *w.pairs(dict.items(v), d)], collections.Counter),
    (False, _deque, collections.deque),
    (False, lambda w, v, d, b: ["ChainMap", *w.items(v.__dict__["maps"], d)], collections.ChainMap),
    (False, lambda w, v, d, b: ["mappingproxy", w.node(dict(v), d)], types.MappingProxyType),
    (False, _iterated("keys"), type({}.keys()), type(_od.keys())),
    (False, _iterated("values"), type({}.values()), type(_od.values())),
    (False, _iterated("items"), type({}.items()), type(_od.items())),
    (True, _int, int), (True, lambda w, v, d, b: ["float", float.hex(v)], float),
    (True, lambda w, v, d, b: w.string(str.__str__(v)), str),
    (True, _bytes, bytes, bytearray, memoryview),
    (True, lambda w, v, d, b: ["complex", float.hex(b.real.__get__(v)), float.hex(b.imag.__get__(v))], complex),
    (True, lambda w, v, d, b: ["..."], type(...)), (True, lambda w, v, d, b: ["NotImplemented"], type(NotImplemented)),
    (True, _fields("start", "stop", "step"), range), (False, _fields("start", "stop", "step"), slice),
    (False, _class, type), (True, _function, types.FunctionType, types.BuiltinFunctionType),
    (True, _method, types.MethodType), (True, _names_module, types.ModuleType), (False, _exception, BaseException),
    (True, _match, type(re.match("", ""))),
    (True, lambda w, v, d, b: ["pattern", w.node(v.pattern, d), v.flags], type(re.compile(""))),
    (True, _opaque, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType,
     types.CodeType, types.TracebackType, type(object().__str__), type(object.__init__)),
)  # fmt: skip
_DATE, _TIME = ("year", "month", "day"), ("hour", "minute", "second", "microsecond", "fold")
_LATE: dict[tuple[str, str], tuple[Any, bool]] = {
    ("datetime", "datetime"): (_zoned(*_DATE, *_TIME), True),
    ("datetime", "date"): (_fields(*_DATE), True),
    ("datetime", "time"): (_zoned(*_TIME), True),
    ("datetime", "timedelta"): (_fields("days", "seconds", "microseconds"), True),
    ("datetime", "timezone"): (_timezone, True),
    ("decimal", "Decimal"): (_text, True),
    ("fractions", "Fraction"): (_fields("numerator", "denominator"), True),
    ("uuid", "UUID"): (lambda w, v, d, b: ["UUID", f"{b.int.__get__(v):032x}"], True),
    **{("pathlib", f"{pure}{kind}Path"): (_text, True) for pure in ("", "Pure") for kind in ("Posix", "Windows")},
    **{("ipaddress", f"IPv{n}{kind}"): (_text, True) for n in (4, 6) for kind in ("Address", "Network", "Interface")},
    ("functools", "partial"): (_fields("func", "args", "keywords"), False),
}
"""Forms of types whose modules may not be loaded."""
KNOWN: dict[int, Any] = {id(base): (base, form, leaf) for leaf, form, *bases in _FORMS for base in bases}
"""By the identity of a type: the type, what writes its values, and whether these hold no other values."""
WHOLE: frozenset[Any] = frozenset([_class, _exception, _opaque])
"""Forms that tell the exact type themselves."""


def find_form(kind: Any) -> Any:
    """The form of exactly this type."""
    found = KNOWN.get(id(kind))
    if found is not None:
        return found
    try:
        module, name = _module(kind), _qualname(kind)
        if type(module) is not str or type(name) is not str:
            return None
        late = _LATE.get((module.partition(".")[0], name))
        if late is None or vars(sys.modules[module.partition(".")[0]]).get(name) is not kind:
            return None
    except Exception:  # noqa: BLE001 - a class may have lost its module
        return None
    found = KNOWN[id(kind)] = (kind, *late)
    return found
