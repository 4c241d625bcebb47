package store

import "errors"

// saysUnknown stands for a cause that we have no words for.
const saysUnknown = "the database does not work; the log says more"

// The causes that a caller or an operator can tell apart. They are wrapped: ask with errors.Is.
var (
	ErrFull     = errors.New("the disk of the database is full")
	ErrReadOnly = errors.New("the database cannot be written")
	ErrLocked   = errors.New("another process uses the database")
	ErrCorrupt  = errors.New("the database file is damaged; put it aside or restore it, then start again: losing it opens nothing")
	ErrGone     = errors.New("the database file was removed or replaced while in use; start again")
	ErrClosed   = errors.New("the database is closed")
	ErrNewer    = errors.New("the database was written by a newer version of sluice")
	ErrNoDir    = errors.New("the directory of the database does not exist")
	ErrUnknown  = errors.New("the repository is not known")
	ErrAbsent   = errors.New("there is no database yet")
	ErrPostgres = errors.New("PostgreSQL is not supported yet; give the path of a file")
	ErrNotWAL   = errors.New("the file system of the database does not support write-ahead logging")
)
