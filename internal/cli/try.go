package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

func newTry(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "try [TOOLBOX]",
		Short: "Open a toolbox in the terminal and call one of its tools",
		Long: `Do in the terminal what a client does: open a toolbox, list its tools, call one that
needs no arguments and changes nothing, and say how long each step took. The first
toolbox is taken if none is named.`,
		Example: `  mcp-workbench try
  mcp-workbench try dev`,
		ValidArgsFunction: completeOne(completeToolboxes(g)),
		Args:              atMostOne("one toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTry(cmd.Context(), *g, strings.Join(args, ""), cmd.OutOrStdout(), os.Stderr)
		},
	}
}

func runTry(ctx context.Context, g globals, name string, out, stderr io.Writer) (err error) {
	loaded, log, err := g.loadForTerminal(ctx, out, stderr)
	if err != nil {
		return err
	}
	cfg := loaded.Config
	box, err := chooseToolbox(cfg, name)
	if err != nil {
		return err
	}
	c := console.New(console.Options{
		Config: cfg, Version: Version, StateDir: config.StateDir(), Log: log,
		Out: tty.New(out, nil, os.Getenv), Err: tty.New(stderr, nil, os.Getenv),
	})
	t := trial{out: tty.Cleaned(out), box: box.Name}
	began := time.Now()
	if t.session, err = c.Open(ctx, cfg, console.Handlers{Progress: t.progress}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.session.Close(ctx)) }()
	t.step(began, "initialize", "the workbench answered")
	if err := t.openAndCall(ctx); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\n%s", clientSnippet(cfg))
	return nil
}

func chooseToolbox(cfg *config.Config, name string) (config.Toolbox, error) {
	var names []string
	for _, box := range cfg.Toolboxes {
		if box.Name == name || name == "" {
			return box, nil
		}
		names = append(names, box.Name)
	}
	if len(names) == 0 {
		return config.Toolbox{}, &toolbox.Error{Code: toolbox.NoToolboxes, Message: "No toolboxes configured", Hint: "Add one to " + loader.JoinFiles(cfg, " or ") + "."}
	}
	return config.Toolbox{}, &toolbox.Error{
		Code:    toolbox.ToolboxNotFound,
		Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name),
		Hint:    "Available toolboxes: " + strings.Join(names, ", "),
	}
}

// trial is one run of the main job.
type trial struct {
	out     io.Writer
	box     string
	session *console.Session
}

func (t *trial) openAndCall(ctx context.Context) error {
	fmt.Fprintf(t.out, "Opening toolbox '%s'…\n", t.box)
	began := time.Now()
	answer, err := t.session.Ask(ctx, "open_toolbox", map[string]any{"toolbox": t.box, "detail": "full"})
	if _, ok := errors.AsType[*console.ResultError](err); ok {
		return &toolbox.Error{
			Code:    toolbox.ServersFailed,
			Message: err.Error(),
			Hint:    "See how far each server gets, and what to do: " + trust.Quote("mcp-workbench", "doctor", t.box),
			Cause:   err,
		}
	}
	if err != nil {
		return err
	}
	offer, err := console.Offered(answer)
	if err != nil {
		return err
	}
	t.step(began, "open_toolbox", fmt.Sprintf("%s connected, %s",
		toolbox.Count(offer.Servers, "server", "servers"), toolbox.Count(len(offer.Tools), "tool", "tools")))
	for _, remark := range offer.Remarks {
		fmt.Fprintf(t.out, "  %s\n", remark)
	}
	t.list(offer.Tools)
	return t.use(ctx, offer.Tools)
}

func (t *trial) list(tools []console.OfferedTool) {
	server := ""
	for _, tool := range tools {
		if tool.Server != server {
			server = tool.Server
			fmt.Fprintf(t.out, "\n  %s\n", server)
		}
		fmt.Fprintf(t.out, "    %s\n", tool.Signature())
	}
	fmt.Fprintln(t.out)
}

// use calls the first tool that is safe to call without knowing what it is for.
func (t *trial) use(ctx context.Context, tools []console.OfferedTool) error {
	for _, tool := range tools {
		readOnly := string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
		required := 0
		for range tool.Definition.Member("inputSchema").Member("required").Elements() {
			required++
		}
		if !readOnly || required > 0 {
			continue
		}
		fmt.Fprintf(t.out, "Calling '%s' of server '%s'…\n", tool.Name, tool.Server)
		began := time.Now()
		answer, err := t.session.Ask(ctx, "use_tool", map[string]any{
			"tool":      map[string]any{"toolbox": t.box, "server": tool.Server, "name": tool.Name},
			"arguments": map[string]any{},
		})
		if err != nil {
			return err
		}
		t.step(began, "use_tool", "it answered")
		fmt.Fprintln(t.out, indent(answer))
		return nil
	}
	fmt.Fprintln(t.out, "No tool here says that it changes nothing and needs no arguments, so none was called.")
	return nil
}

// progress shows what a long step is waiting for.
func (t *trial) progress(params wire.Payload) {
	if message, _ := params.Member("message").Text(); message != "" {
		fmt.Fprintf(t.out, "  %s/%s %s\n", params.Member("progress").Bytes(), params.Member("total").Bytes(), message)
	}
}

func (t *trial) step(began time.Time, name, what string) {
	fmt.Fprintf(t.out, "  %-13s %8s  %s\n", name, time.Since(began).Round(10*time.Microsecond), what)
}

// maxShown is how many lines of a tool's answer are shown.
const maxShown = 12

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("… and %d more lines", more))
	}
	return "    " + strings.Join(lines, "\n    ")
}

// clientSnippet is what to paste into a client's configuration.
func clientSnippet(cfg *config.Config) string {
	executable, err := os.Executable()
	if err != nil {
		executable = "mcp-workbench"
	}
	server := struct {
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
	}{Command: executable}
	if cfg.Path != "" && cfg.ProjectPath() == "" { // a file that is named stands alone
		server.Args = []string{"--config", cfg.Path}
	}
	snippet, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"workbench": server}}, "  ", "  ")
	if err != nil {
		return ""
	}
	return "To use it from an MCP client: mcp-workbench connect\nOr put this into the client's configuration:\n\n  " + string(snippet) + "\n"
}
