-- Holders of tokens take turns: everybody who ever handed something in, and when their last turn was; the higher, the
-- later. There is a line for each of them instead of one for everybody.
CREATE TABLE repoassay_turns (holder TEXT PRIMARY KEY, turn BIGINT NOT NULL DEFAULT 0);

INSERT INTO repoassay_turns (holder) SELECT DISTINCT holder FROM repoassay_submissions;

DROP INDEX IF EXISTS repoassay_waiting;

CREATE INDEX IF NOT EXISTS repoassay_lines ON repoassay_submissions (holder, number) WHERE status = 'queued';

CREATE INDEX IF NOT EXISTS repoassay_under_way ON repoassay_submissions (holder) WHERE status = 'running';
