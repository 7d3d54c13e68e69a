package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	maxWatches   = 8                // of one workbench at once, so that commands find room; others are refused
	watchTime    = time.Minute      // for one event to be read; a watcher that reads nothing for longer is disconnected
	watchSilence = 30 * time.Second // without any event, also an empty one; then the workbench is reported as silent
)

// watches serves those who watch a workbench.
type watches struct {
	subject Subject
	places  chan struct{}
}

func newWatches(subject Subject) *watches {
	return &watches{subject, make(chan struct{}, maxWatches)}
}

// ServeHTTP writes what changes in the workbench, an event a line, until the watcher or the workbench is gone.
func (s *watches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		refuse(w, &toolbox.Error{
			Code: toolbox.TooManyWatching, Message: fmt.Sprintf("%d pages and commands watch this workbench already, which is the limit", maxWatches),
			Hint: "Close pages of 'mcp-workbench ui', or end 'mcp-workbench top'.",
		})
		return
	}
	if via := r.URL.Query().Get(viaParameter); via != "" { // the person will answer what waits, too
		_, end := s.subject.WatchQuestions(via)
		defer end()
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, encoder := http.NewResponseController(w), json.NewEncoder(w)
	_ = s.subject.Watch(r.Context(), func(event *Event) error { // an error means that the watcher is gone
		_ = out.SetWriteDeadline(time.Now().Add(watchTime))
		if err := encoder.Encode(event); err != nil {
			return err
		}
		return out.Flush()
	})
}

// errSilent means that a workbench stopped to answer.
var errSilent = fmt.Errorf("it has sent nothing for %s", watchSilence)

// Watch passes on what changes in the workbench, everything first, until the context or the workbench ends, or handle
// returns an error. Whoever handles events too slowly misses calls, and is told how many.
func (c *Client) Watch(ctx context.Context, handle func(Event) error) error {
	return c.WatchVia(ctx, "", handle)
}

// WatchVia is Watch for who will also answer what waits for a person, by a way that a policy can name: "page" or "terminal".
func (c *Client) WatchVia(ctx context.Context, via string, handle func(Event) error) error {
	listening, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(watchSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	body, err := c.send(listening, http.MethodGet, watchPath, url.Values{viaParameter: {via}})
	if err != nil {
		return errors.Join(context.Cause(listening), err)
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		var event Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return err
		}
		silence.Stop() // handling may take longer
		if err := handle(event); err != nil {
			return err
		}
		silence.Reset(watchSilence)
	}
	if cause := context.Cause(listening); cause != nil {
		return cause
	}
	return lines.Err()
}
