-- +goose Up

-- A list of files with the old names of renames costs a request once after each start: it is remembered in memory alone.
DROP TABLE lists;

-- +goose Down
CREATE TABLE lists (
    repo       INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    merge_base TEXT    NOT NULL,
    head       TEXT    NOT NULL,
    files      TEXT    NOT NULL,
    seq        BIGINT  NOT NULL,
    PRIMARY KEY (repo, merge_base, head)
);
CREATE INDEX lists_seq ON lists (repo, seq);
