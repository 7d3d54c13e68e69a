package control

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
)

const (
	followPause = 50 * time.Millisecond // between two batches of calls for a command that follows
	maxCallLine = 64 << 10              // size of a call in an answer; a longer one ends the output
	maxCalls    = 5000                  // calls in one answer to a command that does not follow; the rest is left out
)

// calls writes the calls that are remembered and, with follow, all further ones. With a number, those after it.
func calls(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	after, err := strconv.ParseUint(query.Get(afterParameter), 10, 64)
	isFirst := err != nil || after == 0 // what was forgotten before is not missing
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, encoder := http.NewResponseController(w), json.NewEncoder(w)
	for sent, isLast := 0, false; ; {
		records, next, more := subject.History(after)
		after = next
		_ = out.SetWriteDeadline(time.Now().Add(writeTime))
		for i := range records {
			if isFirst {
				records[i].Lost, isFirst = 0, false
			}
			if encoder.Encode(&records[i]) != nil {
				return
			}
		}
		sent += len(records)
		follows := query.Get(followParameter) != ""
		if len(records) > 0 && (follows || sent < maxCalls) {
			continue
		}
		isFirst = false
		if out.Flush() != nil || !follows || isLast {
			return
		}
		isLast = !waitFor(r.Context(), more) // if the workbench ends, its last calls are still sent
	}
}

// waitFor waits for the next call, and a moment for others. It returns false if the command is gone, or the workbench ends.
func waitFor(ctx context.Context, more <-chan struct{}) bool {
	select {
	case <-more:
	case <-ctx.Done():
		return false
	}
	pause := time.NewTimer(followPause)
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// History passes on the calls after a number, the oldest first, and with follow all further ones, until the context or
// the workbench ends.
func (c *Client) History(ctx context.Context, after uint64, follow bool, handle func(history.Record)) error {
	query := url.Values{afterParameter: {strconv.FormatUint(after, 10)}}
	if follow {
		query.Set(followParameter, "1")
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	body, err := c.send(ctx, http.MethodGet, historyPath, query)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxCallLine)
	for lines.Scan() {
		var one history.Record
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		handle(one)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return lines.Err()
}
