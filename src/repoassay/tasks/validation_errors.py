"""What pydantic finds wrong, in the words of somebody who writes TOML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from repoassay.errors import Problem
from repoassay.text import printable, quote, suggest
from repoassay.types import Record

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["dotted", "explain", "record_in"]

Place = tuple[str | int, ...]
_MOST = 200
"""Findings put into words; a hostile file may hold ten thousands."""

_FORMS = {
    "id": "must start with a letter or digit and hold only letters, digits, '.', '_' and '-', 64 at most",
    "name": "must start with a letter or digit and hold only letters, digits, '.', '_' and '-', 64 at most",
    "sha256": "must be 64 lower-case hexadecimal digits",
    "revision": "must be a full commit id of 40 lower-case hexadecimal digits",
    "source": "must be pypi:NAME==VERSION, npm:NAME==VERSION, bundled:NAME, folder:PATH or git:URL",
    "against": "must be input:NAME or truth:NAME",
    "metric": "must be the name of a metric: lower-case letters, digits and '_'",
}
_BOUNDS = {"greater_than": "gt", "greater_than_equal": "ge", "less_than": "lt", "less_than_equal": "le"}
_SIGNS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
_KINDS = {
    "string": "text in quotes", "int": "a whole number", "float": "a number", "decimal": "a number",
    "bool": "true or false", "tuple": "a list", "list": "a list", "dict": "a table", "model": "a table",
    "finite": "a number that is neither inf nor nan", "none": "left out",
}  # fmt: skip
_LEADING_KEY = re.compile(r"^((?:[a-z_]+\.)*[a-z_]+): (.+)$", re.DOTALL)


def explain(error: ValidationError, model: type[Record], file: str, key: Callable[[Place], str]) -> list[Problem]:
    """Turn a pydantic error into problems, one a key.

    Args:
        error: What pydantic raised.
        model: What was validated; known keys are looked up in it.
        file: The file the values came from.
        key: Turns a place in the model into the key as the file writes it.
    """
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False)[:_MOST]:
        place, what, remedy = _in_words(detail, model)
        problems.setdefault(key(place), Problem(file, key(place), what, remedy))
    return list(problems.values())


def dotted(place: Sequence[str | int]) -> str:
    """Write a place as `grading.result[0].at_least`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{printable(part, 60)}" if text else printable(part, 60)
    return text


def _in_words(detail: ErrorDetails, model: type[Record]) -> tuple[Place, str, str]:
    """Place, what and remedy of one finding."""
    place: Place = detail["loc"]
    if "options" in place:
        place = place[: place.index("options") + 2]  # what follows are the kinds pydantic tried
        return place, "must be text, a number, true or false, or a list of texts or of numbers.", ""
    kind = detail["type"]
    last = str(place[-1]) if place else ""
    if kind == "extra_forbidden":
        home = record_in(model, place[:-1])
        return place, "is not a known key.", suggest(last, home.model_fields if home else ())
    if kind == "missing":
        section = record_in(model, place)
        return place, "is missing.", f"Add the section [{dotted(place)}]." if section else "Add it."
    if kind == "value_error":
        return _own_words(place, str(detail.get("ctx", {}).get("error", detail["msg"])))
    if kind == "string_pattern_mismatch" and last in _FORMS:
        return place, f"is {quote(detail['input'])}.", f"It {_FORMS[last]}."
    return place, *_stated(kind, detail)


def _stated(kind: str, detail: ErrorDetails) -> tuple[str, str]:
    """What and remedy where the kind of error says it all."""
    context: dict[str, Any] = detail.get("ctx", {})
    found = _toml_name(detail["input"])
    if kind in _BOUNDS:
        bound = _BOUNDS[kind]
        return f"is {found}.", f"It must be {_SIGNS[bound]} {context[bound]}."
    if kind in {"enum", "literal_error"}:
        return f"is {found}.", f"It must be {printable(str(context['expected']))}."
    if kind == "string_too_short":
        return f"is {found}.", f"It needs at least {context['min_length']} characters."
    if kind == "string_too_long":
        return f"is {found}.", f"It may have at most {context['max_length']} characters."
    if kind == "too_short":
        return "is an empty list.", f"It needs at least {context['min_length']} of them."
    wanted = _KINDS.get(kind.split("_", maxsplit=1)[0])
    if wanted is not None:
        return f"is {found}.", f"It must be {wanted}."
    message = detail["msg"].removeprefix("Input should be ")
    return f"is {found}.", f"It must be {printable(message)}."


def _own_words(place: Place, message: str) -> tuple[Place, str, str]:
    """Words of our own model: `KEY: what; remedy`, where KEY and remedy may be absent."""
    leading = None if place else _LEADING_KEY.match(message)
    if leading:
        place, message = tuple(leading[1].split(".")), leading[2]
    what, _, remedy = message.partition("; ")
    remedy = f"{remedy[:1].upper()}{remedy[1:]}." if remedy else ""
    return place, f"{printable(what, 400)}.", printable(remedy, 400)


def _toml_name(value: object) -> str:
    """A value as TOML calls it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quote(value) if value else "empty"
        case int() | float():
            return "a very large number" if isinstance(value, int) and abs(value) > 10**30 else str(value)
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return "a date or time"


def record_in(model: type[Record], place: Sequence[str | int]) -> type[Record] | None:
    """The record at a place below `model`, if there is one."""
    found: type[Record] | None = model
    for part in place:
        if isinstance(part, int):
            continue
        field = found.model_fields.get(part) if found else None
        found = _record(field.annotation) if field else None
    return found


def _record(annotation: object) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((found for part in get_args(annotation) if (found := _record(part))), None)
