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

// Limits of what an error repeats of a server's words.
const (
	maxReason      = 64 << 10 // size of the reason that an error quotes; the rest is cut
	maxStderrLines = 5        // lines of stderr that an error quotes
	// exitTime is how long we wait for the exit status of a process whose output
	// ended, so that the error can name it.
	exitTime = 500 * time.Millisecond
)

// quoting is an error whose text ends with a server's words.
type quoting interface {
	error
	Words() string
}

// explain turns the error of a request to a server into one for people. Secrets are
// masked in the server's words, not in ours. A timeout of zero means that no setting of
// ours limited the time. A remote server has no child.
func (s *Server) explain(child *process.Process, err error, timeout time.Duration) error {
	if rpc, ok := errors.AsType[*downstream.RPCError](err); ok {
		ours := strings.TrimSuffix(err.Error(), rpc.Message)
		return &Failure{reason: ours + s.fleet.cleanServerText(rpc.Message), cause: err}
	}
	text := err.Error()
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
			text = "the server " + exit
		}
	}
	failure := &Failure{reason: text, cause: err}
	if child != nil {
		if tail := child.StderrTail(maxStderrLines); len(tail) > 0 {
			failure.output = "; its last output was: " + s.fleet.cleanServerText(strings.Join(tail, " | "))
		}
	}
	return failure
}

// cleanServerText returns words of a server as they may be shown: without hidden text, which could also hide a secret, and with
// secrets masked.
func (f *Fleet) cleanServerText(text string) string { return f.masker.Load().Mask(hidden.Clean(text)) }

// Quote returns words of the server as they may be shown.
func (l *Lease) Quote(text string) string { return l.server.fleet.cleanServerText(text) }

// Mask returns words of the server with the secrets in them masked.
func (l *Lease) Mask(text string) string { return l.server.fleet.masker.Load().Mask(text) }

// Failure is an error of a server, told for people, with secrets masked.
type Failure struct {
	reason string
	output string // what the server printed last, with words that lead to it
	hint   string // what to do about it
	cause  error
}

func (f *Failure) Error() string {
	text := cut(f.reason + f.output)
	if f.hint != "" {
		text += "; " + f.hint
	}
	return text
}

// Reason is the error without what the server printed, for those who show that otherwise.
func (f *Failure) Reason() string { return cut(f.reason) }

// Hint says what to do about it; "" if that is not known.
func (f *Failure) Hint() string { return f.hint }

// Unwrap returns the cause, whose text may hold secrets.
func (f *Failure) Unwrap() error { return f.cause }

// exitOf returns how the process ended, or "" if it has not.
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

// withheldHint says which variables a server that failed may miss: those that it names, or those that programs need to reach
// the network, whether they say so or not.
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
