-- Instants are microseconds since 1970 in UTC; NULL is "never". SQL here is common to SQLite and PostgreSQL where that is free.

-- +goose Up
CREATE TABLE repositories (
    id           INTEGER PRIMARY KEY,
    github_id    BIGINT  NOT NULL,           -- 0: not known yet
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    installation BIGINT  NOT NULL,
    forgotten    INTEGER NOT NULL DEFAULT 0, -- 1: gone from our sight; its history stays
    due          BIGINT,
    noted        BIGINT  NOT NULL DEFAULT 0, -- counts notes that void an observation
    looked       BIGINT
);
CREATE UNIQUE INDEX repositories_github_id ON repositories (github_id) WHERE github_id <> 0;
-- GitHub's names are one whatever their case. A name may have belonged to a repository that is gone.
CREATE UNIQUE INDEX repositories_name ON repositories (lower(owner), lower(name)) WHERE forgotten = 0;

-- Apart from repositories: a plan may be long, and a note must not rewrite it.
CREATE TABLE plans (
    repo     INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    body     TEXT NOT NULL  -- JSON
);

CREATE TABLE deliveries (
    guid   TEXT PRIMARY KEY,
    repo   INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
    event  TEXT   NOT NULL,
    action TEXT   NOT NULL,
    sender TEXT   NOT NULL,
    at     BIGINT NOT NULL
);
CREATE INDEX deliveries_at ON deliveries (at);
CREATE INDEX deliveries_repo ON deliveries (repo);

CREATE TABLE merge_groups (
    repo INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    head TEXT    NOT NULL,
    base TEXT    NOT NULL,
    base_sha TEXT NOT NULL,
    at   BIGINT  NOT NULL,
    PRIMARY KEY (repo, head)
);

CREATE TABLE lists (
    repo       INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    merge_base TEXT    NOT NULL,
    head       TEXT    NOT NULL,
    files      TEXT    NOT NULL, -- JSON
    seq        BIGINT  NOT NULL, -- grows with each list of the repository
    PRIMARY KEY (repo, merge_base, head)
);
CREATE INDEX lists_seq ON lists (repo, seq);

CREATE TABLE refusals (
    repo   INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    pull   BIGINT  NOT NULL,
    head   TEXT    NOT NULL,
    tip    TEXT    NOT NULL,
    at     BIGINT  NOT NULL,
    count  BIGINT  NOT NULL,
    reason TEXT    NOT NULL,
    PRIMARY KEY (repo, pull, head, tip)
);

CREATE TABLE repairs (
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha     TEXT    NOT NULL,
    context TEXT    NOT NULL,
    login   TEXT    NOT NULL,
    at      BIGINT  NOT NULL
);
CREATE INDEX repairs_at ON repairs (repo, at);

CREATE TABLE heads (
    repo  INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha   TEXT    NOT NULL,
    first BIGINT  NOT NULL,
    last  BIGINT  NOT NULL,
    PRIMARY KEY (repo, sha)
);

CREATE TABLE merges (
    repo     INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    pull     BIGINT  NOT NULL,
    base     TEXT    NOT NULL,
    sha      TEXT    NOT NULL,
    at       BIGINT  NOT NULL,
    releases TEXT    NOT NULL, -- JSON
    windowed INTEGER NOT NULL, -- 1: some release is not live
    PRIMARY KEY (repo, pull, sha)
);
CREATE INDEX merges_at ON merges (repo, at);

CREATE TABLE acts (
    id      INTEGER PRIMARY KEY,
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    at      BIGINT  NOT NULL,
    verb    TEXT    NOT NULL,
    pull    BIGINT  NOT NULL,
    sha     TEXT    NOT NULL,
    reason  TEXT    NOT NULL,
    outcome TEXT    NOT NULL
);
CREATE INDEX acts_latest ON acts (repo, id);
CREATE INDEX acts_at ON acts (at);

-- +goose Down
DROP TABLE acts;
DROP TABLE merges;
DROP TABLE heads;
DROP TABLE repairs;
DROP TABLE refusals;
DROP TABLE lists;
DROP TABLE merge_groups;
DROP TABLE deliveries;
DROP TABLE plans;
DROP TABLE repositories;
