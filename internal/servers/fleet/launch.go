package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// launch starts the server. Some servers exit at the first request if it is of the other era. Such a server is started
// once more with another opening. If the era is only a possible reason for the failure, the next start uses that opening.
func (s *Server) launch(ctx context.Context) (*instance, error) {
	opening, known := s.startHints.opening(s.modern, s.canBeAsked())
	tried := []downstream.Opening{opening}
	var failure error
	for {
		in, err := s.launchOnce(ctx, opening)
		if err == nil {
			return in, nil
		}
		if errors.Is(err, errUnmarked) && ctx.Err() == nil {
			continue
		}
		if failure == nil || ctx.Err() == nil {
			failure = err
		}
		blame, blamed := errors.AsType[*downstream.OpeningError](err)
		if known || !blamed {
			s.startHints.forget()
			return nil, failure
		}
		s.startHints.learnEras(blame.Eras)
		s.startHints.setNextOpening(blame.Instead)
		if !blame.Ended || ctx.Err() != nil {
			return nil, failure
		}
		if slices.Contains(tried, blame.Instead) {
			s.startHints.forget() // it fails with each opening
			return nil, failure
		}
		s.log.Info("server ended at the first request, or refuses the client's era after it; starting it again with another one", "reason", err)
		opening = blame.Instead
		tried = append(tried, opening)
		if blame.Alone {
			tried = append(tried, downstream.InitializeOnly, downstream.ProbeOnly)
		}
	}
}

// launchOnce starts or connects to the server, does the handshake and reads the tools. After a failure nothing is left
// running.
func (s *Server) launchOnce(ctx context.Context, opening downstream.Opening) (*instance, error) {
	if s.config.URL != "" {
		return s.connectRemote(ctx, opening)
	}
	started := time.Now()
	filled, err := s.fill(ctx)
	if err != nil {
		s.progress.restart(StepCommand)
		return nil, err
	}
	spec, withheld := s.spec(filled)
	if len(withheld.Credentials) > 0 {
		s.log.Info("variables of the usual environment are withheld from the server, because their values hold credentials; 'inheritEnv' passes them", "variables", withheld.Credentials)
	}
	s.progress.restart(StepCommand)
	child, err := s.fleet.options.Host.Start(spec)
	if err != nil {
		if _, ok := errors.AsType[*process.CommandError](err); !ok {
			s.progress.restart(StepStart)
		}
		failure := &Failure{reason: s.fleet.masker.Load().Mask(err.Error()), cause: err}
		if wrong, ok := errors.AsType[*sandbox.Error](err); ok {
			failure.hint = wrong.Fix
		}
		return nil, failure
	}
	if gaps := child.Gaps(); len(gaps) > 0 {
		s.log.Warn("the sandbox of the server is not complete on this system (sandbox.bestEffort)", "missing", strings.Join(gaps, "; "))
	}
	in := newInstance(child)
	ctx, in.abort = context.WithCancel(ctx)
	defer in.abort()
	s.mu.Lock()
	s.last, s.launching = child, in
	s.mu.Unlock()
	s.fleet.memory.wake()
	s.progress.nextStep(StepStart, s.describeCommand(child))
	s.progress.nextStep(StepHandshake, fmt.Sprintf("process %d", child.PID()))
	options := s.sessionOptions(in, opening)
	options.Stdin, options.Stdout = child.Stdin(), child.Stdout()
	options.InputTaken = child.InputTaken
	if err = s.connect(ctx, in, options); err == nil {
		in.took = time.Since(started)
		return in, nil
	}
	s.progress.fail() // at once, because stopping the process takes time
	err = s.explain(child, err, s.config.Timeouts.Connect)
	if why := in.stopped.Load(); why != nil {
		s.discard(in)
		return nil, why
	}
	if failure, ok := errors.AsType[*Failure](err); ok {
		if failure.hint = s.deniedHint(child, err); failure.hint == "" {
			failure.hint = withheldHint(withheld, child)
		}
	}
	s.discard(in)
	return nil, err
}

func (s *Server) sessionOptions(in *instance, opening downstream.Opening) downstream.Options {
	return downstream.Options{
		MaxMessage: s.maxMessage, Patience: s.config.Timeouts.Call, Version: s.fleet.options.Version,
		Capabilities: s.capabilities, OnQuestion: s.handleQuestion, OnNotification: s.notificationHandler(in),
		Modern: s.modern, Opening: opening,
		ToolsChanged: func() { signal(in.changed) }, Hops: s.mark(), MarkMessages: s.mayForward(), Taps: s.taps, Log: s.log,
	}
}

