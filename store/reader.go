package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"
)

// Reader reads a database, its own process's or another's. It is safe for concurrent use and never waits for a writer.
type Reader struct{ read *sql.DB }

// OpenReader opens the database at path for reading alone, also while a service writes it: that is what `sluice plan` needs.
// It gives [ErrAbsent] if there is none, [ErrOlder] or [ErrNewer] if a service of another version keeps it. It changes nothing in the
// database; SQLite may create its -shm and -wal beside it.
func OpenReader(ctx context.Context, path string) (_ *Reader, err error) {
	defer during(&err, "read database %s", path)
	if path, err = locate(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	r, err := openReader(ctx, path)
	if err != nil {
		return nil, err
	}
	// A file without our tables (empty, or another program's) is reported now, not by the first query.
	if _, err := r.read.ExecContext(ctx, "SELECT 1 FROM repositories LIMIT 1"); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := sameVersion(ctx, r.read); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func openReader(ctx context.Context, path string) (*Reader, error) {
	db, err := sql.Open("sqlite", source(path, url.Values{
		"_busy_timeout": {fmt.Sprint(busyWait.Milliseconds())},
		"_query_only":   {"on"},
		"_dqs":          {"0"},
		"mode":          {"rw"}, // not "ro": the log of a service that was killed must be read, too; query_only keeps us honest
	}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{read: db}, nil
}

// Close closes the database.
func (r *Reader) Close() error { return r.read.Close() }

// micros is how an instant is kept; NULL is the zero time.
func micros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// into is where an instant is scanned to.
type into struct{ at *time.Time }

func (i into) Scan(value any) error {
	var v sql.NullInt64
	err := v.Scan(value)
	if *i.at = (time.Time{}); v.Valid {
		*i.at = time.UnixMicro(v.Int64).UTC()
	}
	return err
}

// one reads a row, if there is one, into the places for its columns.
func one(row *sql.Row, places ...any) error {
	if err := row.Scan(places...); !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return nil
}

// all reads every row of a query into the places that a value has for its columns.
func all[T any](ctx context.Context, q querier, places func(*T) []any, query string, args ...any) (found []T, err error) {
	err = each(ctx, q, func(rows *sql.Rows) error {
		var one T
		err := rows.Scan(places(&one)...)
		found = append(found, one)
		return err
	}, query, args...)
	return found, err
}

// each calls f for every row of a query. f scans.
func each(ctx context.Context, q querier, f func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// querier is what *sql.DB and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
