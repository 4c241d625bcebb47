-- +goose Up

-- Successes of ours that stand, or may stand, on a commit: what takes their place, and when.
CREATE TABLE debts (
    number      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: a payment ends the debt that it was for, and no later one
    repo        INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha         TEXT    NOT NULL,
    context     TEXT    NOT NULL,
    purpose     TEXT    NOT NULL,
    pull        BIGINT  NOT NULL, -- 0: about no pull request
    base        TEXT    NOT NULL, -- of the pull request or group; the windowed branch
    file        TEXT    NOT NULL, -- the blob of the file by which the success was given
    state       TEXT    NOT NULL,
    description TEXT    NOT NULL,
    ends        BIGINT,           -- NULL: no instant ends it
    cutoff      BIGINT  NOT NULL, -- microseconds
    at          BIGINT  NOT NULL, -- when it was recorded
    tries       BIGINT  NOT NULL DEFAULT 0, -- to pay it that failed
    reason      TEXT    NOT NULL DEFAULT '' -- why the last one did
);
CREATE UNIQUE INDEX debts_place ON debts (repo, sha, context);
CREATE INDEX debts_at ON debts (at);

-- How many statuses stand on a commit under a context of ours, whoever set them: GitHub takes a thousand.
CREATE TABLE tallies (
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha     TEXT    NOT NULL,
    context TEXT    NOT NULL,
    count   BIGINT  NOT NULL,
    at      BIGINT  NOT NULL,
    PRIMARY KEY (repo, sha, context)
);
CREATE INDEX tallies_at ON tallies (repo, at);

-- What became of a merge group: '' while it waits, else the reason for which GitHub dissolved it.
ALTER TABLE merge_groups ADD COLUMN ended TEXT NOT NULL DEFAULT '';

-- 1: our successes on pull requests that were closed before this table was there are known.
ALTER TABLE repositories ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE repositories DROP COLUMN swept;
ALTER TABLE merge_groups DROP COLUMN ended;
DROP TABLE tallies;
DROP TABLE debts;
