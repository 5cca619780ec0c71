-- What an item is used for beside being rated; how long an invitation is good.
CREATE TABLE review_item_uses (
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    use VARCHAR(16) NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (study, item),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);

CREATE TABLE review_invitations (
    rater VARCHAR(64) NOT NULL,
    expires DOUBLE,
    single_use BOOLEAN NOT NULL,
    used VARCHAR(40),
    PRIMARY KEY (rater),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE INDEX review_events_of_kind ON review_events (study, kind);
