package forms

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	commandTime = 10 * time.Second // for a command that prints a secret; then it is ended, with an error
	cacheTime   = 5 * time.Minute  // for which what a command printed is used again, unless a server's login fails with it
	maxCached   = 200              // outputs of commands that are kept; beyond, all are forgotten
)

// command identifies what a command prints: the same command may print something else for another environment.
type command struct {
	text, dir string
	environ   [sha256.Size]byte
}

// output is what a command printed, or is about to print.
type output struct {
	done  chan struct{} // closed when the rest is set
	value string
	err   error
	until time.Time
}

func identify(form config.Form, environ []string) command {
	digest := sha256.New()
	for _, entry := range environ {
		fmt.Fprintf(digest, "%d:%s", len(entry), entry)
	}
	return command{form.Text, form.Dir, [sha256.Size]byte(digest.Sum(nil))}
}

// fromCommand returns what a command prints. Those who ask for the same at the same time share one run.
func (r *Resolver) fromCommand(ctx context.Context, form config.Form, environ []string) (string, error) {
	if environ == nil {
		environ = os.Environ()
	}
	key := identify(form, environ)
	for {
		known, isOurs := r.join(key)
		if isOurs {
			value, err := r.run(ctx, form, environ)
			r.finish(key, known, value, err)
			return value, err
		}
		select {
		case <-known.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		// One that was given up by who asked first says nothing about this request.
		if known.err == nil || !errors.Is(known.err, context.Canceled) {
			return known.value, known.err
		}
	}
}

// join returns the output that is kept or under way; isOurs means that the caller has to produce it.
func (r *Resolver) join(key command) (known *output, isOurs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.cached[key]; ok && (known.until.IsZero() || time.Now().Before(known.until)) {
		return known, false
	}
	for other, old := range r.cached {
		if !old.until.IsZero() && (len(r.cached) >= maxCached || !time.Now().Before(old.until)) {
			delete(r.cached, other)
		}
	}
	known = &output{done: make(chan struct{})}
	r.cached[key] = known
	return known, true
}

// finish keeps what a command printed. Failures are not kept: the server that failed waits before it tries again.
func (r *Resolver) finish(key command, known *output, value string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known.value, known.err, known.until = value, err, time.Now().Add(cacheTime)
	if err != nil && r.cached[key] == known {
		delete(r.cached, key)
	}
	close(known.done)
}

// Forget drops what the commands among the forms printed, so that they run again.
func (r *Resolver) Forget(forms []config.Form, environ []string) {
	if environ == nil {
		environ = os.Environ()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range forms {
		if form.Kind == config.FormExec {
			delete(r.cached, identify(form, environ))
		}
	}
}

// run runs a command, without a shell and without input. What it prints on stderr is not used: it may be secret.
func (r *Resolver) run(ctx context.Context, form config.Form, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	child, err := r.host.Start(process.Spec{
		Command: form.Words[0], Args: form.Words[1:], Env: environ, Dir: form.Dir,
		KeepDetached: true, // agents that keep a password, such as gpg-agent, stay as if a shell had started the command
	})
	if err != nil {
		return "", &Error{form, err.Error(), "the command runs without a shell, in the folder of the configuration"}
	}
	defer stop(child)
	_ = child.Stdin().Close() // it reads the end of its input
	printed := make(chan result, 1)
	go func() { // ends with the pipe, which stop closes
		data, err := io.ReadAll(io.LimitReader(child.Stdout(), maxValue+1))
		printed <- result{data, err}
	}()
	var got result
	select {
	case got = <-printed:
	case <-ctx.Done():
		return "", ended(ctx, form)
	}
	if len(got.data) > maxValue {
		return "", &Error{form, fmt.Sprintf("the command prints more than %d KiB", maxValue>>10), "let it print only the secret"}
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		return "", ended(ctx, form)
	}
	if exit := child.Exit(); exit != exitedWell {
		return "", &Error{form, "the command " + exit, "run it in a terminal to see why; what it prints is not shown here, since it may be secret"}
	}
	if got.err != nil {
		return "", &Error{form, "the output of the command cannot be read", "run the command of the secret in a terminal to see why"}
	}
	return withoutNewline(string(got.data)), nil
}

type result struct {
	data []byte
	err  error
}

// exitedWell is what process.Process.Exit says of a success.
const exitedWell = "exited with code 0"

// stop ends a command with what it started in its own session. It is in no hurry to exit by itself any more.
func stop(child *process.Process) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = child.Stop(ctx) // what is left is ended with the workbench
}

// ended returns why a command was ended.
func ended(ctx context.Context, form config.Form) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	return &Error{form, fmt.Sprintf("the command has not ended in time (%v at most)", commandTime), "it must not ask for anything: it has no input and no terminal"}
}
