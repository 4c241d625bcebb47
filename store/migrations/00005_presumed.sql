-- +goose Up

-- Whether a move was refused together with others, and not asked for alone: so far the reason began with it.
ALTER TABLE stuck ADD COLUMN presumed BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE stuck SET presumed = TRUE, reason = substr(reason, 22) WHERE reason LIKE 'refused with others: %';

-- +goose Down
UPDATE stuck SET reason = 'refused with others: ' || reason WHERE presumed;
ALTER TABLE stuck DROP COLUMN presumed;
