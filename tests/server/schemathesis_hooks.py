"""Schemathesis's hooks, loaded by its command line: most submissions name a task that exists, and nobody waits long."""

from __future__ import annotations

import contextlib
from typing import Any

import schemathesis


@schemathesis.hook
def map_body(context: schemathesis.HookContext, body: Any) -> Any:
    for each in body if isinstance(body, list) else [body]:
        if isinstance(each, dict) and isinstance(each.get("id"), str) and len(each["id"]) % 4:
            each["id"] = "edit-ledger-monthly"
    return body


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    with contextlib.suppress(KeyError, TypeError, ValueError):
        if 0 <= float(case.query["wait"]) <= 3600:
            case.query["wait"] = 0.01
