-- A database as version 2 of the schema left it: written by the code from before debts were recorded, then dumped.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-22 03:04:11');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-22 03:04:11');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-22 03:04:11');
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
INSERT INTO repositories VALUES(1,7,'acme','fleet',70,0,1795435200000000,4,1795435680000000);
INSERT INTO repositories VALUES(2,8,'acme','retired',70,1,NULL,1,NULL);
CREATE TABLE plans (
    repo     INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    body     TEXT NOT NULL  -- JSON
);
INSERT INTO plans VALUES(1,'{"at":"2026-11-23T12:08:00Z","verdicts":[{"Subject":{"Pull":12,"Base":"main"},"SHA":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","Kind":"release","Reason":"open; merge it yourself","Until":"2026-11-23T15:00:00Z","Releases":["no-deploy-friday"],"Why":null},{"Subject":{"Pull":13,"Base":"main"},"SHA":"cccccccccccccccccccccccccccccccccccccccc","Kind":"held","Reason":"held by nights until Mon 23 Nov 2026 22:00 CET","Until":"0001-01-01T00:00:00Z","Releases":["nights"],"Why":null}],"planned":null,"warnings":["not enforced on main"],"wake":"2026-11-23T15:00:00Z","look":"0001-01-01T00:00:00Z"}');
CREATE TABLE deliveries (
    guid   TEXT PRIMARY KEY,
    repo   INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
    event  TEXT   NOT NULL,
    action TEXT   NOT NULL,
    sender TEXT   NOT NULL,
    at     BIGINT NOT NULL
);
INSERT INTO deliveries VALUES('7f2f1c00-c8aa-11f1-8d2b-000000000001',NULL,'push','','alice',1795435200000000);
INSERT INTO deliveries VALUES('7f2f1c00-c8aa-11f1-8d2b-000000000002',NULL,'pull_request','opened','alice',1795435260000000);
INSERT INTO deliveries VALUES('7f2f1c00-c8aa-11f1-8d2b-000000000003',NULL,'merge_group','checks_requested','alice',1795435320000000);
INSERT INTO deliveries VALUES('7f2f1c00-c8aa-11f1-8d2b-000000000004',NULL,'push','','bob',1795435200000000);
CREATE TABLE merge_groups (
    repo INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    head TEXT    NOT NULL,
    base TEXT    NOT NULL,
    base_sha TEXT NOT NULL,
    at   BIGINT  NOT NULL,
    PRIMARY KEY (repo, head)
);
INSERT INTO merge_groups VALUES(1,'9999999999999999999999999999999999999999','main','1111111111111111111111111111111111111111',1795435320000000);
CREATE TABLE lists (
    repo       INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    merge_base TEXT    NOT NULL,
    head       TEXT    NOT NULL,
    files      TEXT    NOT NULL, -- JSON
    seq        BIGINT  NOT NULL, -- grows with each list of the repository
    PRIMARY KEY (repo, merge_base, head)
);
INSERT INTO lists VALUES(1,'1111111111111111111111111111111111111111','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','[{"Path":"apps/web-rw/deploy.yaml","Old":"apps/web-rw/web.yaml","Kind":""}]',1);
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
INSERT INTO refusals VALUES(1,13,'cccccccccccccccccccccccccccccccccccccccc','dddddddddddddddddddddddddddddddddddddddd',1795435500000000,1,'Base branch was modified');
CREATE TABLE repairs (
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha     TEXT    NOT NULL,
    context TEXT    NOT NULL,
    login   TEXT    NOT NULL,
    at      BIGINT  NOT NULL
);
INSERT INTO repairs VALUES(1,'cccccccccccccccccccccccccccccccccccccccc','sluice/main','mallory',1795435560000000);
CREATE TABLE heads (
    repo  INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha   TEXT    NOT NULL,
    first BIGINT  NOT NULL,
    last  BIGINT  NOT NULL,
    PRIMARY KEY (repo, sha)
);
INSERT INTO heads VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1795435200000000,1795435200000000);
INSERT INTO heads VALUES(1,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1795435200000000,1795435200000000);
INSERT INTO heads VALUES(1,'cccccccccccccccccccccccccccccccccccccccc',1795435200000000,1795435200000000);
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
INSERT INTO merges VALUES(1,11,'main','dddddddddddddddddddddddddddddddddddddddd',1795435440000000,'["no-deploy-friday"]',1);
CREATE TABLE acts (
    id      INTEGER PRIMARY KEY,
    repo    INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    at      BIGINT  NOT NULL,
    verb    TEXT    NOT NULL,
    pull    BIGINT  NOT NULL,
    sha     TEXT    NOT NULL,
    reason  TEXT    NOT NULL,
    outcome TEXT    NOT NULL
, branch TEXT NOT NULL DEFAULT '');
INSERT INTO acts VALUES(1,1,1795435380000000,'set-status',12,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','success: open; merge it yourself','done','');
INSERT INTO acts VALUES(2,1,1795435440000000,'merge',11,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','released by no-deploy-friday','done','');
INSERT INTO acts VALUES(3,1,1795435500000000,'merge',13,'cccccccccccccccccccccccccccccccccccccccc','Base branch was modified','refused','');
INSERT INTO acts VALUES(4,1,1795435560000000,'set-status',13,'cccccccccccccccccccccccccccccccccccccccc','pending: it''s "held" — until Monday','done','');
INSERT INTO acts VALUES(5,1,1795435620000000,'move',0,'dddddddddddddddddddddddddddddddddddddddd','due','done','rw/cluster-1');
INSERT INTO acts VALUES(6,1,1795435620000000,'move',0,'dddddddddddddddddddddddddddddddddddddddd','protected branch','refused','rw/cluster-2');
INSERT INTO acts VALUES(7,2,1795435200000000,'set-status',3,'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee','success: 1 path has no rule','done','');
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
INSERT INTO branches VALUES(1,'rw/cluster-1','dddddddddddddddddddddddddddddddddddddddd',1795435620000000,'1111111111111111111111111111111111111111','dddddddddddddddddddddddddddddddddddddddd',1795435620000000,1795435200000000);
INSERT INTO branches VALUES(1,'rw/cluster-2','2222222222222222222222222222222222222222',1795435200000000,'','',NULL,NULL);
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
INSERT INTO stuck VALUES(1,'rw/cluster-2','2222222222222222222222222222222222222222','dddddddddddddddddddddddddddddddddddddddd',1795435620000000,1,'protected branch');
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
INSERT INTO reports VALUES(1,'rw/cluster-1','flux-system/apps-rw','1111111111111111111111111111111111111111',1,'Applied revision: rw/cluster-1',1795435200000000,1795435200000000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',3);
CREATE UNIQUE INDEX repositories_github_id ON repositories (github_id) WHERE github_id <> 0;
CREATE UNIQUE INDEX repositories_name ON repositories (lower(owner), lower(name)) WHERE forgotten = 0;
CREATE INDEX deliveries_at ON deliveries (at);
CREATE INDEX deliveries_repo ON deliveries (repo);
CREATE INDEX lists_seq ON lists (repo, seq);
CREATE INDEX repairs_at ON repairs (repo, at);
CREATE INDEX merges_at ON merges (repo, at);
CREATE INDEX acts_latest ON acts (repo, id);
CREATE INDEX acts_at ON acts (at);
CREATE INDEX branches_seen ON branches (repo, seen);
CREATE INDEX stuck_at ON stuck (at);
CREATE INDEX reports_heard ON reports (repo, heard);
COMMIT;
