"""Databases that version 0.1 wrote: copies to open, and their rows as plain drivers see them."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

__all__ = ["restored", "rows_of"]

_ASSETS = Path(__file__).with_name("assets") / "db"


def restored(name: str, place: str) -> None:
    """Put a recorded database, `review` or `queue`, where nothing is yet: a path of SQLite or a URL of PostgreSQL."""
    if "://" not in place:
        Path(place).write_bytes(gzip.decompress((_ASSETS / f"{name}-0.1.sqlite.gz").read_bytes()))
        return
    import psycopg

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(gzip.decompress((_ASSETS / f"{name}-0.1.postgresql.sql.gz").read_bytes()))


def rows_of(place: str, prefix: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table whose name begins so, in order, by table; but for the table of versions."""
    if "://" not in place:
        with closing(sqlite3.connect(place)) as connection:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            tables = [row[0] for row in connection.execute(names) if row[0].startswith(prefix)]
            return {
                name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
                for name in tables if not name.endswith("_schema")
            }  # fmt: skip
    import psycopg

    with psycopg.connect(place) as server:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
        tables = [row[0] for row in server.execute(names) if row[0].startswith(prefix)]
        return {
            name: sorted(server.execute(f"SELECT * FROM {name}".encode()).fetchall(), key=repr)
            for name in tables if not name.endswith("_schema")
        }  # fmt: skip
