-- Which account at an identity provider a rater is; logins that wait for the provider's answer.
CREATE TABLE review_accounts (
    rater VARCHAR(64) NOT NULL,
    study VARCHAR(64) NOT NULL,
    issuer VARCHAR(500) NOT NULL,
    subject VARCHAR(255) NOT NULL,
    bound VARCHAR(40) NOT NULL,
    PRIMARY KEY (rater),
    UNIQUE (study, issuer, subject),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);

CREATE TABLE review_logins (
    state VARCHAR(64) NOT NULL,
    rater VARCHAR(64) NOT NULL,
    browser VARCHAR(64) NOT NULL,
    nonce VARCHAR(64) NOT NULL,
    verifier VARCHAR(128) NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (state),
    FOREIGN KEY(rater) REFERENCES review_raters (id)
);
