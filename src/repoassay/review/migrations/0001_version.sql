-- From here on a review database says which version its tables are of.
CREATE TABLE review_schema (version INTEGER NOT NULL);

INSERT INTO review_schema (version) VALUES (1);
