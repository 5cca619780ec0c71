"""Ids that pytest gives the cases of a parametrised test, as far as its source tells."""

from __future__ import annotations

import ast
import builtins
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

__all__ = ["Unlisted", "case_ids"]

MAX_CASES = 10_000
_MAX_STEPS = 10
_LONGEST = 100
"""Characters of a text from which pytest makes an id; what longer ones get depends on its version."""
_ESCAPES = {code: f"\\x{code:02x}" for code in range(128) if code not in range(32, 127)} | {
    9: "\\t",
    10: "\\n",
    13: "\\r",
}
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Pow: lambda left, right: int(left**right),
}
_CONTAINERS = (
    ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


class Unlisted(ValueError):
    """The script's tests cannot be listed; the message is a sentence without its subject, `; ` before its remedy."""


def case_ids(marks: list[ast.expr], names: Mapping[str, ast.stmt], test: str) -> list[str]:
    """Return the bracketed part of each case's id, without brackets; empty when the test has no cases.

    Args:
        marks: The `parametrize` decorators of the test, as written from top to bottom.
        names: What the script defines at its top level, by name.
        test: The test's name, for the error.

    Raises:
        Unlisted: When an id is known only by running the script.
    """
    groups: list[list[str]] = []
    for mark in reversed(marks):  # the one nearest to the function comes first in the id
        if not isinstance(mark, ast.Call):
            raise _unknown(test)
        groups.append(_unique(list(_mark_ids(mark, names, test))))
        if math.prod(map(len, groups)) > MAX_CASES:
            raise Unlisted(f"has the test {test} with more than {MAX_CASES} cases; write fewer")
    ids = [""]
    for number, group in enumerate(groups):
        ids = [f"{start}-{end}" if number else end for start in ids for end in group]
    return ids


def _unknown(test: str) -> Unlisted:
    return Unlisted(
        f"has the parametrised test {test}, whose ids only running it tells;"
        " write plain values, or pytest.param with an id"
    )


def _mark_ids(mark: ast.Call, names: Mapping[str, ast.stmt], test: str) -> Iterator[str]:
    keywords = {keyword.arg: keyword.value for keyword in mark.keywords}
    mark_values = dict(zip(("argnames", "argvalues", "indirect", "ids"), mark.args, strict=False))
    mark_values |= {name: value for name, value in keywords.items() if name is not None}
    if mark_values.keys() - {"argnames", "argvalues", "ids"} or not mark_values.keys() >= {"argnames", "argvalues"}:
        raise _unknown(test)
    arguments = _argument_names(mark_values["argnames"], test)
    stated = _items(mark_values["ids"], names, test) if "ids" in mark_values else []
    cases = _items(mark_values["argvalues"], names, test)
    if stated and len(stated) != len(cases):
        raise _unknown(test)
    for number, written in enumerate(cases):
        case = _resolved(written, names)
        own = _own_id(case, test)
        if own is not None:
            yield own
        elif stated and not _is_none(stated[number]):
            yield _value_id(stated[number], "", 0, names, test)
        else:
            values = _values(case, len(arguments), test)
            pairs = zip(values, arguments, strict=True)
            yield "-".join(_value_id(value, name, number, names, test) for value, name in pairs)


def _argument_names(node: ast.expr, test: str) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, ast.List | ast.Tuple):
        return [str(_constant(item)) for item in node.elts]
    raise _unknown(test)


def _items(node: ast.expr, names: Mapping[str, ast.stmt], test: str) -> list[ast.expr]:
    """The elements of a list that is written out, here or where its name is defined."""
    node = _resolved(node, names)
    if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(item, ast.Starred) for item in node.elts):
        raise _unknown(test)
    return node.elts


def _resolved(node: ast.expr, names: Mapping[str, ast.stmt]) -> ast.expr:
    """What a name, or an element of a list or dict with a name, stands for where the script writes that out."""
    for _ in range(_MAX_STEPS):
        if isinstance(node, ast.Name):
            place = names.get(node.id)
            value = place.value if isinstance(place, ast.Assign | ast.AnnAssign) else None
        elif isinstance(node, ast.Subscript):
            value = _element(_resolved(node.value, names), node.slice)
        else:
            value = None
        if value is None:
            break
        node = value
    return node


def _element(whole: ast.expr, index: ast.expr) -> ast.expr | None:
    try:
        key = _constant(index)
    except ValueError:
        return None
    if isinstance(whole, ast.List | ast.Tuple) and type(key) is int and -len(whole.elts) <= key < len(whole.elts):
        return whole.elts[key]
    if isinstance(whole, ast.Dict):
        pairs = zip(whole.keys, whole.values, strict=True)
        return next((value for name, value in pairs if isinstance(name, ast.Constant) and name.value == key), None)
    return None


