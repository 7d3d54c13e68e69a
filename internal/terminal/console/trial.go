package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Try acts like a client: it opens a toolbox, lists its tools, and calls one that is safe to call. Without a name it
// uses the first toolbox. A tool that is not built in is only called if the person agrees, or if confirmed.
func (c *Console) Try(ctx context.Context, name string, confirmed bool) (err error) {
	box, err := c.chooseToolbox(name)
	if err != nil {
		return err
	}
	t := trial{out: tty.Cleaned(c.Out), screen: c.Out, box: box.Name, confirmed: confirmed, builtin: make(map[string]bool)}
	for _, server := range box.Servers {
		t.builtin[server.Name] = server.Builtin != ""
	}
	began := time.Now()
	if t.session, err = c.Open(ctx, c.Config, Handlers{Progress: t.progress}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.session.Close(ctx)) }()
	t.printStep(began, "initialize", "the workbench answered")
	return t.openAndCall(ctx)
}

// chooseToolbox returns the named toolbox, or the first without a name.
func (c *Console) chooseToolbox(name string) (config.Toolbox, error) {
	cfg := c.Config
	var names []string
	for _, box := range cfg.Toolboxes {
		switch {
		case box.Name == name && box.IsDisabled():
			return box, c.disabledToolbox(name)
		case box.Name == name || name == "" && !box.IsDisabled():
			return box, nil
		case !box.IsDisabled():
			names = append(names, box.Name)
		}
	}
	if len(names) == 0 && len(cfg.Toolboxes) > 0 {
		return config.Toolbox{}, c.nothingConfigured()
	}
	if len(names) == 0 {
		return config.Toolbox{}, &toolbox.Error{Code: toolbox.NoToolboxes, Message: "No toolboxes configured", Hint: "Add one to " + loader.JoinFiles(cfg, " or ") + "."}
	}
	hint := "Available toolboxes: " + strings.Join(names, ", ")
	if near := toolbox.Nearest(name, names, toolbox.MaxNear); len(near) > 0 {
		hint = toolbox.Meant(near)
	}
	return config.Toolbox{}, &toolbox.Error{Code: toolbox.ToolboxNotFound, Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name), Hint: hint}
}

// trial opens a toolbox and calls one of its tools, like a client.
type trial struct {
	out       io.Writer
	screen    *tty.Screen // where a person can be asked
	box       string
	builtin   map[string]bool // the servers that come with the workbench, by name
	confirmed bool            // any tool may be called that is said to change nothing
	session   *Session
}

func (t *trial) openAndCall(ctx context.Context) error {
	fmt.Fprintf(t.out, "Opening toolbox '%s'…\n", t.box)
	began := time.Now()
	answer, err := t.session.Ask(ctx, "open_toolbox", map[string]any{"toolbox": t.box, "detail": "full"})
	if _, ok := errors.AsType[*ResultError](err); ok {
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
	offer, err := Offered(answer)
	if err != nil {
		return err
	}
	t.printStep(began, "open_toolbox", fmt.Sprintf("%s connected, %s",
		toolbox.Count(offer.Servers, "server", "servers"), toolbox.Count(len(offer.Tools), "tool", "tools")))
	for _, remark := range offer.Remarks {
		fmt.Fprintf(t.out, "  %s\n", remark)
	}
	t.printTools(offer.Tools)
	return t.callSafeTool(ctx, offer.Tools)
}

func (t *trial) printTools(tools []OfferedTool) {
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

// callSafeTool calls the first read-only tool without required arguments. A tool that comes with the workbench is
// preferred: that it only reads is known, and not just said by its server.
func (t *trial) callSafeTool(ctx context.Context, tools []OfferedTool) error {
	var safe, revealing []OfferedTool
	for _, tool := range tools {
		switch {
		case !isSafe(tool):
		case showsSecrets.MatchString(tool.Name):
			revealing = append(revealing, tool)
		default:
			safe = append(safe, tool)
		}
	}
	switch {
	case len(safe) == 0 && len(revealing) > 0:
		fmt.Fprintf(t.out, "No tool was called: '%s' changes nothing and needs no arguments, but may show secrets.\n", revealing[0].Name)
		return nil
	case len(safe) == 0:
		fmt.Fprintln(t.out, "No tool here is marked read-only and needs no arguments, so none was called.")
		return nil
	}
	tool := safe[max(0, slices.IndexFunc(safe, func(tool OfferedTool) bool { return t.builtin[tool.Server] }))]
	if agreed, err := t.mayCall(ctx, tool); err != nil || !agreed {
		return err
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
	t.printStep(began, "use_tool", "it answered")
	fmt.Fprintln(t.out, indent(answer))
	return nil
}

// showsSecrets fits names of tools whose result is likely to hold secrets, such as all variables of the environment.
var showsSecrets = regexp.MustCompile(`(?i)env|secret|token|credential|passw|key`)

// isSafe reports whether a tool is said to change nothing, and can be called without arguments.
func isSafe(tool OfferedTool) bool {
	for range tool.Definition.Member("inputSchema").Member("required").Elements() {
		return false
	}
	return string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
}

// mayCall reports whether a tool may be called: one of the workbench itself, or one that a person agrees to.
func (t *trial) mayCall(ctx context.Context, tool OfferedTool) (bool, error) {
	if t.confirmed || t.builtin[tool.Server] {
		return true, nil
	}
	agreed, err := t.screen.Confirm(ctx, tty.CleanLine(fmt.Sprintf("Call '%s'? Its server '%s' says that it changes nothing.", tool.Name, tool.Server)), false)
	switch {
	case errors.Is(err, tty.ErrNobody):
		fmt.Fprintf(t.out, "'%s' of server '%s' is said to change nothing. It was not called, since nobody can be asked here; to call it: %s\n",
			tool.Name, tool.Server, trust.Quote("mcp-workbench", "try", t.box, "--yes"))
		return false, nil
	case err == nil && !agreed:
		fmt.Fprintln(t.out, "No tool was called.")
	}
	return agreed, err
}

// progress prints what a long step waits for.
func (t *trial) progress(params wire.Payload) {
	if message, _ := params.Member("message").Text(); message != "" {
		fmt.Fprintf(t.out, "  %s/%s %s\n", params.Member("progress").Bytes(), params.Member("total").Bytes(), message)
	}
}

func (t *trial) printStep(began time.Time, name, what string) {
	fmt.Fprintf(t.out, "  %-13s %8s  %s\n", name, shortTime(time.Since(began)), what)
}

// shortTime writes a duration with the digits that matter.
func shortTime(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	}
	if d < time.Second {
		return fmt.Sprintf("%.0fms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// maxShown is the number of lines shown of a tool's result.
const maxShown = 12

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("… and %d more lines", more))
	}
	return "    " + strings.Join(lines, "\n    ")
}
