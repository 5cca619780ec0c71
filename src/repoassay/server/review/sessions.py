"""Who is logged in: an invitation exchanged for a cookie, of which only a digest is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.review import Rater, RaterRole, raters, sessions

__all__ = ["OWNER_SECONDS", "RATER_SECONDS", "Viewer", "csrf_of", "end_session", "end_sessions_of", "start_session",
           "viewer_of"]  # fmt: skip

RATER_SECONDS = 7 * 86400.0
"""How long a rater stays logged in."""
OWNER_SECONDS = 12 * 3600.0
"""How long leads, admins and the owner do: they can see what raters must not."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks. `rater` is None for the owner of the server, who may do everything; `csrf` must come with changes."""

    rater: Rater | None
    csrf: str

    @property
    def role(self) -> RaterRole:
        """What the viewer may do."""
        return RaterRole.ADMIN if self.rater is None else self.rater.role

    @property
    def id(self) -> str:
        """The name under which the log keeps what the viewer does."""
        return "owner" if self.rater is None else self.rater.id

    @property
    def name(self) -> str:
        """What to call the viewer."""
        return "owner" if self.rater is None else self.rater.name


def start_session(database: Database, rater: Rater | None, now: datetime) -> tuple[str, float]:
    """Begin a session; sessions that have ended are swept away.

    Returns:
        The cookie's secret, which is kept nowhere, and for how many seconds it is good.
    """
    secret = secrets.token_urlsafe(32)
    lasts = RATER_SECONDS if rater is not None and rater.role is RaterRole.RATER else OWNER_SECONDS
    moment = now.timestamp()
    row = {"token": _digest(secret), "rater": rater.id if rater else None, "created": moment, "expires": moment + lasts}

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.delete(sessions).where(sessions.c.expires <= moment))
        connection.execute(sa.insert(sessions), row)

    database.write(work)
    return secret, lasts


def viewer_of(database: Database, secret: str, now: datetime) -> Viewer | None:
    """Return whose session a cookie is; None where it is unknown or over, or its rater was disabled."""
    if not 20 <= len(secret) <= 100:
        return None
    query = (
        sa.select(sessions.c.expires, sessions.c.rater.label("whose"), raters)
        .outerjoin(raters, raters.c.id == sessions.c.rater)
        .where(sessions.c.token == _digest(secret), sessions.c.expires > now.timestamp())
    )
    with database.reading() as connection:
        row = connection.execute(query).first()
    if row is None:
        return None
    if row.whose is None:
        return Viewer(None, csrf_of(secret))
    if not row.active:
        return None
    return Viewer(Rater(row.id, row.study, row.number, row.name, RaterRole(row.role), True), csrf_of(secret))


def end_session(database: Database, secret: str) -> None:
    """End one session."""
    database.write(
        lambda connection: connection.execute(sa.delete(sessions).where(sessions.c.token == _digest(secret)))
    )


def end_sessions_of(database: Database, rater: str) -> None:
    """End every session of a rater."""
    database.write(lambda connection: connection.execute(sa.delete(sessions).where(sessions.c.rater == rater)))


def csrf_of(secret: str) -> str:
    """What a page of this session sends with every change; another site can neither read nor guess it."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
