package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the memory of one running service. It is safe for concurrent use. Reading is what [Reader] has.
type Store struct {
	*Reader
	path string
	file os.FileInfo // what stood at path when it was opened

	write   *sql.DB  // one connection: the session's
	session *session // used by the writer goroutine alone
	lock    *sql.DB  // holds the lock of the process, beside the file
	locked  *file    // holds the lock of the file itself
	ops     chan *op // unbuffered: writers wait in their own goroutines, so that nothing is queued that could be lost
	first   chan *op // likewise, those that are short and go before others

	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	tidied  atomic.Int64 // when it was last tidied, microseconds
	actAge  time.Duration
	news    news
}

// Open opens the database at path, a file name, and creates it if nothing is there. The directory must exist.
//
// One process at a time may have it open, by whatever name: symbolic links are followed, and the lock is a transaction on an own small
// database beside the file, path + ".lock", which works wherever the database itself works and ends with the process, however that
// ends; on Linux the file itself is locked as well, for hard links and mounts. The database's own exclusive mode would keep
// [OpenReader] out as well.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	defer during(&err, "open database %s", path)
	if path, err = locate(path); err != nil {
		return nil, err
	}
	if path, err = follow(path); err != nil {
		return nil, err
	}
	s := &Store{
		path: path, ops: make(chan *op), first: make(chan *op),
		closing: make(chan struct{}), stopped: make(chan struct{}), actAge: ActAge,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeFiles())
		}
	}()
	if s.lock, err = openLock(ctx, path+".lock"); err != nil {
		return nil, err
	}
	if s.locked, err = lockFile(path); err != nil {
		return nil, err
	}
	conceal(path)
	if s.write, err = openWriter(ctx, path); err != nil {
		return nil, err
	}
	if err = migrate(ctx, s.write); err != nil {
		return nil, err
	}
	if s.Reader, err = openReader(ctx, path); err != nil {
		return nil, err
	}
	if s.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s.session = &session{conn: conn, stmts: map[string]*sql.Stmt{}, news: &s.news}
	go s.run()
	return s, nil
}

// locate gives the absolute name of the file and refuses what cannot be one.
func locate(path string) (string, error) {
	if strings.Contains(path, "://") {
		return "", ErrPostgres
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoDir
	}
	return path, nil
}

// follow makes the file if nothing is there, and gives the name without links.
func follow(path string) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, private)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
		if err := f.Close(); err != nil {
			return "", err
		}
	}
	return filepath.EvalSymlinks(path)
}

// private is the mode of what is made: names of private repositories, reasons and debts are nobody else's to read or write, and whoever
// may open the lock may keep it. SQLite gives its log and its index the mode of the database.
const private fs.FileMode = 0o600

// conceal makes the database private, with what stands beside it, where others may read or write it, as earlier versions left it. What is
// open to a group alone was meant so. Where it is somebody else's file it stays as it is. It does not open the files: closing one would
// drop the locks that this process has on it.
func conceal(path string) {
	const others = 0o007
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		if info, err := os.Stat(path + end); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
			_ = os.Chmod(path+end, private) // whoever runs the service looks at what is left, and warns
		}
	}
}

// source is the data source name of a file, with anything that SQLite could take for a part of an URI escaped.
func source(path string, options url.Values) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}
	return u.String()
}

func openWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(path, url.Values{
		"_busy_timeout": {fmt.Sprint(busyWait.Milliseconds())},
		"_foreign_keys": {"on"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"}, // NORMAL does not survive a power cut, and what is noted was acknowledged
		"_dqs":          {"0"},
	}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := examine(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// examine refuses a file that is damaged, or that cannot keep what it acknowledges.
func examine(ctx context.Context, db *sql.DB) error {
	var mode, health string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w (journal mode %s)", ErrNotWAL, mode)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&health); err != nil {
		return err
	}
	if health != "ok" {
		return fmt.Errorf("%w (%s)", ErrCorrupt, health)
	}
	return nil
}

func openLock(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(path, url.Values{"_busy_timeout": {"0"}}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	// The transaction stays open for as long as the connection: it is the lock. Nothing is ever written in it.
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := migrator(db)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return newer(have, want)
	}
	_, err = p.Up(ctx)
	return err
}

// migrator knows every version of the database up to ours. It asks the database nothing.
func migrator(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
}

func newer(have, want int64) error {
	return fmt.Errorf("%w (version %d, this one knows %d)", ErrNewer, have, want)
}

// sameVersion refuses a database of another version than ours: who reads it may not migrate it.
func sameVersion(ctx context.Context, db *sql.DB) error {
	p, err := migrator(db)
	if err != nil {
		return err
	}
	known := p.ListSources()
	want, have := known[len(known)-1].Version, int64(0)
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&have); err != nil {
		return err
	}
	switch {
	case have > want:
		return newer(have, want)
	case have < want:
		return fmt.Errorf("%w (version %d, this one needs %d)", ErrOlder, have, want)
	}
	return nil
}

// Close waits for the write under way and closes the file. Writes that wait, and later ones, get [ErrClosed].
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closing)
		<-s.stopped
		err = s.closeFiles()
	})
	return err
}

// closeFiles closes the database before the lock: the next process must find a file that nobody writes.
func (s *Store) closeFiles() error {
	var errs []error
	if s.Reader != nil {
		errs = append(errs, s.Reader.Close())
	}
	if s.session != nil {
		errs = append(errs, s.session.close())
	}
	for _, db := range []*sql.DB{s.write, s.lock} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.locked != nil {
		errs = append(errs, s.locked.close()) // after SQLite, whose locks on the file end with it
	}
	return errors.Join(errs...)
}
