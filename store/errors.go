package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// explain adds the cause in words to SQLite's own error, where it is one that people can do something about.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	if cause := causeOf(e.Code()); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// during says what an error kept from being done, and its cause in words. Every exported method that may fail defers it.
func during(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, explain(*err))...)
	}
}

// Cause is what is wrong with the database, in words that name neither a file nor a repository: they are shown on a public address.
func Cause(err error) string {
	for _, cause := range []error{ErrFull, ErrReadOnly, ErrLocked, ErrCorrupt, ErrGone, ErrClosed} {
		if errors.Is(err, cause) {
			return cause.Error()
		}
	}
	return saysUnknown
}

// causeOf is the cause behind one of SQLite's result codes; nil if we have no better words than SQLite.
func causeOf(code int) error {
	switch code & 0xff { // the primary code; the higher bits tell details
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return ErrReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrLocked
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrCorrupt
	}
	return nil
}

// ofTheFile reports whether an error is the file's and not of one write: every write would meet it.
func ofTheFile(err error) bool {
	var e *sqlite.Error
	if errors.Is(err, ErrGone) {
		return true
	}
	return errors.As(err, &e) && (causeOf(e.Code()) != nil || e.Code()&0xff == sqlite3.SQLITE_IOERR)
}
