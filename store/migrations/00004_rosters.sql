-- +goose Up

-- Which branches are windowed, by the default branch's file as it could last be read.
CREATE TABLE rosters (
    repo    INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    file    TEXT NOT NULL, -- its blob
    entries TEXT NOT NULL  -- JSON
);

-- +goose Down
DROP TABLE rosters;
