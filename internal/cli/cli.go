// Package cli is the command line: one file per command, with its flags, help and output. The work
// is done by the packages below.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// Version is the version of this build; the linker sets it for releases.
var Version = "0.1.0-dev"

// gcPercent is the GOGC of this program. The heap is small: with the default of 100, garbage
// collection took a tenth of the time of small calls.
const gcPercent = 200

// Main runs the program and returns its exit status: 0, 1 for an error or if the output cannot be written, 2 for a
// wrong command line, 130 for an interrupted command. Serving ends with 0 on a signal.
func Main(args []string) int {
	if status, isHelper := process.Handover(args); isHelper {
		return status
	}
	process.Harden()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	// A client that is gone causes a write error, so that the program can end in order.
	signal.Ignore(syscall.SIGPIPE)
	endings := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if service.OnTerminal() {
		endings = append(endings, syscall.SIGHUP) // otherwise a request to reload
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings...)
	defer stop()

	cobra.EnableCommandSorting = false // the help has an order of its own
	root := newRoot()
	args = args[min(1, len(args)):]
	root.SetArgs(args)
	output := tty.NewOutput(os.Stdout)
	root.SetOut(output)
	command, err := root.ExecuteContextC(ctx)
	if wrong, ok := errors.AsType[*usageError](err); ok {
		wrong.command = command.CommandPath()
		if command == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // its flags are not those of the program
			err = noArguments(root, args[:1])
		}
	}
	if lost := finishJSON(command, args, err); err == nil {
		err = lost
	}
	if unwritable := output.Err(); unwritable != nil {
		err = outputError(err, unwritable, consequence(command))
	}
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "mcp-workbench: interrupted")
		return 130
	}
	if _, isShown := errors.AsType[*shownError](err); !isShown {
		fmt.Fprintln(os.Stderr, tty.New(os.Stderr, nil, os.Getenv).Describe(err))
	}
	if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.Usage {
		return 2
	}
	return 1
}

// outputError is the error of a command whose output could not be written. A reader that has seen enough, such as head,
// is gone without a word: that is reported by the exit status alone.
func outputError(err, unwritable error, hint string) error {
	switch {
	case err != nil && !isSameFailure(err, unwritable) && !errors.Is(err, context.Canceled):
		return err
	case errors.Is(unwritable, syscall.EPIPE):
		return &shownError{unwritable}
	}
	return &toolbox.Error{
		Code: toolbox.OutputFailed, Message: fmt.Sprintf("The output cannot be written: %v", unwritable), Cause: unwritable,
		Hint: hint,
	}
}

// isSameFailure reports whether a command failed because its output could not be written. Each attempt to write has an error of its own.
func isSameFailure(err, unwritable error) bool {
	reason, ok := errors.AsType[syscall.Errno](unwritable)
	return errors.Is(err, unwritable) || ok && errors.Is(err, reason)
}

// readers are the commands that change nothing.
var readers = []string{
	"help", "version", "list", "show", "tools", "find", "tokens", "ps", "top", "history", "logs", "metrics", "doctor", "explain", "schema", "validate",
	"completion", "policy explain", "policy test", "policy suggest", "token list", "auth status", "audit verify", "audit export",
}

// consequence says what it means that the output of a command is lost.
func consequence(command *cobra.Command) string {
	name := strings.TrimPrefix(command.CommandPath(), command.Root().Name()+" ")
	isReader := slices.ContainsFunc(readers, func(reader string) bool { return name == reader || strings.HasPrefix(name, reader+" ") })
	switch isHelp := command.Flags().Changed("help"); {
	case isHelp || isReader || command == command.Root():
		return "Make room, or write it elsewhere. The command changes nothing."
	case name == "token add":
		return "The token exists and is lost, since it is shown only once: remove it with 'mcp-workbench token remove NAME', and create another one."
	}
	return "The command has run nevertheless: what it changes may be changed."
}

// shownError ends a command whose text already shows the problem. Only scripts get it again.
type shownError struct{ err error }

func (e *shownError) Error() string { return e.err.Error() }

// Unwrap returns the error that scripts get.
func (e *shownError) Unwrap() error { return e.err }

// usageError is the error for a wrong command line.
type usageError struct {
	err     error
	command string // whose help is suggested; "": that of the program
}

func (e *usageError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error that describe shows.
func (e *usageError) Unwrap() error {
	wrong := &toolbox.Error{Code: toolbox.Usage, Message: e.err.Error(), Hint: "See '" + cmp.Or(e.command, "mcp-workbench") + " --help'.", Cause: e.err}
	if known, ok := errors.AsType[*toolbox.Error](e.err); ok {
		wrong.Message, wrong.Hint = known.Message, known.Hint
	}
	return wrong
}

// globals are the flags that all commands share.
type globals struct {
	loader.Loader
	logLevel string
	toolbox  string // the only toolbox to serve; "": all
	shared   bool   // use the shared workbench
}

// service returns the options of a workbench that serves clients.
func (g *globals) service(stderr io.Writer) service.Options {
	return service.Options{Loader: g.Loader, Version: Version, LogLevel: g.logLevel, Toolbox: g.toolbox, Shared: g.shared, Stderr: stderr}
}

func newRoot() *cobra.Command {
	var g globals
	var version bool
	root := &cobra.Command{
		Use:   "mcp-workbench",
		Short: "One MCP server in front of all your others",
		Long: `MCP Workbench groups your MCP servers into named toolboxes and shows a client a
few fixed tools instead of hundreds: open_toolbox, use_tool, find_tools and
read_tool. An MCP client starts it and talks to it over stdin and stdout.`,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,

		PersistentPreRun: useJSONOutput,
		// Two different letters are still a typo.
		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				fmt.Fprintln(cmd.OutOrStdout(), "mcp-workbench", Version)
				return nil
			}
			return runStdio(cmd.Context(), g, os.Stdin, os.Stdout, os.Stderr)
		},
	}
	root.PersistentFlags().StringVar(&g.ConfigPath, "config", "",
		"use only this configuration file (default: $WORKBENCH_CONFIG, or ./workbench-config.json on top of your own)")
	root.PersistentFlags().StringVar(&g.logLevel, "log-level", "", "debug, info, warn or error (default: as configured)")
	root.Flags().StringVar(&g.toolbox, "toolbox", "", "serve this toolbox only (default: all)")
	root.Flags().BoolVar(&g.shared, "shared", false, "share one background workbench with other clients")
	completion.Register(root, "log-level", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp
	})
	completion.Register(root, "toolbox", completion.Toolboxes(&g.Loader))
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.SetFlagErrorFunc(explainFlag)
	addCommands(root, &g)
	return root
}

// noArguments refuses arguments; of a command with subcommands as an unknown one, with suggestions.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return &usageError{err: fmt.Errorf("'%s' takes no argument, but was given '%s'", cmd.CommandPath(), args[0])}
	}
	err := fmt.Errorf("unknown command '%s'", args[0])
	cmd.SuggestionsMinimumDistance = cmd.Root().SuggestionsMinimumDistance
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean '%s'?", err, strings.Join(near, "' or '"))
	}
	return &usageError{err: err}
}
