"""SQLite and PostgreSQL through SQLAlchemy Core: connections, transactions, numbered migrations.

Knows no tables: whoever keeps something declares its tables and brings a `Schema`, a folder of migrations. Needs
SQLAlchemy, which the extra `serve` brings; PostgreSQL needs the extra `postgres` too. Every failure is one sentence:
`BadInput` for a place that cannot be opened or is of another version, `Unavailable` for what stops to answer.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.db.clock import epoch_now as epoch_now
    from repoassay.db.connect import connect_database as connect_database
    from repoassay.db.database import Database as Database
    from repoassay.db.migrations import Schema as Schema, migrate as migrate
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "clock": ("epoch_now",),
            "connect": ("connect_database",),
            "database": ("Database",),
            "migrations": ("Schema", "migrate"),
        },
    )
