package rig

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ServeArg is the first argument of a process that shall play a server.
const ServeArg = "play-server"

// role says how a server differs from one that behaves.
type role struct {
	start    func(s *server)                            // before the first line is read
	on       map[string]func(s *server, m request)      // by method, instead of the usual answer
	calls    map[string]func(s *server, m request)      // by tool, each in a goroutine of its own
	tools    string                                     // further definitions, each with a comma before it
	write    func(s *server, line []byte) (sent []byte) // changes what goes out
	stubborn bool                                       // lives on after SIGTERM and the end of stdin
}

// request is a message that the server received.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Cursor    string          `json:"cursor"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

type server struct {
	role role
	log  *os.File

	mu      sync.Mutex // guards what follows, and the writing
	extra   string     // tools that came at run time
	gone    []string   // tools that went at run time
	waiting []request
	answers chan request // to what the server asked
	cancels chan string  // ids that were cancelled
}

// Serve plays a role until its stdin ends: ROLE LOG.
func Serve(args []string) int {
	r, ok := roles()[args[0]]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown role", args[0])
		return 2
	}
	log, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s := &server{
		role: r, log: log,
		answers: make(chan request, 4096), cancels: make(chan string, 4096),
	}
	signal.Ignore(syscall.SIGPIPE)
	if r.stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	s.note("start %d", os.Getpid())
	if r.start != nil {
		r.start(s)
	}
	s.read()
	s.note("eof")
	if r.stubborn {
		forever()
	}
	return 0
}

// forever blocks without being a deadlock to the runtime.
func forever() {
	for {
		pause(time.Hour)
	}
}

// pause is a time that a server takes.
func pause(d time.Duration) { <-time.After(d) }

func (s *server) note(format string, args ...any) {
	_, _ = s.log.WriteString(fmt.Sprintf(format, args...) + "\n") // a test that needs it misses it
}

func (s *server) read() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		s.note("recv %.4096s", bytes.TrimSpace(line))
		var m request
		if json.Unmarshal(line, &m) == nil {
			s.dispatch(m)
		}
	}
}

func (s *server) dispatch(m request) {
	if handle := s.role.on[m.Method]; handle != nil {
		handle(s, m)
		return
	}
	switch m.Method {
	case "":
		s.answers <- m
	case "initialize":
		s.answer(m, greeting)
	case "ping":
		s.answer(m, `{}`)
	case "tools/list":
		s.answer(m, `{"tools":[`+s.tools()+`]}`)
	case "notifications/cancelled":
		s.cancels <- string(m.Params.RequestID)
	case "tools/call":
		go s.call(m)
	default:
		if m.ID != nil {
			s.fail(m, -32601, "method not found")
		}
	}
}

const greeting = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},` +
	`"serverInfo":{"name":"fault","version":"1"}}`

func (s *server) call(m request) {
	switch handle := s.role.calls[m.Params.Name]; {
	case handle != nil:
		handle(s, m)
	default:
		s.text(m, m.Params.Name+" "+string(m.Params.Arguments))
	}
}

func (s *server) tools() string {
	names := []string{"echo"}
	for name := range s.role.calls {
		names = append(names, name)
	}
	slices.Sort(names)
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, name := range names {
		if !slices.Contains(s.gone, name) {
			all = append(all, tool(name))
		}
	}
	return strings.Join(all, ",") + s.role.tools + s.extra
}

func tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":{"type":"object"}}`, name, name)
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string is always valid
	return string(quoted)
}

func (s *server) answer(m request, result string) {
	s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (s *server) text(m request, text string) {
	s.answer(m, `{"content":[{"type":"text","text":`+quote(text)+`}]}`)
}

func (s *server) fail(m request, code int, message string) {
	s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, code, quote(message)))
}

// ask sends a request to the client.
func (s *server) ask(id, method, params string) {
	s.line(`{"jsonrpc":"2.0","id":` + quote(id) + `,"method":` + quote(method) + `,"params":` + params + `}`)
}

func (s *server) changed() {
	s.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

func (s *server) progress(m request, n int) {
	if m.Params.Meta.Token != nil {
		s.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`,
			m.Params.Meta.Token, n))
	}
}

func (s *server) line(text string) {
	line := []byte(text + "\n")
	if s.role.write != nil {
		line = s.role.write(s, line)
	}
	s.raw(line)
}

// raw writes bytes as they are; what fails to be written has no reader.
func (s *server) raw(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = os.Stdout.Write(b)
}
