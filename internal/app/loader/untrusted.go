package loader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Untrusted is a configuration file in the working folder that somebody else may have written and
// that the user has not trusted yet.
type Untrusted struct {
	source  *config.Source
	reason  string // why somebody else may have written it
	verdict trust.Verdict
	damaged error // the trust record is unusable
}

// Path returns the path of the file.
func (u *Untrusted) Path() string { return u.source.Path }

// CheckTrust returns nil for a file that may run.
func CheckTrust(source *config.Source) *Untrusted {
	reason := doubt(source)
	if reason == "" {
		return nil
	}
	verdict, err := trust.NewStore(config.StateDir()).Check(trust.FileOf(source))
	if verdict == trust.Trusted && err == nil {
		return nil
	}
	return &Untrusted{source: source, reason: reason, verdict: verdict, damaged: err}
}

// doubt returns why a file that was only found needs trust; "" if it does not. One that names secrets needs it whoever wrote
// it: what it names was kept for something else.
func doubt(source *config.Source) string {
	if reason := trust.Doubt(trust.FileOf(source)); reason != "" {
		return reason
	}
	forms := source.Forms()
	if len(forms) == 0 {
		return ""
	}
	names := make([]string, 0, maxNamed)
	for _, form := range forms[:min(len(forms), maxNamed)] {
		names = append(names, trust.Quote(form.String()))
	}
	text := "it names secrets of yours: " + strings.Join(names, ", ")
	if more := len(forms) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxNamed is how many of a file's secrets the reason names why it needs trust.
const maxNamed = 5

// CheckTrustAt is CheckTrust for the file at a path.
func CheckTrustAt(path string) (*Untrusted, error) {
	source, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	return CheckTrust(source), nil
}

// Notice explains to clients and people that the file is not used. Clients may cut the text after 512 characters, so
// the remedy comes first.
func (u *Untrusted) Notice() string {
	text := "The configuration in the working folder is not trusted, so nothing of it is run. " +
		"The user has to decide: review the file, and run this command in a terminal; then the file is used at once:\n\n  " +
		u.Command() + "\n\nWhy: " + u.why()
	if u.damaged != nil {
		text += "\n" + u.damaged.Error()
	}
	return text
}

func (u *Untrusted) why() string {
	if u.verdict == trust.Changed {
		return "its content changed since it was trusted; " + u.reason + "."
	}
	return u.reason + "."
}

// Command returns the command line that trusts the file, from any folder.
func (u *Untrusted) Command() string {
	executable, err := os.Executable()
	if err != nil {
		executable = "mcp-workbench"
	}
	return trust.Quote(executable, "trust", u.source.Path)
}

// Refusal is the error for a person who was not asked, or declined.
func (u *Untrusted) Refusal() error {
	return &toolbox.Error{
		Code:    toolbox.NotTrusted,
		Message: trust.Quote(u.source.Path) + " is not trusted, and nothing of it was run: " + u.why(),
		Hint:    "Review the file, and then run: " + u.Command(),
	}
}

// Ask shows the file to a person at a terminal, asks, and records the trust. It refuses without a terminal.
func (u *Untrusted) Ask(ctx context.Context, out io.Writer) error {
	if u.damaged != nil {
		tty.Remark(os.Stderr, u.damaged.Error())
	}
	refused := u.Refusal()
	if !tty.IsInteractive(out) {
		return refused
	}
	shown, err := NewReview(u.source)
	if err != nil {
		return err
	}
	shown.Compare(u.verdict, trust.NewStore(config.StateDir()))
	shown.Print(out)
	fmt.Fprintf(out, "\nIt is in the working folder: %s\n", tty.Clean(u.why()))
	if err := ConfirmTrust(ctx, out); err != nil {
		if errors.Is(err, errDeclined) {
			return refused
		}
		return err
	}
	return trust.NewStore(config.StateDir()).Add(shown.File())
}

var errDeclined = &toolbox.Error{Code: toolbox.NotTrusted, Message: "It was not trusted"}

// ConfirmTrust asks whether to trust a file; anything but yes declines. A signal ends the wait, but not the read, which
// ends with the program.
func ConfirmTrust(ctx context.Context, out io.Writer) error {
	defer tty.HoldLines()()
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
