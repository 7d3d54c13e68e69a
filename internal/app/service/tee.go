package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// tee is a log that goes to several places, each with a level of its own.
type tee []slog.Handler

// Enabled implements slog.Handler.
func (t tee) Enabled(ctx context.Context, level slog.Level) bool {
	for _, one := range t {
		if one.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, record slog.Record) (err error) {
	for _, one := range t {
		if one.Enabled(ctx, record.Level) {
			err = errors.Join(err, one.Handle(ctx, record))
		}
	}
	return err
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return t.with(func(one slog.Handler) slog.Handler { return one.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	return t.with(func(one slog.Handler) slog.Handler { return one.WithGroup(name) })
}

func (t tee) with(change func(slog.Handler) slog.Handler) tee {
	changed := make(tee, len(t))
	for i, one := range t {
		changed[i] = change(one)
	}
	return changed
}

// lines writes each line of a log into a journal, without secrets.
type lines struct {
	to     *journal.Journal
	masker *secret.Masker
}

// Write implements io.Writer.
func (l lines) Write(text []byte) (int, error) {
	l.to.Add(l.masker.Mask(strings.TrimRight(string(text), "\n")))
	return len(text), nil
}

// withoutTime leaves the time out, which a journal has by itself.
func withoutTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}
