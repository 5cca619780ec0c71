-- The tables as version 0.1 made them.
CREATE TABLE review_studies (
    name VARCHAR(64) NOT NULL,
    settings TEXT NOT NULL,
    rubric TEXT NOT NULL,
    created VARCHAR(40) NOT NULL,
    closed VARCHAR(40),
    PRIMARY KEY (name)
);

CREATE TABLE review_events (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    study VARCHAR(64) NOT NULL,
    at VARCHAR(40) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    actor VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    details TEXT NOT NULL
);

CREATE INDEX review_events_of_study ON review_events (study, number);

CREATE TRIGGER review_events_no_update BEFORE UPDATE ON review_events BEGIN SELECT RAISE(ABORT, 'review_events is append-only'); END;

CREATE TRIGGER review_events_no_delete BEFORE DELETE ON review_events BEGIN SELECT RAISE(ABORT, 'review_events is append-only'); END;

CREATE TABLE review_items (
    study VARCHAR(64) NOT NULL,
    id VARCHAR(64) NOT NULL,
    number INTEGER NOT NULL,
    system TEXT NOT NULL,
    payload TEXT NOT NULL,
    hidden TEXT NOT NULL,
    PRIMARY KEY (study, id),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE TABLE review_raters (
    id VARCHAR(64) NOT NULL,
    study VARCHAR(64) NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    role VARCHAR(16) NOT NULL,
    token VARCHAR(64) NOT NULL,
    created VARCHAR(40) NOT NULL,
    active BOOLEAN NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (study, number),
    UNIQUE (study, name),
    FOREIGN KEY(study) REFERENCES review_studies (name),
    UNIQUE (token)
);

CREATE TABLE review_adjudications (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    axis VARCHAR(64) NOT NULL,
    adjudication TEXT NOT NULL,
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE TRIGGER review_adjudications_no_update BEFORE UPDATE ON review_adjudications BEGIN SELECT RAISE(ABORT, 'review_adjudications is append-only'); END;

CREATE TRIGGER review_adjudications_no_delete BEFORE DELETE ON review_adjudications BEGIN SELECT RAISE(ABORT, 'review_adjudications is append-only'); END;

CREATE TABLE review_assignments (
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    position INTEGER NOT NULL,
    submitted BOOLEAN NOT NULL,
    lease_until DOUBLE,
    opened VARCHAR(40),
    PRIMARY KEY (study, item, rater),
    FOREIGN KEY(study) REFERENCES review_studies (name),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE INDEX review_assignments_of_rater ON review_assignments (rater, position);

CREATE TABLE review_drafts (
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    phase VARCHAR(16) NOT NULL,
    version INTEGER NOT NULL,
    answers TEXT NOT NULL,
    saved VARCHAR(40) NOT NULL,
    PRIMARY KEY (study, item, rater, phase),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE TABLE review_ratings (
    id VARCHAR(64) NOT NULL,
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    phase VARCHAR(16) NOT NULL,
    version INTEGER NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    rating TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (study, item, rater, version),
    UNIQUE (rater, "key"),
    FOREIGN KEY(study) REFERENCES review_studies (name),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE TRIGGER review_ratings_no_update BEFORE UPDATE ON review_ratings BEGIN SELECT RAISE(ABORT, 'review_ratings is append-only'); END;

CREATE TRIGGER review_ratings_no_delete BEFORE DELETE ON review_ratings BEGIN SELECT RAISE(ABORT, 'review_ratings is append-only'); END;

CREATE TABLE review_comments (
    id VARCHAR(64) NOT NULL,
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    axis VARCHAR(64),
    anchor TEXT NOT NULL,
    text TEXT NOT NULL,
    created VARCHAR(40) NOT NULL,
    removed VARCHAR(40),
    PRIMARY KEY (id),
    FOREIGN KEY(study) REFERENCES review_studies (name),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE INDEX review_comments_of_item ON review_comments (study, item);

CREATE TABLE review_judges (
    rater VARCHAR(64) NOT NULL,
    study VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (rater),
    UNIQUE (study, digest),
    FOREIGN KEY(rater) REFERENCES review_raters (id),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE TRIGGER review_judges_no_update BEFORE UPDATE ON review_judges BEGIN SELECT RAISE(ABORT, 'review_judges is append-only'); END;

CREATE TRIGGER review_judges_no_delete BEFORE DELETE ON review_judges BEGIN SELECT RAISE(ABORT, 'review_judges is append-only'); END;

CREATE TABLE review_judgements (
    rater VARCHAR(64) NOT NULL,
    phase VARCHAR(16) NOT NULL,
    item VARCHAR(64) NOT NULL,
    axis VARCHAR(64) NOT NULL,
    sample INTEGER NOT NULL,
    judgement TEXT NOT NULL,
    PRIMARY KEY (rater, phase, item, axis, sample),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE TRIGGER review_judgements_no_update BEFORE UPDATE ON review_judgements BEGIN SELECT RAISE(ABORT, 'review_judgements is append-only'); END;

CREATE TRIGGER review_judgements_no_delete BEFORE DELETE ON review_judgements BEGIN SELECT RAISE(ABORT, 'review_judgements is append-only'); END;

CREATE TABLE review_sessions (
    token VARCHAR(64) NOT NULL,
    rater VARCHAR(64),
    created DOUBLE NOT NULL,
    expires DOUBLE NOT NULL,
    PRIMARY KEY (token),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);
