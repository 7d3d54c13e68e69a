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

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

func newTry(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "try [TOOLBOX]",
		Short: "Open a toolbox here in the terminal, list its tools and call one",
		Long: `Do in the terminal what a client does: open a toolbox, list its tools, call one that
needs no arguments and changes nothing, and say how long each step took. The first
toolbox is taken if none is named.`,
		ValidArgsFunction: completeOne(completeToolboxes(g)),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("try takes one toolbox, not %d", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTry(cmd.Context(), *g, strings.Join(args, ""), cmd.OutOrStdout(), os.Stderr)
		},
	}
}

func runTry(ctx context.Context, g globals, name string, out, stderr io.Writer) (err error) {
	cfg, log, err := g.loadForTerminal(ctx, out, stderr)
	if err != nil {
		return err
	}
	box, err := chooseToolbox(cfg, name)
	if err != nil {
		return err
	}
	cfg.ToolMode = config.Proxy // which is what is shown here
	cfg.Prefetch = false        // it ends too soon for that
	workbench, err := app.New(app.Options{Config: cfg, Version: Version, StateDir: stateDir(), Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	t := trial{out: out, box: box.Name}
	if err := t.run(ctx, workbench); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", clientSnippet(cfg))
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
		return config.Toolbox{}, &toolbox.Error{Message: "No toolboxes configured", Hint: "Add one to " + cfg.Path + "."}
	}
	return config.Toolbox{}, &toolbox.Error{
		Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name),
		Hint:    "Available toolboxes: " + strings.Join(names, ", "),
	}
}

// trial is one run of the main job: a client of its own, connected to a workbench in the
// same process as any other client would be.
type trial struct {
	out     io.Writer
	box     string
	session *mcp.ClientSession
}

func (t *trial) run(ctx context.Context, workbench *app.App) error {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- workbench.ServeStdio(ctx, toServer, fromServer) }()

	began := time.Now()
	client := mcp.NewClient(&mcp.Implementation{Name: "mcp-workbench-try", Version: Version}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			t.progress(request.Params)
		},
	})
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		return errors.Join(err, <-served)
	}
	t.session = session
	t.step(began, "initialize", "the workbench answered")
	err = t.openAndCall(ctx)
	return errors.Join(err, session.Close(), <-served)
}

func (t *trial) openAndCall(ctx context.Context) error {
	fmt.Fprintf(t.out, "Opening toolbox '%s'…\n", t.box)
	began := time.Now()
	answer, err := t.call(ctx, "open_toolbox", map[string]any{"toolbox": t.box})
	if err != nil {
		return err
	}
	opened, err := wire.ParseValue([]byte(answer))
	if err != nil {
		return fmt.Errorf("open_toolbox answered with something unexpected: %w", err)
	}
	tools := offered(opened)
	t.step(began, "open_toolbox", fmt.Sprintf("%s connected, %s",
		count(atoi(opened.Member("servers_connected")), "server", "servers"), count(len(tools), "tool", "tools")))
	for _, key := range []string{"_errors", "_warnings"} {
		for text := range opened.Member(key).Elements() {
			problem, _ := text.Text()
			fmt.Fprintf(t.out, "  %s: %s\n", strings.Trim(key, "_s"), problem)
		}
	}
	t.list(tools)
	return t.use(ctx, tools)
}

// offeredTool is a tool in the answer of open_toolbox.
type offeredTool struct {
	catalog.Tool
	server string
}

func offered(opened wire.Payload) (tools []offeredTool) {
	for definition := range opened.Member("tools").Elements() {
		name, _ := definition.Member("name").Text()
		server, _ := definition.Member("server").Text()
		tools = append(tools, offeredTool{catalog.Tool{Name: name, Definition: definition}, server})
	}
	return tools
}

func (t *trial) list(tools []offeredTool) {
	server := ""
	for _, tool := range tools {
		if tool.server != server {
			server = tool.server
			fmt.Fprintf(t.out, "\n  %s\n", server)
		}
		fmt.Fprintf(t.out, "    %s\n", tool.Signature())
	}
	fmt.Fprintln(t.out)
}

// use calls the first tool that is safe to call without knowing what it is for.
func (t *trial) use(ctx context.Context, tools []offeredTool) error {
	for _, tool := range tools {
		readOnly := string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
		required := 0
		for range tool.Definition.Member("inputSchema").Member("required").Elements() {
			required++
		}
		if !readOnly || required > 0 {
			continue
		}
		fmt.Fprintf(t.out, "Calling '%s' of server '%s'…\n", tool.Name, tool.server)
		began := time.Now()
		answer, err := t.call(ctx, "use_tool", map[string]any{
			"tool":      map[string]any{"toolbox": t.box, "server": tool.server, "name": tool.Name},
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

// call calls a tool of the workbench and returns its text; an error result is an error.
func (t *trial) call(ctx context.Context, name string, arguments map[string]any) (string, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	params.SetProgressToken(name)
	result, err := t.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if result.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

// progress shows what a long step is waiting for.
func (t *trial) progress(params *mcp.ProgressNotificationParams) {
	if params.Message != "" {
		fmt.Fprintf(t.out, "  %v/%v %s\n", params.Progress, params.Total, params.Message)
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

func atoi(number wire.Payload) (n int) {
	_ = json.Unmarshal(number.Bytes(), &n) // absent is zero
	return n
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
	if cfg.Path != "" {
		server.Args = []string{"--config", cfg.Path}
	}
	snippet, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"workbench": server}}, "  ", "  ")
	if err != nil {
		return ""
	}
	return "To use it from an MCP client, put this into the client's configuration:\n\n  " + string(snippet) + "\n"
}
