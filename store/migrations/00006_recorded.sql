-- +goose Up

-- By GitHub's clock, until when all successes of ours are recorded: so far that was known once and for all.
ALTER TABLE repositories ADD COLUMN recorded BIGINT;
UPDATE repositories SET recorded = looked WHERE swept = 1;
ALTER TABLE repositories DROP COLUMN swept;

-- +goose Down
ALTER TABLE repositories ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;
UPDATE repositories SET swept = 1 WHERE recorded IS NOT NULL;
ALTER TABLE repositories DROP COLUMN recorded;
