"""SQLite and PostgreSQL through SQLAlchemy Core: connections, transactions, numbered migrations.

Knows no tables: whoever keeps something declares its tables and brings a `Schema`, a folder of migrations. Needs
SQLAlchemy, which the extra `serve` brings; PostgreSQL needs the extra `postgres` too. Which extra is lacking the faces
of the rooms above say. Every failure is one sentence: `BadInput` for a place that cannot be opened or is of another
version, `Unavailable` for what stops to answer.
"""

from repoassay.db.connect import connect_database
from repoassay.db.database import Database, epoch_now
from repoassay.db.migrations import Schema, migrate

__all__ = ["Database", "Schema", "connect_database", "epoch_now", "migrate"]
