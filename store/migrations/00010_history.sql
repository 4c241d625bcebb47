-- +goose Up

-- Who did it, since the history has what others do, too: sluice, Flux, an account after "@", or '' where nobody knows.
ALTER TABLE acts ADD COLUMN actor TEXT NOT NULL DEFAULT 'sluice';
-- What an act of others is a change of, and how that stands since: it is kept when that is another state than before.
ALTER TABLE acts ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE acts ADD COLUMN state TEXT NOT NULL DEFAULT '';
CREATE INDEX acts_about ON acts (repo, about, id) WHERE about <> '';
-- Acts are read in the order of time, in which those of others are not found. Strangers cause statuses, so these are counted apart.
DROP INDEX acts_latest;
CREATE INDEX acts_time ON acts (repo, at, id);
CREATE INDEX acts_status ON acts (repo, at, id) WHERE verb = 'status';
CREATE INDEX acts_shown ON acts (repo, at, id) WHERE verb <> 'status' OR outcome <> 'done';

-- +goose Down
DROP INDEX acts_shown;
DROP INDEX acts_status;
DROP INDEX acts_time;
DROP INDEX acts_about;
CREATE INDEX acts_latest ON acts (repo, id);
DELETE FROM acts WHERE actor <> 'sluice';
ALTER TABLE acts DROP COLUMN state;
ALTER TABLE acts DROP COLUMN about;
ALTER TABLE acts DROP COLUMN actor;
