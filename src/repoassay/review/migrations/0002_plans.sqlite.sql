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

CREATE TRIGGER review_plans_frozen BEFORE UPDATE ON review_plans WHEN OLD.frozen IS NOT NULL BEGIN SELECT RAISE(ABORT, 'a frozen plan does not change'); END;

CREATE TRIGGER review_plans_no_delete BEFORE DELETE ON review_plans BEGIN SELECT RAISE(ABORT, 'review_plans is append-only'); END;

CREATE TABLE review_amendments (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    study VARCHAR(64) NOT NULL,
    at VARCHAR(40) NOT NULL,
    author TEXT NOT NULL,
    change TEXT NOT NULL,
    reason TEXT NOT NULL,
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE TRIGGER review_amendments_no_update BEFORE UPDATE ON review_amendments BEGIN SELECT RAISE(ABORT, 'review_amendments is append-only'); END;

CREATE TRIGGER review_amendments_no_delete BEFORE DELETE ON review_amendments BEGIN SELECT RAISE(ABORT, 'review_amendments is append-only'); END;

CREATE TABLE review_inclusions (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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

CREATE TRIGGER review_inclusions_no_update BEFORE UPDATE ON review_inclusions BEGIN SELECT RAISE(ABORT, 'review_inclusions is append-only'); END;

CREATE TRIGGER review_inclusions_no_delete BEFORE DELETE ON review_inclusions BEGIN SELECT RAISE(ABORT, 'review_inclusions is append-only'); END;
