package store

import "errors"

// saysUnknown is for every other cause.
const saysUnknown = "database error; see the log"

// The causes that a caller or an operator can tell apart. They are wrapped: ask with errors.Is.
var (
	ErrFull     = errors.New("the database's disk is full")
	ErrReadOnly = errors.New("the database is read-only")
	ErrLocked   = errors.New("another process is using the database")
	ErrCorrupt  = errors.New("the database file is corrupt: move it away or restore it, then start again; losing it releases nothing")
	ErrGone     = errors.New("the database file was removed or replaced while in use; start again")
	ErrClosed   = errors.New("the database is closed")
	ErrNewer    = errors.New("the database was written by a newer version of sluice: start that one, or move the file away; losing it releases nothing")
	ErrOlder    = errors.New("the database was written by an older version of sluice: start this version of the service on it first")
	ErrNoDir    = errors.New("the directory of the database does not exist")
	ErrUnknown  = errors.New("unknown repository")
	ErrAbsent   = errors.New("there is no database yet")
	ErrPostgres = errors.New("PostgreSQL is not supported yet; give the path of a file")
	ErrNotWAL   = errors.New("the file system of the database does not support write-ahead logging")
)
