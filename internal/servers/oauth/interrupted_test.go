package oauth

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// TestCloseWaitsForARefresh whose caller is gone: its result has to be saved.
func TestCloseWaitsForARefresh(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.expire()
	before := b.kept().Refresh
	waiting, release := b.provider.Hold(oauthtest.Refresh)
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() {
		_, err := call(ctx, b.Credentials, b.provider.URL(), "echo")
		called <- err
	}()
	<-waiting
	cancel()
	<-called
	closed := make(chan struct{})
	go func() {
		b.manager.Close()
		close(closed)
	}()
	release()
	<-closed
	if kept := b.kept(); kept.Refresh == before || kept.Refreshing != nil {
		t.Error("the result of the refresh was not saved")
	}
}

// TestKilledDuringARefresh: what the authorization server answered never got to the disk.
func TestKilledDuringARefresh(t *testing.T) {
	mark := func(c *credentials.Credential) {
		c.Refreshing = &credentials.Mark{Since: time.Now(), Process: os.Getpid() + 1}
	}
	t.Run("before the request", func(t *testing.T) {
		b := newBench(t, oauthtest.Options{}, nil)
		b.mustLogIn(LoginOptions{})
		b.expire()
		b.edit(mark)
		b.mustCall("echo")
		if kept := b.kept(); kept.Refreshing != nil || kept.Dead != "" {
			t.Errorf("the store has %v", kept)
		}
	})
	t.Run("after the answer", func(t *testing.T) {
		b := newBench(t, oauthtest.Options{}, nil)
		b.mustLogIn(LoginOptions{})
		old := b.kept()
		b.provider.ExpireAccess()
		b.mustCall("echo")
		b.edit(func(c *credentials.Credential) {
			c.Access, c.Refresh = old.Access, old.Refresh
			mark(c)
		})
		b.expire()
		before := b.provider.Count(oauthtest.Refresh)
		login := b.refusedCall("echo")
		if !strings.HasPrefix(login.Reason, "the login was lost: a refresh was interrupted") {
			t.Errorf("got %q", login.Reason)
		}
		b.refusedCall("echo")
		if n := b.provider.Count(oauthtest.Refresh) - before; n != 1 {
			t.Errorf("the old token was tried %d times, want once", n)
		}
	})
	t.Run("the answer was cut", func(t *testing.T) {
		b := newBench(t, oauthtest.Options{}, nil)
		b.mustLogIn(LoginOptions{})
		b.expire()
		b.provider.Change(func(o *oauthtest.Options) {
			o.Faults = map[string]oauthtest.Fault{oauthtest.Refresh: {Cut: true, Times: 1}}
		})
		if _, err := b.call("echo"); !isTemporary(err) {
			t.Errorf("got %v", err)
		}
		if login := b.refusedCall("echo"); !strings.HasPrefix(login.Reason, "the login was lost: a refresh was interrupted") {
			t.Errorf("got %q", login.Reason)
		}
	})
}

// signals gets the messages of the log.
type signals chan string

func (s signals) Enabled(context.Context, slog.Level) bool { return true }
func (s signals) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s signals) WithGroup(string) slog.Handler            { return s }

func (s signals) Handle(_ context.Context, record slog.Record) error {
	select {
	case s <- record.Message:
	default:
	}
	return nil
}

// TestStoreThatFailsForAMoment after the authorization server has replaced the refresh token.
func TestStoreThatFailsForAMoment(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.ExpireAccess()
	logged := make(signals, 100)
	manager := New(Options{Store: b.store, Log: slog.New(logged)})
	defer manager.Close()
	waiting, release := b.provider.Hold(oauthtest.Refresh)
	result := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), manager.For(Server{Name: "remote", URL: b.provider.URL()}), b.provider.URL(), "echo")
		result <- err
	}()
	<-waiting
	if err := os.Rename(b.folder, b.folder+".gone"); err != nil {
		t.Fatal(err)
	}
	release()
	for message := ""; message != "a refreshed login could not be saved; trying again"; {
		message = <-logged
	}
	if err := os.Rename(b.folder+".gone", b.folder); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Errorf("got %v", err)
	}
	b.provider.ExpireAccess()
	b.mustCall("echo")
}
