"""The tables of the review database as statements know them; the files of `migrations` make them.

Ratings, judges, judgements, adjudications and events refuse to be changed, by trigger.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = [
    "accounts", "adjudications", "amendments", "assignments", "comments", "drafts", "events", "inclusions",
    "invitations", "item_uses", "items", "logins", "metadata", "plans", "postings", "raters", "ratings", "sessions",
    "studies",
]  # fmt: skip

metadata = MetaData()
_NAME = String(64)
# Times are ISO 8601 in UTC, written by us, so that both databases sort and keep them alike; leases end at seconds
# since 1970. Values with a shape of their own are JSON text, checked by pydantic on the way out.
_TIME = String(40)

studies = Table(
    "review_studies",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("settings", Text, nullable=False),
    Column("rubric", Text, nullable=False),
    Column("created", _TIME, nullable=False),
    Column("closed", _TIME),
)

items = Table(
    "review_items",
    metadata,
    Column("study", _NAME, ForeignKey(studies.c.name), primary_key=True),
    Column("id", _NAME, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("system", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("hidden", Text, nullable=False),
)

# Items that prepare raters instead of being counted: no row for those that are counted. `reference` is JSON.
item_uses = Table(
    "review_item_uses",
    metadata,
    Column("study", _NAME, ForeignKey(studies.c.name), primary_key=True),
    Column("item", _NAME, primary_key=True),
    Column("use", String(16), nullable=False),
    Column("reference", Text, nullable=False),
)

# What a study set out to do, as the very text its digest is of. It may change until `frozen` holds a time.
plans = Table(
    "review_plans",
    metadata,
    Column("study", _NAME, ForeignKey(studies.c.name), primary_key=True),
    Column("plan", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("saved", _TIME, nullable=False),
    Column("frozen", _TIME),
)

amendments = Table(
    "review_amendments",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("at", _TIME, nullable=False),
    Column("author", Text, nullable=False),
    Column("change", Text, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_autoincrement=True,
)

# Every attempt that could have been reviewed; the last line of an attempt or item holds.
inclusions = Table(
    "review_inclusions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("at", _TIME, nullable=False),
    Column("actor", _NAME, nullable=False),
    Column("attempt", Text, nullable=False),
    Column("item", _NAME, nullable=False),
    Column("task", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("included", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_autoincrement=True,
)

raters = Table(
    "review_raters",
    metadata,
    Column("id", _NAME, primary_key=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("token", String(64), nullable=False, unique=True),
    Column("created", _TIME, nullable=False),
    Column("active", Boolean, nullable=False),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "name"),
)

# Links that end at a time (seconds since 1970) or when they are used; others have no row.
invitations = Table(
    "review_invitations",
    metadata,
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("expires", Double),
    Column("single_use", Boolean, nullable=False),
    Column("used", _TIME),
)

# The account at an identity provider that a rater is, where the application asks one (OpenID Connect).
accounts = Table(
    "review_accounts",
    metadata,
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("study", _NAME, nullable=False),
    Column("issuer", String(500), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("bound", _TIME, nullable=False),
    # One account cannot be two raters, whose answers would then count as two.
    UniqueConstraint("study", "issuer", "subject"),
)

# Logins that wait for the provider: digests of the state and of the browser's secret, each good once.
logins = Table(
    "review_logins",
    metadata,
    Column("state", String(64), primary_key=True),
    Column("rater", _NAME, ForeignKey(raters.c.id), nullable=False),
    Column("browser", String(64), nullable=False),
    Column("nonce", String(64), nullable=False),
    Column("verifier", String(128), nullable=False),
    Column("expires", Double, nullable=False),
)

assignments = Table(
    "review_assignments",
    metadata,
    Column("study", _NAME, ForeignKey(studies.c.name), primary_key=True),
    Column("item", _NAME, primary_key=True),
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("submitted", Boolean, nullable=False),
    Column("lease_until", Double),
    Column("opened", _TIME),
)
Index("review_assignments_of_rater", assignments.c.rater, assignments.c.position)

drafts = Table(
    "review_drafts",
    metadata,
    Column("study", _NAME, primary_key=True),
    Column("item", _NAME, primary_key=True),
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("phase", String(16), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("answers", Text, nullable=False),
    Column("saved", _TIME, nullable=False),
)

ratings = Table(
    "review_ratings",
    metadata,
    Column("id", _NAME, primary_key=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("item", _NAME, nullable=False),
    Column("rater", _NAME, ForeignKey(raters.c.id), nullable=False),
    Column("phase", String(16), nullable=False),
    Column("version", Integer, nullable=False),
    Column("key", String(200), nullable=False),
    Column("rating", Text, nullable=False),
    # One version follows another: two submissions at once cannot both be the first.
    UniqueConstraint("study", "item", "rater", "version"),
    UniqueConstraint("rater", "key"),
)

comments = Table(
    "review_comments",
    metadata,
    Column("id", _NAME, primary_key=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("item", _NAME, nullable=False),
    Column("rater", _NAME, ForeignKey(raters.c.id), nullable=False),
    Column("axis", _NAME),
    Column("anchor", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created", _TIME, nullable=False),
    Column("removed", _TIME),
)
Index("review_comments_of_item", comments.c.study, comments.c.item)

adjudications = Table(
    "review_adjudications",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("item", _NAME, nullable=False),
    Column("axis", _NAME, nullable=False),
    Column("adjudication", Text, nullable=False),
    sqlite_autoincrement=True,
)

# A judge is a rater with a version; each of its samples is kept, also those that were void.
judges = Table(
    "review_judges",
    metadata,
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("study", _NAME, ForeignKey(studies.c.name), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("definition", Text, nullable=False),
    UniqueConstraint("study", "digest"),
)

judgements = Table(
    "review_judgements",
    metadata,
    Column("rater", _NAME, ForeignKey(raters.c.id), primary_key=True),
    Column("phase", String(16), primary_key=True),
    Column("item", _NAME, primary_key=True),
    Column("axis", _NAME, primary_key=True),
    Column("sample", Integer, primary_key=True),
    Column("judgement", Text, nullable=False),
)

# Requests to a forge by digest; `posted` is empty from before a request was sent until the forge had answered.
postings = Table(
    "review_postings",
    metadata,
    Column("study", _NAME, ForeignKey(studies.c.name), primary_key=True),
    Column("item", _NAME, primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("begun", _TIME, nullable=False),
    Column("posted", _TIME),
)

events = Table(
    "review_events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", _NAME, nullable=False),
    Column("at", _TIME, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("actor", _NAME, nullable=False),
    Column("item", _NAME, nullable=False),
    Column("details", Text, nullable=False),
    sqlite_autoincrement=True,
)
Index("review_events_of_study", events.c.study, events.c.number)
Index("review_events_of_kind", events.c.study, events.c.kind)

# Who is logged in to the application: a digest of the cookie's secret. Without a rater it is the owner of the server.
sessions = Table(
    "review_sessions",
    metadata,
    Column("token", String(64), primary_key=True),
    Column("rater", _NAME, ForeignKey(raters.c.id)),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
)
