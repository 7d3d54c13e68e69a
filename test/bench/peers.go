package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// lineBuffer is large enough for nearly all lines to be read in a few calls.
const lineBuffer = 1 << 20

// echo is the fastest server that is still one: it looks for what it needs in the raw
// line and answers a call with its own arguments.
func echo(in io.Reader, out io.Writer) error {
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
		id := idOf(line)
		if id == nil {
			continue // a notification
		}
		answer = append(append(append(answer[:0], `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
		switch {
		case bytes.Contains(line[:min(len(line), 200)], []byte(`"initialize"`)):
			answer = append(answer, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`...)
		case bytes.Contains(line[:min(len(line), 200)], []byte(`"tools/list"`)):
			answer = append(answer, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`...)
		default:
			answer = append(answer, `{"content":[],"structuredContent":`...)
			answer = append(append(answer, argumentsOf(line)...), '}')
		}
		if _, err := out.Write(append(answer, "}\n"...)); err != nil {
			return err
		}
	}
}

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

// argumentsOf returns the arguments, which all peers here write last.
func argumentsOf(line []byte) []byte {
	at := bytes.LastIndex(line[:min(len(line), 400)], []byte(`"arguments":`))
	if at < 0 {
		return []byte("{}")
	}
	return bytes.TrimRight(line[at+len(`"arguments":`):len(line)-3], "\n")
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

// pump starts an echo server and forwards lines both ways: the floor for any process
// that stands between a client and a server.
func pump(in io.Reader, out io.Writer) error {
	server, err := start(os.Args[0], "echo")
	if err != nil {
		return err
	}
	down := make(chan error, 1)
	go func() {
		down <- forward(bufio.NewReaderSize(in, lineBuffer), server.stdin)
		server.stdin.Close()
	}()
	err = forward(server.stdout, out)
	return errors.Join(err, <-down, server.wait())
}

func forward(from *bufio.Reader, to io.Writer) error {
	for {
		line, err := readLine(from)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// peer is a child process that speaks lines.
type peer struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	lastID  int
}

func start(command string, args ...string) (*peer, error) {
	p := &peer{command: exec.Command(command, args...)}
	p.command.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReaderSize(stdout, lineBuffer)
	return p, p.command.Start()
}

// ask sends a request and returns its answer, past any notifications.
func (p *peer) ask(method, params string) ([]byte, error) {
	p.lastID++
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.lastID, method, params)
	return p.exchange(request)
}

func (p *peer) exchange(request []byte) ([]byte, error) {
	if _, err := p.stdin.Write(request); err != nil {
		return nil, err
	}
	for {
		line, err := readLine(p.stdout)
		if err != nil || idOf(line) != nil {
			return line, err
		}
	}
}

func (p *peer) initialize() error {
	_, err := p.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// stop closes the peer's input and waits for its end.
func (p *peer) stop() error {
	p.stdin.Close()
	return p.wait()
}

func (p *peer) wait() error { return p.command.Wait() }
