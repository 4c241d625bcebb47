package store

import (
	"context"
	"database/sql"
	"errors"
)

// session is the writer's connection with the statements it has compiled: compiling would be half of a note's cost. Every
// text is a constant of this package, so there are few.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	news  *news
}

func (s *session) compiled(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

// run runs a statement.
func (s *session) run(ctx context.Context, query string, args ...any) error {
	_, err := s.change(ctx, query, args...)
	return err
}

// change runs a statement and gives how many rows it changed.
func (s *session) change(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := s.compiled(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryContext runs a question.
func (s *session) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.compiled(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext runs a question of one answer.
func (s *session) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := s.compiled(ctx, query)
	if err != nil {
		return s.conn.QueryRowContext(ctx, query, args...) // it meets the same error and carries it to Scan
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (s *session) begin(ctx context.Context) error {
	return s.run(ctx, "BEGIN IMMEDIATE")
}

func (s *session) commit(ctx context.Context) error {
	err := s.run(ctx, "COMMIT")
	if err != nil {
		s.rollback(ctx) // a commit that was refused leaves the transaction open
	}
	return err
}

// rollback ends a transaction that failed. A full disk has ended it already, and then this is refused: either way none is left.
func (s *session) rollback(ctx context.Context) {
	_ = s.run(ctx, "ROLLBACK")
}

// close gives everything back. A statement that stays open would keep SQLite from closing the file, and its log beside it.
func (s *session) close() error {
	errs := make([]error, 0, len(s.stmts)+1)
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}
