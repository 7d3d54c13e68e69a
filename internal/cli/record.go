package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// recordOptions are the arguments of record.
type recordOptions struct {
	file    string
	server  string   // of the configuration; "": the whole workbench
	command []string // instead: a server that is not configured
	force   bool
}

func newRecord(g *globals) *cobra.Command {
	var o recordOptions
	var running runningRecord
	record := &cobra.Command{
		Use:   "record FILE [SERVER | -- COMMAND [ARG...]]",
		Short: "Record the session of a client, with secrets masked",
		Long: `Serve an MCP client on stdin and stdout, and write every message of the session to a
file of readable JSON lines that 'mcp-workbench replay' can replay. Put the command into a
client's configuration in place of the server.

` + serverWords + `

Record one configured server, a command line after '--', or the whole workbench if neither
is given. With --running, record a server of a running workbench for a time instead, whoever
its clients are; Ctrl-C ends that, and the file is kept. Without FILE, it is only kept in the
state folder of the workbench.

Secrets of the configuration, members whose name says that they are secret, and
well-known kinds of tokens are replaced by ` + secret.Mask + `. Other data stays: read the file before you
share it.`,
		Example: `  mcp-workbench record session.jsonl dev/github
  mcp-workbench record session.jsonl -- npx -y @acme/mcp-server
  mcp-workbench record --running session.jsonl github --for 2m
  mcp-workbench replay session.jsonl`,
		ValidArgsFunction: completion.Recording(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			if err := running.check(cmd, &o); err != nil {
				return err
			}
			if running.running {
				return running.run(cmd.Context(), g, o, screenOf(cmd))
			}
			return runRecord(cmd.Context(), *g, o, os.Stdin, os.Stdout, os.Stderr)
		},
	}
	running.define(record)
	record.Flags().BoolVar(&o.force, "force", false, "replace the file if it exists")
	return record
}

func (o *recordOptions) parse(args []string, dash int) error {
	if dash >= 0 {
		args, o.command = args[:dash], args[dash:]
	}
	most := 2
	if dash >= 0 {
		most = 1
	}
	switch {
	case len(args) == 0:
		return &usageError{err: errors.New("record needs the name of a file or, with --running, of a server")}
	case len(args) > most:
		return &usageError{err: fmt.Errorf("record does not take '%s'; a command line comes after '--'", args[most])}
	case dash >= 0 && len(o.command) == 0:
		return &usageError{err: errors.New("there is no command after '--'")}
	}
	o.file = args[0]
	if len(args) == 2 {
		o.server = args[1]
	}
	return nil
}

// needClient rejects a terminal on stdin, since no MCP client is there. what starts the message.
func needClient(stdin *os.File, what string) error {
	if !term.IsTerminal(int(stdin.Fd())) {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.NeedsClient,
		Message: what + " an MCP client on stdin and stdout, and this is a terminal",
		Hint:    "Put the command into a client's configuration in place of the server.",
	}
}

func runRecord(ctx context.Context, g globals, o recordOptions, stdin, stdout *os.File, stderr io.Writer) (err error) {
	if err := needClient(stdin, "record serves"); err != nil {
		return err
	}
	cfg, err := g.recorded(o)
	if err != nil {
		return err
	}
	log, err := service.NewLogger(g.logLevel, cfg, stderr)
	if err != nil {
		return err
	}
	file, err := createRecording(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	loader.WriteFaults(stderr, cfg)
	workbench, err := app.New(app.Options{
		Config: cfg, Version: Version, StateDir: config.StateDir(), Log: log,
		Transparent: len(o.command) > 0 || o.server != "",
	})
	if err != nil {
		return err
	}
	recorder, err := recording.NewRecorder(file, recording.Header{
		By: "mcp-workbench " + Version, At: time.Now().UTC().Truncate(time.Second), Server: o.subject(),
	}, workbench.Mask)
	if err != nil {
		return errors.Join(recordingUnwritable(o.file, err), workbench.Stop(context.WithoutCancel(ctx)))
	}
	err = workbench.ServeStdio(ctx, recorder.Reader(wire.Pollable(stdin)), recorder.Writer(wire.Pollable(stdout)))
	err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx)))
	messages, failed := recorder.Messages()
	if failed != nil {
		failed = recordingUnwritable(o.file, fmt.Errorf("it is not complete: %w", failed))
	}
	tty.Remark(stderr, fmt.Sprintf("recorded %s in %s", toolbox.Count(messages, "message", "messages"), o.file))
	return errors.Join(err, failed)
}

// subject names what is recorded. Arguments of a command may be secret.
func (o *recordOptions) subject() string {
	switch {
	case len(o.command) > 0:
		return o.command[0]
	case o.server != "":
		return o.server
	}
	return "mcp-workbench"
}

func createRecording(o recordOptions) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(o.file, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, recordingExists(o.file, err)
	}
	if err != nil {
		return nil, recordingUnwritable(o.file, err)
	}
	return file, nil
}

func recordingExists(file string, cause error) error {
	return &toolbox.Error{
		Code: toolbox.RecordingExists, Message: file + " exists already",
		Hint: "Choose another name, or replace it with --force.", Cause: cause,
	}
}

func recordingUnwritable(file string, err error) error {
	return &toolbox.Error{
		Code: toolbox.FileNotWritten, Message: fmt.Sprintf("The recording %s cannot be written: %v", file, err), Cause: err,
		Hint: "Name a file in a folder that you can write to, with space left.",
	}
}

// recorded returns the configuration to record: a single server is served as itself.
func (g *globals) recorded(o recordOptions) (*config.Config, error) {
	if len(o.command) > 0 {
		return config.Empty().Only(config.Toolbox{Name: "recorded"}, config.Server{
			Name: "server", Command: o.command[0], Args: o.command[1:],
			Timeouts: config.Timeouts{Connect: config.DefaultConnectTimeout, Call: config.DefaultCallTimeout},
		}), nil
	}
	s, err := g.Load(nil)
	switch {
	case err != nil:
		return nil, err
	case s.Untrusted != nil && s.IsEmpty():
		return nil, &toolbox.Error{Code: toolbox.NotTrusted, Message: s.Untrusted.Notice()}
	case s.IsEmpty():
		return nil, s.Err()
	case o.server == "":
		return s.Config, nil
	}
	at, err := s.Config.Places().Find(o.server, toolbox.ServerOnly)
	if err != nil {
		return nil, err
	}
	if s.Config.IsDisabled(at) {
		return nil, console.DisabledServer(s.Config, at)
	}
	return s.Config.OnlyAt(at)
}
