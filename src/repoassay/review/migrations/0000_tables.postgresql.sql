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
    number SERIAL NOT NULL,
    study VARCHAR(64) NOT NULL,
    at VARCHAR(40) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    actor VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    details TEXT NOT NULL,
    PRIMARY KEY (number)
);

CREATE INDEX review_events_of_study ON review_events (study, number);

CREATE FUNCTION review_events_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_events is append-only'; END $$; CREATE TRIGGER review_events_no_update BEFORE UPDATE ON review_events FOR EACH ROW EXECUTE FUNCTION review_events_no_update();

CREATE FUNCTION review_events_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_events is append-only'; END $$; CREATE TRIGGER review_events_no_delete BEFORE DELETE ON review_events FOR EACH ROW EXECUTE FUNCTION review_events_no_delete();

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
    number SERIAL NOT NULL,
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    axis VARCHAR(64) NOT NULL,
    adjudication TEXT NOT NULL,
    PRIMARY KEY (number),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE FUNCTION review_adjudications_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_adjudications is append-only'; END $$; CREATE TRIGGER review_adjudications_no_update BEFORE UPDATE ON review_adjudications FOR EACH ROW EXECUTE FUNCTION review_adjudications_no_update();

CREATE FUNCTION review_adjudications_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_adjudications is append-only'; END $$; CREATE TRIGGER review_adjudications_no_delete BEFORE DELETE ON review_adjudications FOR EACH ROW EXECUTE FUNCTION review_adjudications_no_delete();

CREATE TABLE review_assignments (
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    position INTEGER NOT NULL,
    submitted BOOLEAN NOT NULL,
    lease_until DOUBLE PRECISION,
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
    key VARCHAR(200) NOT NULL,
    rating TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (study, item, rater, version),
    UNIQUE (rater, key),
    FOREIGN KEY(study) REFERENCES review_studies (name),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE FUNCTION review_ratings_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_ratings is append-only'; END $$; CREATE TRIGGER review_ratings_no_update BEFORE UPDATE ON review_ratings FOR EACH ROW EXECUTE FUNCTION review_ratings_no_update();

CREATE FUNCTION review_ratings_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_ratings is append-only'; END $$; CREATE TRIGGER review_ratings_no_delete BEFORE DELETE ON review_ratings FOR EACH ROW EXECUTE FUNCTION review_ratings_no_delete();

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

CREATE FUNCTION review_judges_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_judges is append-only'; END $$; CREATE TRIGGER review_judges_no_update BEFORE UPDATE ON review_judges FOR EACH ROW EXECUTE FUNCTION review_judges_no_update();

CREATE FUNCTION review_judges_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_judges is append-only'; END $$; CREATE TRIGGER review_judges_no_delete BEFORE DELETE ON review_judges FOR EACH ROW EXECUTE FUNCTION review_judges_no_delete();

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

CREATE FUNCTION review_judgements_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_judgements is append-only'; END $$; CREATE TRIGGER review_judgements_no_update BEFORE UPDATE ON review_judgements FOR EACH ROW EXECUTE FUNCTION review_judgements_no_update();

CREATE FUNCTION review_judgements_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_judgements is append-only'; END $$; CREATE TRIGGER review_judgements_no_delete BEFORE DELETE ON review_judgements FOR EACH ROW EXECUTE FUNCTION review_judgements_no_delete();

CREATE TABLE review_sessions (
    token VARCHAR(64) NOT NULL,
    rater VARCHAR(64),
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (token),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);
