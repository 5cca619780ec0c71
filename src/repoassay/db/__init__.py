"""SQLite and PostgreSQL through SQLAlchemy Core: connections, transactions, numbered migrations.

Knows no tables: whoever keeps something declares its tables and brings a `Schema`, a folder of migrations. Needs
SQLAlchemy, which the extras `serve` and `review` bring; PostgreSQL needs the extra `postgres` too. Every failure is
one sentence: `BadInput` for a place that cannot be opened or is of another version, `Unavailable` for what stops to
answer.
"""

from repoassay.errors import MissingExtra  # written by hand: one check of the extra for every file of the room

try:
    import sqlalchemy as _sqlalchemy  # noqa: F401 - said here, once, for every file of the room
except ImportError as _missing:
    raise MissingExtra("sqlalchemy", "review") from _missing

from repoassay.db.connect import connect_database
from repoassay.db.database import Database, epoch_now
from repoassay.db.migrations import Schema, migrate

__all__ = ["Database", "Schema", "connect_database", "epoch_now", "migrate"]
