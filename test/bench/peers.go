package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// peer is a child process that speaks lines, or HTTP if it has an address.
type peer struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	lastID  int

	address string
	session string // over HTTP
	bearer  string // the token that requests have over HTTP; "" for none
	http    *http.Client
	modern  bool
}

func start(command string, args ...string) (*peer, error) {
	p := newPeer(command, args...)
	return p, p.launch()
}

func (p *peer) launch() error {
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		return err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.stdout = bufio.NewReaderSize(stdout, lineBuffer)
	return p.command.Start()
}

// startHTTP starts a peer of ours that prints its address.
func startHTTP(command string, args ...string) (*peer, error) {
	p, err := start(command, args...)
	if err != nil {
		return nil, err
	}
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return nil, err
	}
	p.connect(strings.TrimSpace(line))
	return p, nil
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// startServe starts a workbench that serves HTTP, and waits until it does. Without a token it requires none.
func startServe(env []string, binary, bearer string, args ...string) (*peer, error) {
	p := &peer{bearer: bearer}
	if bearer == "" {
		args = append(args, "--no-auth")
	}
	p.command = exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	p.command.Env = env
	reader, writer := io.Pipe()
	p.command.Stderr = writer
	found := make(chan string, 1)
	go func() { // ends with the process
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			if match := listening.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
			}
		}
	}()
	if err := p.launch(); err != nil {
		return nil, err
	}
	select {
	case address := <-found:
		p.connect(address)
		return p, nil
	case <-time.After(20 * time.Second):
		return nil, fmt.Errorf("%s serve does not listen", binary)
	}
}

func (p *peer) connect(address string) {
	p.address = address
	p.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}}
}

// modernMeta is what each request of the modern era says.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request builds one; params are an object without its closing brace.
func (p *peer) request(id int, method, params string) []byte {
	meta := ""
	if p.modern {
		meta = modernMeta
		if !strings.HasSuffix(params, "{") {
			meta = "," + meta
		}
	}
	line := make([]byte, 0, len(params)+len(meta)+100)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, int64(id), 10)
	line = append(line, `,"method":"`+method+`","params":`...)
	line = append(line, params...)
	line = append(line, meta...)
	return append(line, "}}\n"...)
}

// ask sends a request and returns its answer, past any notifications.
func (p *peer) ask(method, params string) ([]byte, error) {
	p.lastID++
	name, _ := strings.CutPrefix(params, `{"name":"`) // in a header of the modern era
	name, _, named := strings.Cut(name, `"`)
	if method != "tools/call" || !named {
		name = ""
	}
	answer, err := p.exchange(p.request(p.lastID, method, params), method, name)
	if err == nil && bytes.Contains(answer[:min(len(answer), 60)], []byte(`"error"`)) {
		err = fmt.Errorf("%s was answered with %.300s", method, answer)
	}
	return answer, err
}

// exchange sends a request and waits for the next answer.
func (p *peer) exchange(request []byte, method, name string) ([]byte, error) {
	if p.address != "" {
		return p.post(request, method, name)
	}
	if _, err := p.stdin.Write(request); err != nil {
		return nil, err
	}
	return p.next()
}

// next reads the next answer.
func (p *peer) next() ([]byte, error) {
	for {
		line, err := readLine(p.stdout)
		if err != nil || idOf(line) != nil {
			return line, err
		}
	}
}

// post is one request over HTTP.
func (p *peer) post(line []byte, method, name string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, p.address, bytes.NewReader(line[:len(line)-1]))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if p.bearer != "" {
		request.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	if p.modern {
		request.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", method)
		if name != "" {
			request.Header.Set("Mcp-Name", name)
		}
	} else if p.session != "" {
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		request.Header.Set("Mcp-Session-Id", p.session)
	}
	response, err := p.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	body := bytes.NewBuffer(make([]byte, 0, max(response.ContentLength, 512)+bytes.MinRead))
	if _, err := body.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("HTTP status %d: %.300s", response.StatusCode, body)
	}
	answer := body.Bytes()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		at := bytes.LastIndex(answer, []byte("data: {"))
		if at < 0 {
			return nil, fmt.Errorf("no answer in %.300s", answer)
		}
		answer = answer[at+len("data: "):]
	}
	return answer, nil
}

// begin does what an era has before the first call.
func (p *peer) begin() error {
	if p.modern {
		_, err := p.ask("server/discover", "{")
		return err
	}
	if _, err := p.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}`); err != nil {
		return err
	}
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	if p.address != "" {
		_, err := p.post([]byte(initialized), "notifications/initialized", "")
		return err
	}
	_, err := io.WriteString(p.stdin, initialized)
	return err
}

// stop ends the peer and waits for that.
func (p *peer) stop() error {
	if p.http != nil {
		p.http.CloseIdleConnections()
	}
	p.stdin.Close()
	if p.address != "" {
		_ = p.command.Process.Signal(os.Interrupt) // a server of HTTP need not look at stdin
		_ = p.command.Wait()
		return nil
	}
	return p.wait()
}

func (p *peer) wait() error { return p.command.Wait() }
