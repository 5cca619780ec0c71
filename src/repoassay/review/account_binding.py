"""Raters bound to accounts of an identity provider, and logins that wait for its answer.

An invitation says who was meant, the provider who came. The first account that comes with an invitation is the rater's
from then on: another one is refused, and one account cannot be two raters of a study.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, stamp
from repoassay.review.rater_accounts import Rater, use_invitation_of
from repoassay.review.tables import accounts, logins

__all__ = ["PendingLogin", "begin_login", "bind_account", "bound_raters", "refuse_login", "take_login"]

_SECONDS = 600.0
"""How long somebody may take at the provider."""


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login that waits. `state` and `nonce` go to the provider, `browser` into a cookie; `verifier` is of PKCE."""

    rater: str
    state: str
    browser: str
    nonce: str
    verifier: str


def begin_login(database: Database, rater: Rater, now: datetime) -> PendingLogin:
    """Keep what the provider's answer will be held against; of state and browser only digests are kept."""
    pending = PendingLogin(
        rater.id, secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(32),
        secrets.token_urlsafe(48),
    )  # fmt: skip
    moment = now.timestamp()
    row = {
        "state": _digest(pending.state), "rater": rater.id, "browser": _digest(pending.browser), "nonce": pending.nonce,
        "verifier": pending.verifier, "expires": moment + _SECONDS,
    }  # fmt: skip

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.delete(logins).where(logins.c.expires <= moment))
        connection.execute(sa.insert(logins), row)

    database.write(work)
    return pending


def take_login(database: Database, state: str, browser: str, now: datetime) -> PendingLogin | None:
    """Return the login that a state and a browser's secret belong to, which is gone then: no state is good twice.

    A state that comes in another browser is gone too, since whoever sent it knows it.
    """
    same = logins.c.state == _digest(state)

    def work(connection: sa.Connection) -> PendingLogin | None:
        row = connection.execute(sa.select(logins).where(same, logins.c.expires > now.timestamp())).first()
        if not connection.execute(sa.delete(logins).where(same)).rowcount or row is None:
            return None
        if not secrets.compare_digest(row.browser, _digest(browser)):
            return None
        return PendingLogin(row.rater, state, browser, row.nonce, row.verifier)

    return database.write(work)


def bind_account(database: Database, rater: str, issuer: str, subject: str, now: datetime) -> Rater:
    """Let a rater in by an account, and use up an invitation that is good once; the first account is bound.

    Args:
        database: Where.
        rater: The name of the rater who was invited.
        issuer: The provider.
        subject: The account's lasting name there.
        now: The clock.

    Raises:
        BadInput: When the invitation is over or used, the rater is bound to another account, or another rater of the
            study is bound to this one.
    """

    def work(connection: sa.Connection) -> Rater:
        found = use_invitation_of(connection, rater, now)
        if found is None:
            raise BadInput(
                "This invitation has ended, was used or was withdrawn.", "Ask whoever sent it for a new one."
            )
        mine = connection.execute(sa.select(accounts).where(accounts.c.rater == rater)).first()
        if mine is not None and (mine.issuer, mine.subject) != (issuer, subject):
            raise BadInput(
                "This invitation belongs to another account.", "Log in with the account used the first time."
            )
        same = sa.and_(
            accounts.c.study == found.study, accounts.c.issuer == issuer, accounts.c.subject == subject,
            accounts.c.rater != rater,
        )  # fmt: skip
        if connection.execute(sa.select(accounts.c.rater).where(same)).first() is not None:
            raise BadInput("This account is another rater of this study already.", "Use the invitation of that rater.")
        if mine is None:
            row = {"rater": rater, "study": found.study, "issuer": issuer, "subject": subject, "bound": stamp(now)}
            connection.execute(sa.insert(accounts), row)
            append(connection, found.study, now, "account_bound", rater, issuer=issuer)
        return found

    try:
        return database.write(work)
    except sa.exc.IntegrityError:
        # Two logins at once: the other one was first.
        raise BadInput("This account or invitation was bound at this moment.", "Log in once more.") from None


def refuse_login(database: Database, rater: Rater, reason: str, now: datetime) -> None:
    """Put into the log that somebody who held a rater's invitation was not let in, and why."""
    database.write(
        lambda connection: append(connection, rater.study, now, "login_refused", rater.id, reason=reason[:500])
    )


def bound_raters(database: Database, study: str) -> frozenset[str]:
    """Return the names of the raters that are bound to accounts."""
    with database.reading() as connection:
        return frozenset(connection.scalars(sa.select(accounts.c.rater).where(accounts.c.study == study)))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
