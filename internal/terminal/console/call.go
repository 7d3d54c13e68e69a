package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/localclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
)

// CallOptions are the options of Call.
type CallOptions struct {
	Ref     string
	Words   []string // see arguments.Parse
	Stdin   io.Reader
	JSON    bool          // print the unchanged result
	Folder  string        // for files; "": the working folder
	Timeout time.Duration // of the call; 0: the configured one
	Roots   []string      // folders for the server

	// Login logs in to a server that needs it; nil: nobody logs in.
	Login func(ctx context.Context, toolbox, server string) error
	// LoginProblem returns why the login that is kept for a server cannot be used, or nil; must not be nil itself. The workbench that is asked
	// may be another process, whose text does not tell.
	LoginProblem func(toolbox, server string) error
}

// Call calls a tool and shows its result.
func (c *Console) Call(ctx context.Context, options CallOptions) error {
	err := c.callWithLogins(ctx, options)
	if refused, ok := errors.AsType[*denied](err); ok {
		if unrecorded := c.recordDenied(ctx, refused); unrecorded != nil {
			c.Log.Error("the refused call is not recorded", "reason", unrecorded)
		}
	}
	return err
}

func (c *Console) callOnce(ctx context.Context, options CallOptions) (err error) {
	at, err := c.locate(ctx, options.Ref, options.Login != nil)
	if err != nil {
		return err
	}
	c.warnOfFaults(at)
	wasListed, err := c.isCached(ctx, at, options.Ref)
	if err != nil {
		return err
	}
	r := &activeCall{Console: c, at: at, bar: c.Err.Bar(), logsIn: options.Login != nil, loginProblem: options.LoginProblem, wasListed: wasListed}
	defer r.bar.Clear()
	r.bar.Say("starting server '" + at.Server + "'…")
	session, err := c.OpenShared(ctx, []place{at}, Handlers{
		Progress: r.progress, Log: r.log, Elicit: r.elicit,
		// Declared even without roots, since some servers offer other tools to clients without that capability. There
		// are no default roots: servers would replace their configured folders with them.
		Roots: func() []string {
			r.askedRoots.Store(len(options.Roots) > 0)
			return options.Roots
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close(ctx)) }()
	tool, err := r.open(ctx, session, options.Ref)
	if err != nil {
		return err
	}
	r.bar.Clear()
	if slices.Contains(options.Words, "-") && c.Err.IsInteractive() {
		fmt.Fprintln(c.Err, "Type the arguments as a JSON object, and end with Ctrl-D:")
	}
	options.Stdin = interruptible{ctx, options.Stdin}
	encoded, err := c.arguments(entry{at, tool}, options)
	if err != nil {
		return err
	}
	r.bar.Say("calling '" + tool.Name + "'…")
	result, err := r.call(ctx, session, tool, encoded, options.Timeout)
	r.bar.Clear()
	if err != nil {
		return err
	}
	if refused := c.resultNeedsLogin(entry{at, tool}, result, options.JSON, options.Login != nil); refused != nil {
		return refused
	}
	err = c.show(result, entry{at, tool}, options)
	if failed, ok := errors.AsType[*toolbox.Error](err); ok && failed.Code == toolbox.ToolError && r.askedRoots.Load() {
		failed.Hint += "\nThe server asked for the folders of --root, and may use those instead of its configured ones. To leave it those, call without --root."
	}
	return err
}

// isCached reports whether a tool is in the cached list of a server.
func (c *Console) isCached(ctx context.Context, at place, ref string) (bool, error) {
	known, err := app.Remembered(ctx, restrictTo(c.Config, []place{at}), c.StateDir)
	return len(match(ref, catalogue(known).entries())) > 0, err
}

// interruptible reads until a context ends. A pending read then continues until the program ends.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (r interruptible) Read(into []byte) (int, error) {
	type chunk struct {
		data []byte
		err  error
	}
	read := make(chan chunk, 1)
	go func() {
		data := make([]byte, len(into))
		n, err := r.in.Read(data)
		read <- chunk{data[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case c := <-read:
		return copy(into, c.data), c.err
	}
}

// restrictTo returns the configuration with some of its servers: a call needs no others.
func restrictTo(cfg *config.Config, servers []place) *config.Config {
	reduced := *cfg
	reduced.Toolboxes = nil
	for _, box := range cfg.Toolboxes {
		all := box.Servers
		box.Servers = nil
		for _, server := range all {
			if slices.Contains(servers, place{box.Name, server.Name}) {
				box.Servers = append(box.Servers, server)
			}
		}
		if len(box.Servers) > 0 {
			reduced.Toolboxes = append(reduced.Toolboxes, box)
		}
	}
	return &reduced
}

// activeCall is the state of one call that the person sees.
type activeCall struct {
	*Console
	at  place
	bar *tty.Bar
	questionQueue

	logsIn       bool                               // a login is part of this command
	loginProblem func(toolbox, server string) error // see CallOptions
	askedRoots   atomic.Bool                        // the server requested the roots
	wasListed    bool                               // the tool was in the cached list of the server
}

// open connects the server and returns the current definition of the tool.
func (r *activeCall) open(ctx context.Context, session *Session, ref string) (catalog.Tool, error) {
	answer, err := session.Ask(ctx, "open_toolbox", map[string]any{"toolbox": r.at.Toolbox, "detail": "full"})
	if ctx.Err() != nil {
		return catalog.Tool{}, ctx.Err()
	}
	if err != nil {
		if needed := r.needsLogin(ref, r.at, err.Error()); needed != nil {
			return catalog.Tool{}, needed
		}
		if refused := refusedForGood(ref, err.Error()); refused != nil {
			return catalog.Tool{}, refused
		}
		if problem := r.loginProblem(r.at.Toolbox, r.at.Server); problem != nil {
			return catalog.Tool{}, problem
		}
		return catalog.Tool{}, &toolbox.Error{
			Code: toolbox.ServersUnreachable, Message: tty.Clean(err.Error()),
			Hint: "To look at the server step by step: " + trust.Command(r.Config, "doctor", r.at.String()), Cause: err,
		}
	}
	offered, err := Offered(answer)
	if err != nil {
		return catalog.Tool{}, err
	}
	var entries []entry
	for _, tool := range offered.Tools {
		entries = append(entries, entry{r.at, tool.Tool})
	}
	found := match(ref, entries)
	if len(found) == 0 {
		if err := r.deniedAmong(ctx, ref, []place{r.at}); err != nil {
			return catalog.Tool{}, err
		}
		r.warn(offered.Remarks, ref[strings.LastIndexByte(ref, '/')+1:])
		return catalog.Tool{}, r.notOffered(ref, entries)
	}
	r.warn(offered.Remarks, found[0].tool.Name)
	return found[0].tool, nil
}

// notOffered is the error for a tool that the server does not offer to this command.
func (r *activeCall) notOffered(ref string, offered []entry) error {
	err := notFound("tool", ref, nearest(ref, offered), nil)
	if unknown, ok := errors.AsType[*toolbox.Error](err); ok && r.wasListed {
		unknown.Message = fmt.Sprintf("Server '%s' does not offer the tool '%s' to this command", r.at, ref)
		unknown.Hint = "It was listed for a client that can do more, such as sampling, or the server has changed. To see what it offers here: " +
			trust.Command(r.Config, "tools", r.at.String(), "--refresh")
	}
	return err
}

// warn prints warnings about a tool, such as a changed definition.
func (r *activeCall) warn(remarks []string, tool string) {
	for _, remark := range remarks {
		if strings.Contains(remark, "'"+tool+"'") {
			r.bar.Clear()
			fmt.Fprintln(r.Err, r.Err.Paint(tty.Caution, tty.CleanLine(remark)))
		}
	}
}

// arguments makes the arguments of a call, and rejects invalid ones.
func (c *Console) arguments(e entry, options CallOptions) ([]byte, error) {
	inputSchema := e.tool.Definition.Member("inputSchema")
	usage := "It takes: " + tty.CleanLine(e.tool.Signature()) + "\nFor all about it: mcp-workbench show " + e.Ref()
	encoded, err := arguments.Parse(options.Words, inputSchema, options.Stdin)
	if wrong, ok := errors.AsType[*toolbox.Error](err); ok {
		wrong.Hint = strings.TrimPrefix(wrong.Hint+"\n"+usage, "\n")
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	problems, notes := arguments.Check(encoded, inputSchema)
	for _, note := range notes {
		fmt.Fprintln(c.Err, c.Err.Paint(tty.Caution, "note:")+" "+tty.Clean(note))
	}
	if len(problems) > 0 {
		return nil, &toolbox.Error{Code: toolbox.ArgumentsInvalid, Message: tty.Clean(strings.Join(problems, "\n  ")), Hint: usage}
	}
	return encoded, nil
}

// useTool returns the arguments of use_tool for a call of a tool, which may have none.
func useTool(ref toolbox.Ref, arguments []byte) []byte {
	params := wire.AppendMember([]byte(`{"tool":{`), "toolbox", ref.Toolbox)
	params = wire.AppendMember(params, "server", ref.Server)
	params = append(wire.AppendMember(params, "name", ref.Name), '}')
	if arguments != nil {
		params = append(append(params, `,"arguments":`...), arguments...)
	}
	return append(params, '}')
}

func (r *activeCall) call(ctx context.Context, session *Session, tool catalog.Tool, encoded []byte, timeout time.Duration) (wire.Payload, error) {
	within := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	result, err := session.Call(within, "use_tool", useTool(toolbox.Ref{Toolbox: r.at.Toolbox, Server: r.at.Server, Name: tool.Name}, encoded))
	ref := entry{r.at, tool}.Ref()
	switch failure, refused := errors.AsType[*localclient.Error](err); {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, ctx.Err()
	case within.Err() != nil:
		return result, &toolbox.Error{
			Code: toolbox.CallTimedOut, Message: fmt.Sprintf("Tool '%s' did not answer within %s, and was cancelled", ref, timeout),
			Hint: "Give it more time with --timeout, such as --timeout 5m.",
		}
	case refused && failure.Code == protocol.CodeURLElicitationRequired:
		return result, visitFirst(ref, failure)
	default:
		return result, &toolbox.Error{Code: toolbox.CallFailed, Message: fmt.Sprintf("Tool '%s' could not be called: %s", ref, tty.Clean(err.Error())), Cause: err}
	}
}

// visitFirst handles a tool that requires a visit to a page before it can be used.
func visitFirst(ref string, failure *localclient.Error) error {
	hint := "Visit it if you trust the server, and call the tool again."
	for page := range failure.Data.Member("elicitations").Elements() {
		hint += "\n" + tty.CleanLine(text(page.Member("url"))+"  "+text(page.Member("message")))
	}
	return &toolbox.Error{
		Code:    toolbox.CallFailed,
		Message: fmt.Sprintf("Tool '%s' wants you to visit a page first: %s", ref, tty.CleanLine(failure.Message)),
		Hint:    hint, Cause: failure,
	}
}
