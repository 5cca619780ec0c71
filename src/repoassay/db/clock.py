"""The database's own clock, the same for every server that shares it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["epoch_now"]


class epoch_now(FunctionElement[float]):  # noqa: N801 - reads as an SQL function in statements
    """The time in seconds since 1970 when the statement runs, as an SQL expression."""

    type = sa.Double()
    inherit_cache = True


@compiles(epoch_now, "sqlite")
def _sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(epoch_now, "postgresql")
def _postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch FROM clock_timestamp())::float8"
