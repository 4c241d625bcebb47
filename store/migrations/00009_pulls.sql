-- +goose Up

-- Since when a pull request has stood at its head and base. It was by head alone, which may be another pull request's too.
DROP TABLE heads;
CREATE TABLE pulls (
    repo  INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    pull  BIGINT  NOT NULL,
    head  TEXT    NOT NULL,
    base  TEXT    NOT NULL,
    first BIGINT  NOT NULL,
    last  BIGINT  NOT NULL,
    undone BIGINT NOT NULL DEFAULT 0, -- the number of the last comment that took back what was released there
    PRIMARY KEY (repo, pull)
);

-- +goose Down
DROP TABLE pulls;
CREATE TABLE heads (
    repo  INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha   TEXT    NOT NULL,
    first BIGINT  NOT NULL,
    last  BIGINT  NOT NULL,
    PRIMARY KEY (repo, sha)
);
