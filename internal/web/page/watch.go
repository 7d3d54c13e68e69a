package page

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const keepAlive = 10 * time.Second // without a line, until an empty one is sent

// serveWatch sends what changes in all workbenches until the tab is closed.
func (p *Page) serveWatch(w http.ResponseWriter, r *http.Request) {
	t, ok := p.watch.join()
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "Too many tabs show the page", "Close one, and reload.")
		return
	}
	defer p.watch.leave(t)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, idle, who := http.NewResponseController(w), time.NewTicker(keepAlive), personOf(r)
	defer idle.Stop()
	for {
		var lines [][]byte
		select {
		case <-t.more:
			lines = p.watch.take(t)
		case <-idle.C:
			if who.ends() {
				return
			}
			lines = [][]byte{[]byte("{}\n")}
		case <-r.Context().Done():
			return
		}
		for _, line := range lines {
			_ = out.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		if out.Flush() != nil {
			return
		}
	}
}

// errOld is for a workbench of a version that cannot be watched.
var errOld = errors.New("it is of another version, and cannot be watched")

// follow passes on the events of a workbench until it ends.
func follow(ctx context.Context, client *control.Client, handle func(control.Event)) error {
	response, err := client.Forward(ctx, http.MethodGet, "watch", nil, nil, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return errOld
	default:
		return fmt.Errorf("it answered with %s", response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLineToPage)
	for lines.Scan() {
		if len(lines.Bytes()) <= len("{}") {
			continue // keep-alive
		}
		var event control.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return err
		}
		handle(event)
	}
	return lines.Err()
}
