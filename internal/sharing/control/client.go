package control

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

const (
	answerTime  = 5 * time.Second // for a running workbench to answer; then it is reported as silent
	maxAnswer   = 16 << 20        // size of its answer; a longer one is an error
	maxLogLine  = 64 << 10        // size of a log line; a longer one ends the output
	maxAsked    = 64              // workbenches that are asked at the same time; others wait
	maxInFolder = 1000            // sockets looked at in the runtime folder; others are ignored
)

// Client talks to one running workbench.
type Client struct {
	Status Workbench // when the workbench was found
	http   *http.Client
}

// Find returns the running workbenches, oldest first. Those that do not answer are reported in the
// error; the others are returned anyway.
func Find(ctx context.Context, dir runtimedir.Dir) (found []*Client, err error) {
	paths := sockets(dir)
	clients, problems := make([]*Client, len(paths)), make([]error, len(paths))
	var asking sync.WaitGroup
	room := make(chan struct{}, maxAsked)
	for i, path := range paths {
		room <- struct{}{}
		asking.Go(func() {
			defer func() { <-room }()
			clients[i] = newClient(path)
			problems[i] = clients[i].refresh(ctx)
		})
	}
	asking.Wait()
	for i, path := range paths {
		switch problem := problems[i]; {
		case problem == nil:
			found = append(found, clients[i])
		case runtimedir.IsAbsent(problem):
			removeStaleSocket(path)
		default:
			pid := strings.TrimPrefix(filepath.Base(path), prefix)
			err = errors.Join(err, fmt.Errorf("the workbench with process id %s does not answer: %w", pid, problem))
		}
	}
	slices.SortFunc(found, func(a, b *Client) int {
		return cmp.Or(a.Status.Started.Compare(b.Status.Started), cmp.Compare(a.Status.PID, b.Status.PID))
	})
	return found, err
}

// sockets returns the sockets of workbenches that may still run.
func sockets(dir runtimedir.Dir) []string {
	paths, _ := filepath.Glob(dir.Path(prefix + "*")) // the pattern is valid
	return paths[:min(len(paths), maxInFolder)]
}

// removeStaleSocket removes the socket of a killed program. A starting program has a socket before it listens.
func removeStaleSocket(path string) {
	pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), prefix))
	if err != nil {
		return
	}
	program, err := os.FindProcess(pid)
	if err == nil {
		err = program.Signal(syscall.Signal(0))
		_ = program.Release()
		if !errors.Is(err, os.ErrProcessDone) {
			return
		}
	}
	_ = os.Remove(path) // another program may have been faster
}

func newClient(path string) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return runtimedir.Dial(ctx, path)
		},
	}}}
}

func (c *Client) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, statusPath, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	c.Status = Workbench{}
	return json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&c.Status)
}

// Refresh requests the status again.
func (c *Client) Refresh(ctx context.Context) (Workbench, error) {
	err := c.refresh(ctx)
	return c.Status, err
}

// Restart restarts a server and waits for it.
func (c *Client) Restart(ctx context.Context, server Server) error {
	body, err := c.send(ctx, http.MethodPost, restartPath, about(server))
	if err != nil {
		return err
	}
	return body.Close()
}

// ReviewHints has the workbench count hints that a person accepted.
func (c *Client) ReviewHints(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, hintsPath, nil)
	if err != nil {
		return err
	}
	return body.Close()
}

// Stop stops the workbench and waits until it has ended.
func (c *Client) Stop(ctx context.Context) error {
	body, err := c.send(ctx, http.MethodPost, stopPath, nil)
	if err != nil {
		return err
	}
	_ = body.Close()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if err := c.refresh(ctx); err != nil && ctx.Err() == nil {
			return nil // it no longer listens
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Logs passes on the last lines of a server and, with follow, all further ones.
func (c *Client) Logs(ctx context.Context, server Server, last int, follow bool, handle func(Line)) error {
	query := about(server)
	query.Set(linesParameter, strconv.Itoa(last))
	if follow {
		query.Set(followParameter, "1")
	}
	body, err := c.send(ctx, http.MethodGet, logsPath, query)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		var line Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return err
		}
		handle(line)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return lines.Err()
}

func about(server Server) url.Values {
	return url.Values{toolboxParameter: {server.Toolbox}, serverParameter: {server.Name}}
}

// send returns the body of a response; an error response is an error.
func (c *Client) send(ctx context.Context, method, path string, query url.Values) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://workbench"+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return c.do(request)
}

// do is send for a request that has headers of its own.
func (c *Client) do(request *http.Request) (io.ReadCloser, error) {
	response, err := c.http.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the address means nothing to a person
		}
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil, errors.New("it is of another version of mcp-workbench, and does not know this request: use the command of that version, or end its process")
	}
	var refused refusal
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&refused); err != nil || refused.Error == "" {
		return nil, fmt.Errorf("it answered with %s", response.Status)
	}
	if refused.Code != "" {
		return nil, &toolbox.Error{Code: refused.Code, Message: refused.Error, Hint: refused.Hint}
	}
	return nil, errors.New(refused.Error)
}
