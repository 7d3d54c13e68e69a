package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// untrusted is a configuration that lay in the working folder, that somebody else may
// have written, and that its user did not trust yet.
type untrusted struct {
	source  *config.Source
	reason  string // why somebody else may have written it
	verdict trust.Verdict
	damaged error // the record of trust cannot be used
}

// loadAsking is load for a command that a person waits for, and can be asked about a file
// that is not trusted. Without a file that can be used, it refuses.
func (g *globals) loadAsking(ctx context.Context, out io.Writer) (*setup, error) {
	s, err := g.load(nil)
	if err == nil && s.untrusted != nil {
		if err = s.untrusted.ask(ctx, out); err == nil {
			s, err = g.load(nil)
		} else if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.NotTrusted && !s.isEmpty() {
			err = nil // the user's own are used
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !s.isEmpty():
		return s, nil
	case s.untrusted != nil:
		return nil, s.untrusted.refusal()
	}
	return nil, s.wrong()
}

// loadForTerminal is loadAsking for a command that shows what it does. It says which files are
// not used, and the log says only what the command does not show.
func (g *globals) loadForTerminal(ctx context.Context, out, stderr io.Writer) (*config.Config, *slog.Logger, error) {
	s, log, err := g.setupForTerminal(ctx, out, stderr)
	if err != nil {
		return nil, nil, err
	}
	return s.config, log, nil
}

// setupForTerminal is loadForTerminal with all that is known of the files.
func (g *globals) setupForTerminal(ctx context.Context, out, stderr io.Writer) (*setup, *slog.Logger, error) {
	s, err := g.loadAsking(ctx, out)
	if err != nil {
		return nil, nil, err
	}
	if s.untrusted != nil {
		fmt.Fprintln(stderr, tty.Describe(s.untrusted.refusal()))
	}
	for _, err := range s.broken {
		fmt.Fprintln(stderr, tty.Describe(err))
	}
	if g.logLevel == "" {
		g.logLevel = "error"
	}
	log, err := g.logger(s.config, stderr)
	return s, log, err
}

// examine returns nil for a file that may run.
func examine(source *config.Source) *untrusted {
	reason := trust.Doubt(trustFile(source))
	if reason == "" {
		return nil
	}
	verdict, err := trust.NewStore(config.StateDir()).Check(trustFile(source))
	if verdict == trust.Trusted && err == nil {
		return nil
	}
	return &untrusted{source: source, reason: reason, verdict: verdict, damaged: err}
}

func trustFile(source *config.Source) trust.File {
	return trust.File{
		Path: source.Path, Content: source.Data, Info: source.Info,
		Env: source.Env, EnvInfo: source.EnvInfo,
	}
}

// notice is for clients, which may cut it after 512 characters, and for people: what to
// do comes first.
func (u *untrusted) notice() string {
	text := "The configuration in the working folder is not trusted, so nothing of it is run. " +
		"The user has to decide: look at the file, and run this command in a terminal; then the file is used at once:\n\n  " +
		u.command() + "\n\nWhy: " + u.why()
	if u.damaged != nil {
		text += "\n" + u.damaged.Error()
	}
	return text
}

func (u *untrusted) why() string {
	if u.verdict == trust.Changed {
		return "its content changed since it was trusted; " + u.reason + "."
	}
	return u.reason + "."
}

// command is what makes the file trusted, from any folder.
func (u *untrusted) command() string {
	executable, err := os.Executable()
	if err != nil {
		executable = "mcp-workbench"
	}
	return trust.Quote(executable, "trust", u.source.Path)
}

// refusal is for a person who is not asked, or said no.
func (u *untrusted) refusal() error {
	return &toolbox.Error{
		Code:    toolbox.NotTrusted,
		Message: trust.Quote(u.source.Path) + " is not trusted, and nothing of it was run: " + u.why(),
		Hint:    "Look at the file, and then run: " + u.command(),
	}
}

// ask lets a person in a terminal decide, and records that the file is trusted. Without one
// it refuses.
func (u *untrusted) ask(ctx context.Context, out io.Writer) error {
	if u.damaged != nil {
		tty.Remark(os.Stderr, u.damaged.Error())
	}
	refused := u.refusal()
	if !isInteractive(out) {
		return refused
	}
	shown, err := newReview(u.source)
	if err != nil {
		return err
	}
	shown.compare(u.verdict, trust.NewStore(config.StateDir()))
	shown.print(out)
	fmt.Fprintf(out, "\nIt was found in the working folder: %s\n", tty.Clean(u.why()))
	if err := confirm(ctx, out); err != nil {
		if errors.Is(err, errDeclined) {
			return refused
		}
		return err
	}
	return trust.NewStore(config.StateDir()).Add(shown.file())
}

// list shows names from a file that is not trusted.
func list(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = trust.Quote(name)
	}
	return strings.Join(shown, ", ")
}

// isInteractive reports that a person sees what is written and can answer.
func isInteractive(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && term.IsTerminal(int(os.Stdin.Fd()))
}

var errDeclined = &toolbox.Error{Code: toolbox.NotTrusted, Message: "It was not trusted"}

// confirm asks; anything but yes is no. A signal ends the wait, but not the read, which
// ends with the program.
func confirm(ctx context.Context, out io.Writer) error {
	fmt.Fprint(out, "Trust it? It runs as you, with your files. [y/N] ")
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // without an answer, no
		answered <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return ctx.Err()
	case line := <-answered:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errDeclined
	}
}
