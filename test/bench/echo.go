package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// lineBuffer is large enough for nearly all lines to be read in a few calls.
const lineBuffer = 1 << 20

// echo is the fastest server that is still one: it looks for what it needs in the raw
// line and answers a call with its own arguments.
type echo struct {
	modern bool
	tools  int
}

func runEcho(args []string) error {
	var e echo
	var overHTTP bool
	var issuer string
	var delay time.Duration
	flags := flag.NewFlagSet("echo", flag.ContinueOnError)
	flags.BoolVar(&e.modern, "modern", false, "speak the modern era alone")
	flags.BoolVar(&overHTTP, "http", false, "serve HTTP on a free port, which is printed")
	flags.StringVar(&issuer, "issuer", "", "over HTTP: want a token, and name this authorization server")
	flags.DurationVar(&delay, "delay", 0, "how long to take to start")
	flags.IntVar(&e.tools, "tools", 1, "how many tools to offer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	time.Sleep(delay)
	if overHTTP {
		return serveHTTP(issuer, func(_ *http.Request, line []byte) ([]byte, error) { return e.answer(nil, line), nil })
	}
	return e.serve(wire.Pollable(os.Stdin), wire.Pollable(os.Stdout))
}

func (e *echo) serve(in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, lineBuffer)
	var answer []byte
	for {
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if answer = e.answer(answer[:0], line); len(answer) > 0 {
			if _, err := out.Write(answer); err != nil {
				return err
			}
		}
	}
}

// answer appends the answer to a line; nothing to a notification.
func (e *echo) answer(answer, line []byte) []byte {
	id := idOf(line)
	if id == nil {
		return answer
	}
	head := line[:min(len(line), 200)]
	says := func(method string) bool { return bytes.Contains(head, []byte(`"`+method+`"`)) }
	if says("subscriptions/listen") {
		return fmt.Appendf(answer, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{}}}`+"\n", id)
	}
	answer = append(append(append(answer, `{"jsonrpc":"2.0","id":`...), id...), ',')
	complete, cached := "", ""
	if e.modern {
		complete, cached = `"resultType":"complete",`, `"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	}
	switch {
	case says("initialize") == e.modern && (says("initialize") || says("server/discover")):
		answer = append(answer, `"error":{"code":-32601,"message":"Method not found"}}`+"\n"...)
		return answer
	case says("initialize"):
		answer = append(answer, `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`...)
	case says("server/discover"):
		answer = append(answer, `"result":{`+cached+`"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`...)
	case says("tools/list"):
		answer = append(answer, `"result":{`+cached+`"tools":[`...)
		for i := range e.tools {
			if i > 0 {
				answer = append(answer, ',')
			}
			name := "echo"
			if i > 0 {
				name = fmt.Sprintf("tool_%d_for_%s", i, subjects[i%len(subjects)])
			}
			answer = fmt.Appendf(answer, `{"name":%q,"description":"Does what its name says with a %s","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`, name, subjects[i%len(subjects)])
		}
		answer = append(answer, "]}"...)
	default:
		answer = append(answer, `"result":{`+complete+`"content":[],"structuredContent":`...)
		answer = append(append(answer, argumentsOf(line)...), '}')
	}
	return append(answer, "}\n"...)
}

// subjects make tools that are not all alike.
var subjects = []string{"file", "calendar", "message", "database", "picture", "invoice", "repository"}

// idOf returns the number after the first "id" key. All peers here write it first.
func idOf(line []byte) []byte {
	head := line[:min(len(line), 100)]
	at := bytes.Index(head, []byte(`"id":`))
	if at < 0 {
		return nil
	}
	rest := line[at+len(`"id":`):]
	return rest[:bytes.IndexByte(rest, ',')]
}

// argumentsOf returns the innermost arguments, which hold one text without quotes.
func argumentsOf(line []byte) []byte {
	at := bytes.LastIndex(line[:min(len(line), 800)], []byte(`"arguments":{`))
	if at < 0 {
		return []byte("{}")
	}
	arguments := line[at+len(`"arguments":`):]
	const before = `{"text":"`
	if !bytes.HasPrefix(arguments, []byte(before)) {
		return []byte("{}")
	}
	return arguments[:len(before)+bytes.IndexByte(arguments[len(before):], '"')+len(`"}`)]
}

// readLine returns one line with its newline; it is valid until the next call.
func readLine(reader *bufio.Reader) ([]byte, error) {
	line, err := reader.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = reader.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// serveHTTP serves MCP over Streamable HTTP in its simplest form, until stdin ends: each
// POST is answered with JSON. It prints its address first. With an issuer, requests need a token.
func serveHTTP(issuer string, answer func(*http.Request, []byte) ([]byte, error)) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body := make([]byte, 0, max(r.ContentLength, 512)+bytes.MinRead)
		buffer := bytes.NewBuffer(body)
		if _, err := buffer.ReadFrom(r.Body); err != nil {
			return
		}
		line := append(bytes.TrimRight(buffer.Bytes(), "\n"), '\n')
		reply, err := answer(r, line)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadGateway)
		case len(reply) == 0:
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(reply)))
			_, _ = w.Write(reply)
		}
	})
	if issuer != "" {
		handler = protected(listener.Addr().String(), issuer, handler)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: handler}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
