"""Observer: writes the values of the code under test as nested lists that JSON takes. Runs in the hostile process.

It holds no secret and decides nothing: whoever controls the process may send whatever they like. It must only be exact
and harmless for honest code: it runs no method of the repository's classes (but `str` of an exception, `utcoffset` of
its time zones and the iteration of its mappings and sequences), consumes no iterator, keeps nothing alive and never
raises. Equal values give equal nodes up to the order of mappings and sets; `values.py` reads what is written here.

An object that appears twice is written twice; inside itself it is `["up", N]`, the container N levels above. So a node
does not depend on the order in which a mapping was walked. Standard library only, Python 3.6 and newer.
"""

from __future__ import annotations

import collections.abc
import hashlib
import io
import itertools
import sys
import types
from typing import Any

from repoassay.grading.oracle.forms import (
    ABSTRACT,
    KNOWN,
    WHOLE,
    canonical,
    compares,
    find_form,
    in_order,
    is_ascii,
    mro_of,
    name_of,
    own_of,
    said_by,
)

__all__ = ["describe_exception", "encode"]

NODES, LENGTH, DEPTH = 50_000, 2**20, 12
"""Beyond so many nodes or characters a value is a digest; below so many levels it is a mark."""
_MOST = 10 * NODES
_INT = 2**63
_abc = collections.abc


def encode(value: Any) -> Any:
    """The node of a value."""
    kind = type(value)
    if kind is str:
        if len(value) < 4096 and is_ascii(value):
            return value
    elif kind is int:
        if -_INT < value < _INT:
            return value
    elif value is None or kind is bool:
        return value
    elif kind is float:
        return ["float", value.hex()]
    walk = _Walk()
    try:
        node = walk.node(value, 0)
        if walk.nodes > NODES or walk.text > LENGTH:
            node = ["digest", name_of(kind), hashlib.sha256(canonical(node).encode()).hexdigest()]
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever the repository's classes raise
        return ["?", name_of(kind)]
    return node


def describe_exception(error: BaseException) -> Any:
    """The node of an exception; its type and text always stand, however large its arguments are."""
    kind = type(error)
    names = [name_of(base) for base in mro_of(kind)][:64]
    try:
        args = encode(BaseException.__dict__["args"].__get__(error))
    except Exception:  # noqa: BLE001 - hardly possible
        args = ["?", "builtins.tuple"]
    return ["exc", name_of(kind), names, args, said_by(_Walk(), error)]


class _Full(Exception):
    """The value is too large even for a digest."""


