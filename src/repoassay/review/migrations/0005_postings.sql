-- Requests that were sent to a forge: begun before each, posted after it, so that none is sent twice.
CREATE TABLE review_postings (
    study VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    begun VARCHAR(40) NOT NULL,
    posted VARCHAR(40),
    PRIMARY KEY (study, item, digest),
    FOREIGN KEY(study) REFERENCES review_studies (name)
);
