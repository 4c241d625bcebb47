-- +goose Up

-- When time alone changes a repository's plan, and what a look at it costs: a start knows which openings to keep points for.
ALTER TABLE repositories ADD COLUMN wake BIGINT;
ALTER TABLE repositories ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE repositories DROP COLUMN wake;
ALTER TABLE repositories DROP COLUMN cost;
