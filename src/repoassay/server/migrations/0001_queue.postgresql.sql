-- The queue as its first version made it.
CREATE TABLE repoassay_schema (version INTEGER NOT NULL);

CREATE TABLE repoassay_submissions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ulid TEXT NOT NULL UNIQUE, holder TEXT NOT NULL, client_key TEXT,
    task TEXT NOT NULL, model TEXT NOT NULL, patch BYTEA NOT NULL, digest TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL, status TEXT NOT NULL DEFAULT 'queued', owner TEXT,
    lease DOUBLE PRECISION NOT NULL DEFAULT 0, ready DOUBLE PRECISION NOT NULL DEFAULT 0,
    claims INTEGER NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, UNIQUE (holder, client_key)
);

CREATE INDEX repoassay_waiting ON repoassay_submissions (number) WHERE status = 'queued';

CREATE INDEX repoassay_undone ON repoassay_submissions (status) WHERE status <> 'done';

CREATE INDEX repoassay_held ON repoassay_submissions (holder, number);

CREATE TABLE repoassay_verdicts (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ulid TEXT NOT NULL UNIQUE REFERENCES repoassay_submissions (ulid),
    holder TEXT NOT NULL, word TEXT NOT NULL, whose TEXT NOT NULL, feedback TEXT NOT NULL,
    verdict TEXT NOT NULL, finished DOUBLE PRECISION NOT NULL
);

CREATE INDEX repoassay_told ON repoassay_verdicts (holder, number);
