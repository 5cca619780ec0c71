-- The plan of a study, frozen before its first rating; its dated amendments; which attempts are in the study, and why.
CREATE TABLE review_plans (
    study VARCHAR(64) NOT NULL,
    plan TEXT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    saved VARCHAR(40) NOT NULL,
    frozen VARCHAR(40),
    PRIMARY KEY (study),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE FUNCTION review_plans_frozen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a frozen plan does not change'; END $$; CREATE TRIGGER review_plans_frozen BEFORE UPDATE ON review_plans FOR EACH ROW WHEN (OLD.frozen IS NOT NULL) EXECUTE FUNCTION review_plans_frozen();

CREATE FUNCTION review_plans_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_plans is append-only'; END $$; CREATE TRIGGER review_plans_no_delete BEFORE DELETE ON review_plans FOR EACH ROW EXECUTE FUNCTION review_plans_no_delete();

CREATE TABLE review_amendments (
    number SERIAL NOT NULL PRIMARY KEY,
    study VARCHAR(64) NOT NULL,
    at VARCHAR(40) NOT NULL,
    author TEXT NOT NULL,
    change TEXT NOT NULL,
    reason TEXT NOT NULL,
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE FUNCTION review_amendments_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_amendments is append-only'; END $$; CREATE TRIGGER review_amendments_no_update BEFORE UPDATE ON review_amendments FOR EACH ROW EXECUTE FUNCTION review_amendments_no_update();

CREATE FUNCTION review_amendments_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_amendments is append-only'; END $$; CREATE TRIGGER review_amendments_no_delete BEFORE DELETE ON review_amendments FOR EACH ROW EXECUTE FUNCTION review_amendments_no_delete();

CREATE TABLE review_inclusions (
    number SERIAL NOT NULL PRIMARY KEY,
    study VARCHAR(64) NOT NULL,
    at VARCHAR(40) NOT NULL,
    actor VARCHAR(64) NOT NULL,
    attempt TEXT NOT NULL,
    item VARCHAR(64) NOT NULL,
    task TEXT NOT NULL,
    "system" TEXT NOT NULL,
    included BOOLEAN NOT NULL,
    reason TEXT NOT NULL,
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE FUNCTION review_inclusions_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_inclusions is append-only'; END $$; CREATE TRIGGER review_inclusions_no_update BEFORE UPDATE ON review_inclusions FOR EACH ROW EXECUTE FUNCTION review_inclusions_no_update();

CREATE FUNCTION review_inclusions_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'review_inclusions is append-only'; END $$; CREATE TRIGGER review_inclusions_no_delete BEFORE DELETE ON review_inclusions FOR EACH ROW EXECUTE FUNCTION review_inclusions_no_delete();
