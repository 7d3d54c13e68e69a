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

// handleRunning serves the requests about what is in flight, and about one server.
func handleRunning(mux *http.ServeMux, subject Subject) {
	mux.HandleFunc("GET "+runningPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, subject.Running()) })
	mux.HandleFunc("GET "+serverPath, func(w http.ResponseWriter, r *http.Request) {
		detail, err := subject.Server(r.URL.Query().Get(keyParameter))
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, detail)
	})
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

// Server returns what is known of one session with a server; see Server.Key.
func (c *Client) Server(ctx context.Context, key string) (detail ServerDetail, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, serverPath, url.Values{keyParameter: {key}})
	if err != nil {
		return detail, err
	}
	defer body.Close()
	return detail, json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&detail)
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
