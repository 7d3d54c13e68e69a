package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
)

// launch starts the server. Some legacy servers end when the first request is not
// initialize. One that did so is started once more, with initialize first; where that is
// not certain, the next start is like that, since the server may fail for any reason.
func (s *Server) launch(ctx context.Context) (*instance, error) {
	in, err := s.launchOnce(ctx)
	if err == nil {
		return in, nil
	}
	probe, blamed := errors.AsType[*downstream.ProbeError](err)
	if blamed && probe.Eras == downstream.BothEras {
		s.habits.learnEras(probe.Eras)
		s.log.Info("server of both eras was settled on the other one; starting it again")
		return s.launchOnce(ctx)
	}
	s.habits.initializeFirst.Store(blamed)
	if !blamed || !probe.Ended || ctx.Err() != nil {
		return nil, err
	}
	s.log.Info("server ended when it was asked for its era; starting it again without that", "reason", err)
	in, again := s.launchOnce(ctx)
	switch {
	case again == nil:
		return in, nil
	case ctx.Err() == nil:
		err = again
	}
	s.habits.initializeFirst.Store(false)
	return nil, err
}

// launchOnce starts or reaches the server, does the handshake and reads the tools. Whatever
// fails, nothing of it is left.
func (s *Server) launchOnce(ctx context.Context) (*instance, error) {
	if s.config.URL != "" {
		return s.reach(ctx)
	}
	started := time.Now()
	spec, withheld := s.spec()
	s.progress.restart(StepCommand)
	child, err := s.fleet.options.Host.Start(spec)
	if err != nil {
		if _, ok := errors.AsType[*process.CommandError](err); !ok {
			s.progress.restart(StepStart)
		}
		return nil, &Failure{reason: s.fleet.masker.Load().Mask(err.Error()), cause: err}
	}
	s.mu.Lock()
	s.last = child
	s.mu.Unlock()
	s.progress.next(StepStart, s.commandFound(child))
	s.progress.next(StepHandshake, fmt.Sprintf("process %d", child.PID()))
	in := newInstance(child)
	options := s.sessionOptions(in)
	options.Stdin, options.Stdout = child.Stdin(), child.Stdout()
	options.InputTaken = child.InputTaken
	if err = s.connect(ctx, in, options); err == nil {
		in.took = time.Since(started)
		return in, nil
	}
	s.progress.fail() // here already, since the end of the process takes its own time
	err = s.explain(child, err, s.config.Timeouts.Connect)
	if failure, ok := errors.AsType[*Failure](err); ok {
		failure.hint = mentioned(withheld, child)
	}
	s.discard(in)
	return nil, err
}

func (s *Server) sessionOptions(in *instance) downstream.Options {
	return downstream.Options{
		MaxMessage: s.maxMessage, Patience: s.config.Timeouts.Call, Version: s.fleet.options.Version,
		Capabilities: s.capabilities, Asked: s.asked, Noticed: s.noticed,
		Modern: s.modern, InitializeFirst: s.habits.startsWithInitialize(s.modern),
		ToolsChanged: func() { signal(in.changed) }, Log: s.log,
	}
}

// connect begins the instance's session and reads the tools. Even with an error there may
// be a session.
func (s *Server) connect(ctx context.Context, in *instance, options downstream.Options) (err error) {
	if in.session, err = downstream.Connect(ctx, options); err != nil {
		return err
	}
	s.progress.next(StepTools, s.agreed(in.session))
	s.habits.learnEras(in.session.Eras())
	s.setLevel(in.session)
	tools, err := s.list(ctx, in.session)
	if err != nil {
		return err
	}
	s.tellBegun(in.session) // not before: a start that fails in the middle is no news to anyone
	in.tools.Store(tools)
	s.progress.end(counted(len(tools.Tools)))
	in.ready = time.Now()
	return nil
}

// setLevel repeats the level of log messages that the one client of the session asked for
// before there was this session.
func (s *Server) setLevel(session *downstream.Session) {
	parties := s.parties()
	if len(parties) != 1 || session.Modern() || session.Capabilities().Member("logging").IsAbsent() {
		return
	}
	if level := parties[0].logLevel(); level != nil {
		session.Send(protocol.MethodSetLevel, level)
	}
}

// tellBegun tells the parties that the server knows nothing of what they did before.
func (s *Server) tellBegun(session *downstream.Session) {
	for _, p := range s.parties() {
		if p.options.Began != nil {
			p.options.Began(s.configured(), session)
		}
	}
}

// list reads the server's tools, keeps them, and notices what changed since they were last
// read.
func (s *Server) list(ctx context.Context, session *downstream.Session) (*catalog.Snapshot, error) {
	definitions, note, err := session.ListTools(ctx)
	if err != nil {
		return nil, err
	}
	snapshot := catalog.NewSnapshot(s.Name(), catalog.Listing{
		Definitions: definitions, Note: note,
		ServerVersion: session.ServerVersion(), Instructions: session.Instructions(), Capabilities: session.Capabilities(),
	}, s.config.Filter)
	s.remember(snapshot)
	return s.compare(snapshot), nil
}

// spec says how the server's process is started; withheld are the names of variables
// that it does not get.
func (s *Server) spec() (spec process.Spec, withheld []string) {
	extra := make([]string, len(s.config.Env))
	for i, variable := range s.config.Env {
		extra[i] = variable.Name + "=" + variable.Value
	}
	inherit := process.Inherit{All: s.config.InheritEnv.All, Patterns: s.config.InheritEnv.Patterns}
	spec = process.Spec{
		Command: s.config.Command, Args: s.config.Args, Dir: s.config.Dir,
		KeepDetached: s.config.KeepDetached,
		StderrLine: func(line string) {
			line = s.fleet.masker.Load().Mask(line)
			s.journal.add(line)
			s.log.Debug("server printed", "stderr", line)
		},
	}
	spec.Env, withheld = process.Environment(s.fleet.options.Environ, inherit, extra)
	if folder := cmp.Or(s.folder, s.fleet.options.Folder); folder != "" && s.minds() {
		spec.Dir = folder
		if i := slices.IndexFunc(spec.Env, func(entry string) bool { return strings.HasPrefix(entry, "PWD=") }); i >= 0 {
			spec.Env[i] = "PWD=" + folder // ours names another one
		}
	}
	if s.config.Builtin != "" {
		spec.Command = s.fleet.options.Executable
		spec.Args = append([]string{"builtin", s.config.Builtin}, s.config.Args...)
	}
	return spec, withheld
}