class _Walk:
    """One value on its way to a node."""

    def __init__(self) -> None:
        self.nodes = self.text = 0
        self.above: list[int] = []

    def node(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self.nodes += 1
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -_INT < value < _INT else KNOWN[id(int)][1](self, value, depth, int)
        if kind is str:
            return self.string(value)
        if self.nodes > _MOST:
            raise _Full
        known = find_form(kind)
        if known is not None and known[2]:
            return self.guarded(known[1], value, kind, depth)
        if id(value) in self.above:
            return ["up", len(self.above) - self.above.index(id(value))]
        if depth >= DEPTH:
            return ["deep", name_of(kind)]
        self.above.append(id(value))
        try:
            return self.guarded(known[1] if known is not None else _Walk.other, value, kind, depth + 1)
        finally:
            self.above.pop()

    def guarded(self, form: Any, value: Any, kind: type, depth: int) -> Any:
        try:
            return form(self, value, depth, kind)
        except (KeyboardInterrupt, RecursionError, MemoryError, _Full):
            raise
        except BaseException:  # noqa: BLE001 - whatever the repository's classes raise
            return ["?", name_of(kind)]

    def string(self, value: str) -> Any:
        size = len(value)
        self.text += min(size, LENGTH)
        if size <= LENGTH and is_ascii(value):
            return value
        data = value.encode("utf-8", "surrogatepass")
        if len(data) > LENGTH:
            return ["digest", "builtins.str", hashlib.sha256(data).hexdigest()]
        try:
            value.encode()
        except UnicodeEncodeError:
            return ["str", data.hex()]
        return value

    def items(self, values: Any, depth: int) -> list[Any]:
        found = []
        for value in values:
            kind = type(value)
            if kind is int and -_INT < value < _INT:
                self.nodes += 1
                found.append(value)
            elif kind is str and len(value) < 256 and is_ascii(value):
                self.nodes += 1
                self.text += len(value)
                found.append(value)
            else:
                found.append(self.node(value, depth))
        if self.nodes > _MOST:
            raise _Full
        return found

    def pairs(self, items: Any, depth: int) -> list[Any]:
        return self.items(itertools.chain.from_iterable(items), depth)

    def other(self, value: Any, depth: int, kind: type) -> Any:
        """A value of a type without an entry of its own: an instance of a subclass, or an object."""
        mro = mro_of(kind)
        enum = sys.modules.get("enum")
        if enum is not None and any(base is enum.Enum for base in mro):
            return self.member(value, kind, mro, depth)
        array = self.array(value, kind, mro, depth)
        if array is not None:
            return array
        for place, base in enumerate(mro):
            known = find_form(base)
            if known is None:
                continue
            node = known[1](self, value, depth, base)
            if base is kind or known[1] in WHOLE:
                return node
            return ["sub", name_of(kind), compares(mro, place), node, *self.fields(value, mro, depth)]
        if any("__next__" in own_of(base) for base in mro) or any(base is io.IOBase for base in mro):
            return ["?", name_of(kind)]
        return self.view(value, kind, mro, depth) or self.object(value, kind, mro, depth)

    def object(self, value: Any, kind: type, mro: Any, depth: int) -> Any:
        fields = self.fields(value, mro, depth)
        plain = any(name in own_of(base) for base in mro for name in ("__dict__", "__slots__"))
        return ["object", name_of(kind), *fields] if plain else ["?", name_of(kind)]

    def fields(self, value: Any, mro: Any, depth: int) -> list[Any]:
        """Names and values of what an object holds, by the interpreter's own descriptors."""
        found: dict[str, Any] = {}
        for base in mro:
            own = own_of(base)
            inner = own.get("__dict__")
            if type(inner) is types.GetSetDescriptorType and not found:
                found.update((k, v) for k, v in dict.items(inner.__get__(value)) if type(k) is str)
            if "__slots__" in own:
                for name, slot in own.items():
                    if type(slot) is types.MemberDescriptorType and name not in found:
                        try:
                            found[name] = slot.__get__(value)
                        except AttributeError:
                            continue
        return self.pairs(sorted(found.items()), depth)

    def member(self, value: Any, kind: type, mro: Any, depth: int) -> Any:
        inner = object.__getattribute__(value, "__dict__")
        name, held = inner.get("_name_"), inner.get("_value_")
        for place, base in enumerate(mro):
            known = KNOWN.get(id(base))
            if known is not None and base is not object:
                node = known[1](self, value, depth, base)
                return ["enum", name_of(kind), self.node(name, depth), compares(mro, place), node]
        return ["enum", name_of(kind), self.node(name, depth), False, self.node(held, depth)]

    def array(self, value: Any, kind: type, mro: Any, depth: int) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return None
        if any(base is numpy.generic for base in mro):
            return ["sub", name_of(kind), True, self.node(numpy.generic.item(value), depth)]
        if not any(base is numpy.ndarray for base in mro):
            return None
        shape = [int(size) for size in numpy.shape(value)]
        form, size = numpy.ndarray.dtype.__get__(value), numpy.size(value)
        if size <= 2000:
            return ["array", str(form), shape, *self.items(numpy.ndarray.ravel(value).tolist(), depth)]
        data = b"" if form.hasobject else numpy.ascontiguousarray(value).tobytes()
        return ["array", str(form), shape, ["digest", name_of(kind), hashlib.sha256(data).hexdigest()]]

    def view(self, value: Any, kind: type, mro: Any, depth: int) -> Any:
        """What a mapping, set or sequence of the repository's own yields first; nothing when it fails to."""
        for word, abc in (("dict", _abc.Mapping), ("set", _abc.Set), ("list", _abc.Sequence)):
            if not any(base is abc for base in mro):
                continue
            place = next(at for at, base in enumerate(mro) if base is abc)
            try:
                listed = list(itertools.islice(value, NODES + 1))
                items = [(key, value[key]) for key in listed] if word == "dict" else listed
            except Exception:  # noqa: BLE001 - the repository's
                return None
            node = [word, *(self.pairs(items, depth) if word == "dict" else self.items(items, depth))]
            return [
                "view",
                name_of(kind),
                word != "list" and compares(mro, place, ABSTRACT),
                in_order(node) if word == "set" else node,
            ]
        return None
