package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// NotInFlight is the error for a request that is not in flight.
func NotInFlight(id string) error {
	return &toolbox.Error{
		Code: toolbox.CallNotRunning, Message: fmt.Sprintf("No call runs as '%s': it has ended, or never existed", tty.CleanLine(id)),
		Hint: "See what runs: mcp-workbench cancel",
	}
}

// handleRunning serves the requests about what is in flight.
func handleRunning(mux *http.ServeMux, subject Subject) {
	mux.HandleFunc("GET "+runningPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, subject.Running()) })
	mux.HandleFunc("POST "+cancelPath, func(w http.ResponseWriter, r *http.Request) {
		if err := subject.Cancel(r.URL.Query().Get(idParameter)); err != nil {
			refuse(w, err)
			return
		}
		answer(w, struct{}{})
	})
}

// Running returns the requests of clients to servers that are in flight.
func (c *Client) Running(ctx context.Context) (running RunningCalls, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, runningPath, nil)
	if err != nil {
		return running, err
	}
	defer body.Close()
	return running, json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&running)
}

// Cancel cancels a request that is in flight. If it is not, the error has the code CallNotRunning.
func (c *Client) Cancel(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, cancelPath, url.Values{idParameter: {id}})
	if err != nil {
		return err
	}
	return body.Close()
}
