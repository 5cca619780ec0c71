"""What verbs print with `--json`, read as a program reads it: each envelope is held against the verb's schema."""

from __future__ import annotations

import functools
import json
from typing import Any

import jsonschema_rs

from repoassay.cli.schema import stated_schemas
from repoassay.json_output import envelope_schema

__all__ = ["data_of", "failure_of", "records_of"]


def data_of(printed: str) -> Any:
    """The data of the one document that a verb printed."""
    return _opened(printed)["data"]


def records_of(printed: str, record: str) -> list[Any]:
    """The data of those lines of a verb that hold a record of this kind."""
    opened = [_opened(line) for line in printed.splitlines()]
    return [each["data"] for each in opened if each.get("record") == record]


def failure_of(printed: str) -> list[str]:
    """The problems that a verb which stopped printed."""
    found = _opened(printed)
    assert found["data"] is None
    problems: list[str] = found["problems"]
    return problems


def _opened(printed: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed, parse_constant=_refuse)
    _validator(found["command"]).validate(found)
    return found


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON; other languages' parsers refuse it")


@functools.cache
def _validator(command: str) -> jsonschema_rs.Draft202012Validator:
    path = dict(stated_schemas())[command]
    return jsonschema_rs.Draft202012Validator(_closed(envelope_schema(command, path)))


def _closed(schema: Any) -> Any:
    """The schema without room for keys that it does not tell; programs may be told more by a later version."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {key: value if key == "allOf" else _closed(value) for key, value in schema.items()}
    return {"unevaluatedProperties": False, **whole} if schema.keys() & {"properties", "allOf"} else whole