// connect begins the instance's session and reads the tools. The instance may have a session even after an error.
func (s *Server) connect(ctx context.Context, in *instance, options downstream.Options) (err error) {
	if in.session, err = downstream.Connect(ctx, options); err != nil {
		return err
	}
	s.progress.nextStep(StepTools, s.describeHandshake(in.session))
	s.startHints.learnEras(in.session.Eras())
	if err := s.identify(in.session, options); err != nil {
		return err
	}
	s.setLevel(in.session)
	tools, err := s.readTools(ctx, in.session, true)
	if err != nil {
		return err
	}
	s.announceSession(in.session) // only now: clients need not know of a start that fails
	in.tools.Store(tools)
	s.startLists(ctx, in)
	s.progress.endStep(toolbox.Count(len(tools.Tools), "tool", "tools"))
	in.ready = time.Now()
	return nil
}

// setLevel sends the log level that the session's only client set before this session began.
func (s *Server) setLevel(session *downstream.Session) {
	clients := s.clients()
	if len(clients) != 1 || session.Modern() || session.Capabilities().Member("logging").IsAbsent() {
		return
	}
	if level := clients[0].logLevel(); level != nil {
		session.Send(protocol.MethodSetLevel, level)
	}
}

// announceSession notifies the clients of a new session, in which the server has none of their former state.
func (s *Server) announceSession(session *downstream.Session) {
	for _, p := range s.clients() {
		if p.options.Began != nil {
			p.options.Began(s.configured(), session)
		}
	}
}

// readTools reads and caches the server's tools, when it starts or later, and compares them with the last reading.
func (s *Server) readTools(ctx context.Context, session *downstream.Session, starts bool) (*catalog.Snapshot, error) {
	definitions, note, err := session.ListTools(ctx)
	if err != nil {
		return nil, err
	}
	snapshot := catalog.NewSnapshot(s.Name(), catalog.Listing{
		Definitions: definitions, Note: note,
		ServerVersion: session.ServerVersion(), Instructions: session.Instructions(), Capabilities: session.Capabilities(),
		ListedFor: digestOf(s.key.capabilities),
	}, s.config.Filter)
	s.logFaults(snapshot.Under(s.fleet.restrictions.Load(), s.toolbox, s.Name()).Warnings)
	snapshot = s.intern(s.compare(snapshot))
	s.remember(snapshot, starts)
	return snapshot, nil
}

// spec describes the server's process, of its definition with the secrets. withheld are the variables that it does not
// inherit.
func (s *Server) spec(filled *config.Server) (spec process.Spec, withheld process.Withheld) {
	extra := make([]string, len(filled.Env))
	for i, variable := range filled.Env {
		extra[i] = variable.Name + "=" + variable.Value
	}
	said := "" // whose instance it is, in a log of all of them
	if s.person != "" {
		said = "[" + s.personName + "] "
	}
	inherit := process.Inherit{All: s.config.InheritEnv.All, Patterns: s.config.InheritEnv.Patterns}
	spec = process.Spec{
		Command: filled.Command, Args: filled.Args, Dir: s.config.Dir,
		KeepDetached: s.config.KeepDetached,
		StderrLine: func(line string) {
			line = s.fleet.cleanServerText(line)
			s.journal.Add(said + line)
			s.log.Debug("server printed", "stderr", line)
		},
	}
	spec.Env, withheld = process.Environment(s.environ(), inherit, extra)
	if folder := cmp.Or(s.folder, s.fleet.options.Folder); folder != "" && dependsOnFolder(&s.config) {
		spec.Dir = folder
		if i := slices.IndexFunc(spec.Env, func(entry string) bool { return strings.HasPrefix(entry, "PWD=") }); i >= 0 {
			spec.Env[i] = "PWD=" + folder // the inherited value is that of the workbench
		}
	}
	spec.Sandbox = s.sandbox()
	if s.config.Builtin != "" {
		if s.person != "" {
			spec.Env = append(spec.Env, builtin.PersonVariable+"="+builtin.PersonKey(s.person))
		}
		spec.Command = s.fleet.options.Executable
		spec.Args = append([]string{"builtin", s.config.Builtin}, s.config.Args...)
	}
	return spec, withheld
}
