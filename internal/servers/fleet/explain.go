package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// Limits of the server's text in an error.
const (
	maxReason      = 64 << 10 // size of the reason in an error; the rest is cut off
	maxStderrLines = 5        // lines of stderr in an error
	// exitTime is how long to wait for the exit status of a process whose output ended, for the error message.
	exitTime = 500 * time.Millisecond
)

// quoting is an error whose text ends with text of the server.
type quoting interface {
	error
	Words() string
}

// explain converts the error of a request to a server into one for users. It masks secrets in the server's text, not in
// the text of the workbench. timeout is the setting that limited the time, or 0. child is nil for a remote server.
func (s *Server) explain(child *process.Process, err error, timeout time.Duration) error {
	if login, ok := errors.AsType[*downstream.LoginError](err); ok {
		return s.loginNeeded(login)
	}
	if rpc, ok := errors.AsType[*downstream.RPCError](err); ok {
		ours := strings.TrimSuffix(err.Error(), rpc.Message)
		return &Failure{reason: ours + s.fleet.cleanServerText(rpc.Message), cause: err}
	}
	text, isEnd := err.Error(), false
	if quote, ok := errors.AsType[quoting](err); ok {
		text = strings.TrimSuffix(text, quote.Words()) + s.fleet.cleanServerText(quote.Words())
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && timeout > 0:
		text = strings.TrimSuffix(text, ": "+context.DeadlineExceeded.Error())
		text = fmt.Sprintf("%s within %s (timeouts.connect): timeout", text, timeout)
	case errors.Is(err, context.Canceled):
		return errStopping
	case errors.Is(err, downstream.ErrOutputClosed), errors.Is(err, downstream.ErrInputBroken):
		if exit := exitOf(child); exit != "" {
			text, isEnd = "the server "+exit, exit == process.ExitedWell
		}
	}
	failure := &Failure{reason: text, cause: err, isEnd: isEnd}
	if child != nil {
		if tail := child.StderrTail(maxStderrLines); len(tail) > 0 {
			failure.output = "; its last output was: " + s.fleet.cleanServerText(strings.Join(tail, " | "))
		}
	}
	return failure
}

// cleanServerText returns text of a server that may be shown: without hidden characters, which could also hide a secret,
// and with secrets masked.
func (f *Fleet) cleanServerText(text string) string { return f.masker.Load().Mask(hidden.Clean(text)) }

// Mask returns text with all known secrets masked.
func (f *Fleet) Mask(text string) string { return f.masker.Load().Mask(text) }

// Quote returns text of the server that may be shown: without hidden characters, and with secrets masked.
func (l *Lease) Quote(text string) string { return l.server.fleet.cleanServerText(text) }

// Mask returns text of the server with secrets masked.
func (l *Lease) Mask(text string) string { return l.server.fleet.masker.Load().Mask(text) }

// Failure is an error of a server, described for users, with secrets masked.
type Failure struct {
	reason string
	output string // the last output of the server, with an introduction
	hint   string // what to do next
	cause  error
	isEnd  bool // the server ended without complaint
}

func (f *Failure) Error() string {
	text := cut(f.reason + f.output)
	if f.hint != "" {
		text += "; " + f.hint
	}
	return text
}

// Reason returns the error without the output of the server, for callers that show the output separately.
func (f *Failure) Reason() string { return cut(f.reason) }

// IsEnd reports whether the server has ended with the exit code 0: nothing kept it from what it does.
func (f *Failure) IsEnd() bool { return f.isEnd }

// Hint returns what to do next; "" if that is not known.
func (f *Failure) Hint() string { return f.hint }

// Unwrap returns the cause, whose text may contain secrets.
func (f *Failure) Unwrap() error { return f.cause }

// exitOf describes how the process exited; "" if it is still running.
func exitOf(child *process.Process) string {
	patience := time.NewTimer(exitTime)
	defer patience.Stop()
	select {
	case <-child.Done():
		return child.Exit()
	case <-patience.C:
		return ""
	}
}

// withheldHint names the variables that a failed server may need: withheld ones that its output mentions, or else those
// that were withheld because they contain credentials.
func withheldHint(withheld process.Withheld, child *process.Process) string {
	names := process.MentionedVariables(withheld.Names, child.StderrTail(maxStderrLines))
	switch {
	case len(names) == 0 && len(withheld.Credentials) > 0:
		return fmt.Sprintf("%s, whose value holds a credential, is withheld from servers: 'inheritEnv' passes it", strings.Join(withheld.Credentials, ", "))
	case len(names) == 0:
		return ""
	}
	return fmt.Sprintf("it mentions %s, which servers do not inherit: name it in 'env' (or in 'inheritEnv')", strings.Join(names, ", "))
}

func cut(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + fmt.Sprintf("… (%d more bytes)", len(text)-maxReason)
}