def _own_id(case: ast.expr, test: str) -> str | None:
    """The id that `pytest.param(..., id="...")` states; marks on a case are not understood."""
    if not _is_param(case):
        return None
    assert isinstance(case, ast.Call)
    keywords = {keyword.arg: keyword.value for keyword in case.keywords}
    if keywords.keys() - {"id"}:
        raise _unknown(test)
    if "id" not in keywords:
        return None
    value = _constant(keywords["id"])
    if not isinstance(value, str):
        raise _unknown(test)
    return _escaped(value)


def _is_param(case: ast.expr) -> bool:
    return isinstance(case, ast.Call) and (
        (isinstance(case.func, ast.Attribute) and case.func.attr == "param")
        or (isinstance(case.func, ast.Name) and case.func.id == "param")
    )


def _values(case: ast.expr, count: int, test: str) -> list[ast.expr]:
    if _is_param(case):
        assert isinstance(case, ast.Call)
        values = case.args
    elif count == 1:
        return [case]
    elif isinstance(case, ast.Tuple | ast.List):
        values = case.elts
    else:
        raise _unknown(test)
    if len(values) != count or any(isinstance(value, ast.Starred) for value in values):
        raise _unknown(test)
    return values


def _value_id(node: ast.expr, name: str, number: int, names: Mapping[str, ast.stmt], test: str) -> str:
    """The id of one value: its text, its name, or the argument's name with the case's number."""
    node = _resolved(node, names)
    if isinstance(node, _CONTAINERS):
        return f"{name}{number}"
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    if isinstance(node, ast.Call):
        # What a class makes has no name of its own; what a function returns, nobody can know.
        called = _last(node.func)
        if called in {"set", "frozenset", "list", "tuple", "dict", "range", "object"} or _is_class_name(called):
            return f"{name}{number}"
        raise _unknown(test)
    if isinstance(node, ast.Name | ast.Attribute):
        called = _last(node)
        is_plain = isinstance(node, ast.Name)
        known = is_plain and isinstance(names.get(called), ast.FunctionDef | ast.ClassDef)
        built_in = is_plain and called not in names and hasattr(getattr(builtins, called, None), "__name__")
        bound = is_plain and isinstance(names.get(called), ast.Assign | ast.AnnAssign)
        if known or built_in or (_is_class_name(called) and not bound):
            return called
        raise _unknown(test)
    try:
        value = _constant(node)
    except (ValueError, OverflowError, MemoryError, RecursionError, TypeError):
        raise _unknown(test) from None
    if isinstance(value, str | bytes):
        if len(value) > _LONGEST:
            raise _unknown(test)
        return _escaped(value)
    if value is Ellipsis:
        return f"{name}{number}"
    return str(value)


def _constant(node: ast.expr) -> object:
    """A number, text, True, False or None, with signs and a little arithmetic.

    Raises:
        ValueError: When it is something else.
    """
    if isinstance(node, ast.BinOp):
        left, right = _constant(node.left), _constant(node.right)
        operation = _OPERATIONS.get(type(node.op))
        small = type(left) is int and type(right) is int and abs(left) <= 10**30 and abs(right) <= 10**30
        if isinstance(node.op, ast.Pow):
            small = small and isinstance(right, int) and 0 <= right <= 100
        if operation is None or not small:
            raise ValueError
        assert isinstance(left, int) and isinstance(right, int)
        return operation(left, right)
    return ast.literal_eval(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_class_name(name: str) -> bool:
    """Whether a name looks like a class: it starts with a capital and is not all capitals."""
    return name[:1].isupper() and not name.isupper() and "_" not in name


def _escaped(value: str | bytes) -> str:
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace").translate(_ESCAPES)
    return value.encode("unicode_escape").decode("ascii").translate(_ESCAPES)


def _unique(ids: list[str]) -> list[str]:
    """Number ids that occur more than once, as pytest does."""
    counts = Counter(ids)
    present = Counter(ids)
    following: Counter[str] = Counter()
    for place, name in enumerate(ids):
        if counts[name] > 1:
            joint = "_" if name[-1:].isdigit() else ""
            while present[new := f"{name}{joint}{following[name]}"] > 0:
                following[name] += 1
            ids[place] = new
            present[name] -= 1
            present[new] += 1
            following[name] += 1
    return ids
