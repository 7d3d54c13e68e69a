//go:build unix

package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// state is what the commands of one script share.
type state struct {
	env     []string
	dir     string
	pairing pairing

	*party                       // the client that the commands are about
	parties  map[string]*party   // all of them
	services map[string]*service // fakes over HTTP, by what they are
	sockets  string              // folder of the sockets of shared workbenches
	address  string              // of the workbench that listens, over HTTP
	tokens   map[string]string   // for it, by their names
	screen   *screen             // see term; nil without one
	provider *oauthtest.Provider // of logins; nil without one
	question *waiting            // the question that was seen last; see page
}

// party is one client and the workbench that it started.
type party struct {
	cmd     *exec.Cmd // the workbench; nil if none runs
	client  *mcptest.Client
	token   string // over HTTP; "" without tokens
	hangUp  func() // ends the client's side; over stdio that is the end of stdin
	exited  chan struct{}
	began   time.Time // of the end: when stdin was closed or a signal was sent
	begun   map[string]pending
	last    mcptest.Message // what checks are about
	lastIn  int             // its index among what was received
	lastOut int             // how much had been received when its request was sent
	noted   int             // notifications before this index were taken
	meta    string          // of each request, if the client is of the modern era
	asked   asked           // what was requested last
}

// as has the commands that follow be about the client of that name; the first one has none.
func (s *state) as(args []string) error {
	name := second(args, 0)
	if s.parties == nil {
		s.parties = map[string]*party{"": s.party}
	}
	if s.parties[name] == nil {
		s.parties[name] = &party{begun: make(map[string]pending)}
	}
	s.party = s.parties[name]
	return nil
}

// pending is a request that was sent.
type pending struct {
	id   string
	sent int // how much had been received by then
}

// mcp is the command of that name: a client of one workbench.
func mcp(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: mcp COMMAND [ARGS]; see README.md")
	}
	s := ts.Value(stateKey{}).(*state)
	for i, arg := range args[1:] {
		if name, ok := strings.CutPrefix(arg, "file:"); ok {
			args[i+1] = strings.TrimSuffix(ts.ReadFile(name), "\n")
		}
	}
	var err error
	if act, ok := actions[args[0]]; ok {
		if neg {
			ts.Fatalf("mcp %s cannot be negated", args[0])
		}
		err = act(s, args[1:])
	} else if check, ok := checks[args[0]]; ok {
		if len(args)-1 < check.least {
			ts.Fatalf("mcp %s takes %d arguments", args[0], check.least)
		}
		err = check.run(s, args[1:])
	} else {
		ts.Fatalf("mcp has no command '%s'", args[0])
	}
	switch {
	case err != nil && !neg:
		ts.Fatalf("%v\nlast message: %.3000s\nstderr:\n%.3000s", err, s.last.Raw, s.stderr())
	case err == nil && neg:
		ts.Fatalf("this holds, and it should not\nlast message: %.3000s", s.last.Raw)
	}
}

// actions make something happen.
var actions = map[string]func(s *state, args []string) error{
	"start":        (*state).start,
	"as":           (*state).as,
	"join":         (*state).join,
	"open":         func(s *state, args []string) error { return s.call("open_toolbox", openArguments(args), "") },
	"use":          func(s *state, args []string) error { return s.call("use_tool", useArguments(args), "") },
	"call":         func(s *state, args []string) error { return s.call(args[0], second(args, 1), second(args, 2)) },
	"begin":        (*state).beginCall,
	"await":        func(s *state, args []string) error { return s.await(s.begun[args[0]]) },
	"request":      (*state).request,
	"ask":          (*state).beginRequest,
	"retry":        (*state).retry,
	"modern":       func(s *state, args []string) error { s.meta = modernMeta(second(args, 0)); return nil },
	"send":         func(s *state, args []string) error { return s.client.Send(args[0]) },
	"reply":        func(s *state, args []string) error { return s.await(pending{id: args[0]}) },
	"notification": (*state).notification,
	"cancel":       (*state).cancel,
	"eof":          func(s *state, _ []string) error { s.began = time.Now(); s.hangUp(); return nil },
	"signal":       (*state).signal,
	"exit":         (*state).exit,
	"stop":         (*state).stop,
	"save":         (*state).save,
}

// A map that mentions itself has to be completed later.
func init() { actions["repeat"] = (*state).repeat }

// repeat does an action again and again until a check holds: ACTION… until CHECK…
func (s *state) repeat(args []string) error {
	until := slices.Index(args, "until")
	if until < 1 || until+1 >= len(args) {
		return errors.New("usage: mcp repeat ACTION [ARGS] until CHECK [ARGS]")
	}
	act, check := actions[args[0]], checks[args[until+1]]
	if act == nil || check.run == nil {
		return errors.New("there is no such action or check")
	}
	return mcptest.Eventually(replyTime, func() error {
		if err := act(s, args[1:until]); err != nil {
			return err
		}
		return check.run(s, args[until+2:])
	})
}

