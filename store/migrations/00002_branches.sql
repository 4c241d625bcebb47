-- +goose Up

-- Windowed branches: the value that was last seen of each, and our latest move of it.
CREATE TABLE branches (
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    name    TEXT    NOT NULL,
    sha     TEXT    NOT NULL,            -- the value last seen
    seen    BIGINT  NOT NULL,            -- when its entry last stood in the file, a day more or less
    old_sha TEXT    NOT NULL DEFAULT '', -- of our latest move
    new_sha TEXT    NOT NULL DEFAULT '', -- '': we never moved it
    moved   BIGINT,
    due     BIGINT,
    PRIMARY KEY (repo, name)
);
CREATE INDEX branches_seen ON branches (repo, seen);

-- Refused moves.
CREATE TABLE stuck (
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    branch  TEXT    NOT NULL,
    old_sha TEXT    NOT NULL,
    new_sha TEXT    NOT NULL,
    at      BIGINT  NOT NULL,
    count   BIGINT  NOT NULL,
    reason  TEXT    NOT NULL,
    PRIMARY KEY (repo, branch, old_sha, new_sha)
);
CREATE INDEX stuck_at ON stuck (at);

-- What Flux reported, the newest of each branch and object.
CREATE TABLE reports (
    repo   INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    branch TEXT    NOT NULL,
    object TEXT    NOT NULL,
    sha    TEXT    NOT NULL,
    state  INTEGER NOT NULL,
    says   TEXT    NOT NULL,
    at     BIGINT  NOT NULL, -- since when Flux says so
    heard  BIGINT  NOT NULL, -- when it last did, a day more or less
    PRIMARY KEY (repo, branch, object)
);
CREATE INDEX reports_heard ON reports (repo, heard);

ALTER TABLE acts ADD COLUMN branch TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE acts DROP COLUMN branch;
DROP TABLE reports;
DROP TABLE stuck;
DROP TABLE branches;