func second(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

func openArguments(args []string) string { return fmt.Sprintf(`{"toolbox":%q}`, args[0]) }

func useArguments(args []string) string {
	arguments := ""
	if len(args) > 3 {
		arguments = `,"arguments":` + args[3]
	}
	return fmt.Sprintf(`{"tool":{"toolbox":%q,"server":%q,"name":%q}%s}`, args[0], args[1], args[2], arguments)
}

const newestLegacy = "2025-11-25"

// start starts the workbench: [-over T] [-token NAME…] [-bearer NAME] [-raw] [-revision R] [-dir D] [NAME=value…] [FLAGS]. It
// also begins the session, unless it is raw.
func (s *state) start(args []string) error {
	raw, revision, dir, env := false, newestLegacy, s.dir, s.env
	for ; len(args) > 0; args = args[1:] {
		switch {
		case args[0] == "-raw":
			raw = true
		case args[0] == "-over":
			s.goOver(args[1])
			args = args[1:]
		case args[0] == "-token":
			if err := s.makeToken(args[1]); err != nil {
				return err
			}
			args = args[1:]
		case args[0] == "-bearer":
			if s.token = s.tokens[args[1]]; s.token == "" {
				return fmt.Errorf("no token %s was minted", args[1])
			}
			args = args[1:]
		case args[0] == "-revision":
			revision, args = args[1], args[1:]
		case args[0] == "-dir":
			dir, args = filepath.Join(s.dir, args[1]), args[1:]
		case !strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "="):
			env = append(env[:len(env):len(env)], args[0])
		default:
			return s.launch(dir, env, args, raw, revision)
		}
	}
	return s.launch(dir, env, nil, raw, revision)
}

// goOver has the client of the rest of the script be connected by another transport.
func (s *state) goOver(transport string) {
	s.pairing.above = transport
	for _, variable := range s.env {
		if folder, ok := strings.CutPrefix(variable, "XDG_RUNTIME_DIR="); ok && transport == overShared {
			s.sockets = folder
		}
	}
}

func (s *state) launch(dir string, env, args []string, raw bool, revision string) error {
	if s.cmd != nil {
		return errors.New("a workbench is running already; stop it first")
	}
	if s.pairing.above == overHTTP {
		command := []string{"serve", "--listen", "127.0.0.1:0"}
		if s.token == "" {
			command = append(command, "--no-auth")
		}
		args = append(command, args...)
	}
	if s.pairing.above == overShared {
		args = append([]string{"--shared"}, args...)
	}
	cmd := exec.Command("mcp-workbench", args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(env, []string{"PWD=" + dir})
	stderr, err := os.Create(filepath.Join(s.dir, "stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	connect := s.overStdio
	if s.pairing.above == overHTTP {
		connect = s.overHTTP
	}
	if err := connect(cmd); err != nil {
		return err
	}
	if raw {
		return nil
	}
	s.meta = "" // a session of the legacy era begins
	return s.initialize(revision)
}

// initialize begins the session.
func (s *state) initialize(revision string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	s.last, err = s.client.Initialize(ctx, revision)
	return err
}

// run starts the workbench and notes when it ends.
func (s *state) run(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.exited, s.noted = cmd, make(chan struct{}), 0
	exited := s.exited
	go func() { _ = cmd.Wait(); close(exited) }() // ExitCode tells all
	return nil
}

// overStdio starts the workbench with a client at its stdin and stdout.
func (s *state) overStdio(cmd *exec.Cmd) error {
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.run(cmd); err != nil {
		return err
	}
	s.client = mcptest.NewClient(stdin, stdout)
	s.hangUp = func() { _ = stdin.Close() } // it may be closed already
	return nil
}

func (s *state) call(name, arguments, meta string) error {
	request, err := s.begin("tools/call", callParams(name, arguments, meta))
	if err != nil {
		return err
	}
	return s.await(request)
}

func callParams(name, arguments, meta string) string {
	params := fmt.Sprintf(`{"name":%q`, name)
	if arguments != "" {
		params += `,"arguments":` + arguments
	}
	if meta != "" {
		params += `,"_meta":` + meta
	}
	return params + "}"
}

// beginCall sends a call and does not wait: LABEL NAME [ARGUMENTS [META]].
func (s *state) beginCall(args []string) error {
	request, err := s.begin("tools/call", callParams(args[1], second(args, 2), second(args, 3)))
	s.begun[args[0]] = request
	return err
}

func (s *state) begin(method, params string) (pending, error) {
	s.asked = asked{method, params}
	sent := len(s.client.Received())
	id, err := s.client.Begin(method, s.withMeta(params))
	return pending{id, sent}, err
}

func (s *state) request(args []string) error {
	request, err := s.begin(args[0], second(args, 1))
	if err != nil {
		return err
	}
	return s.await(request)
}

// await waits for a response and makes it what checks are about.
func (s *state) await(request pending) error {
	if request.id == "" {
		return errors.New("no such request was begun")
	}
	return s.take(request.sent, func(m mcptest.Message) bool { return m.Method == "" && string(m.ID) == request.id })
}

func (s *state) take(first int, fits func(mcptest.Message) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	message, index, err := s.client.Await(ctx, first, fits)
	if err != nil {
		return err
	}
	s.last, s.lastIn, s.lastOut = message, index, first
	return nil
}

// notification waits for the next notification of a method.
func (s *state) notification(args []string) error {
	if err := s.take(s.noted, func(m mcptest.Message) bool { return m.Method == args[0] }); err != nil {
		return err
	}
	s.noted = s.lastIn + 1
	return nil
}

// cancel cancels a request: LABEL [REASON].
func (s *state) cancel(args []string) error {
	reason := ""
	if len(args) > 1 {
		reason = fmt.Sprintf(`,"reason":%q`, args[1])
	}
	return s.client.Send(fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s%s}}`, s.begun[args[0]].id, reason))
}

// signal sends one, also to a program that ended already: what came of it is for the next line to tell.
func (s *state) signal(args []string) error {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}
	s.began = time.Now()
	if err := s.cmd.Process.Signal(signals[args[0]]); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
