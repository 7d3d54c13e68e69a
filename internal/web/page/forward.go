package page

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// route is a request that the page may send to a workbench.
type route struct {
	parameters []string
	body       bool // it may have one
	attachment bool // what comes back is a file, never shown by the browser as a page of ours
}

// routes are all of them, by method and name. Everything else a workbench does is not for a page.
var routes = map[string]route{
	"GET server":         {parameters: []string{"key"}},
	"POST cancel":        {parameters: []string{"id"}},
	"GET tools":          {parameters: []string{"q", "toolbox", "server", "offset", "limit"}},
	"GET tool":           {parameters: []string{"toolbox", "server", "tool"}},
	"POST call":          {parameters: []string{"toolbox", "server", "tool"}, body: true},
	"POST call/answer":   {parameters: []string{"question"}, body: true},
	"GET toolboxes":      {},
	"GET changes":        {parameters: []string{"toolbox", "server", "tool"}},
	"POST accept":        {parameters: []string{"toolbox", "server", "tool", "hash"}},
	"GET logins":         {},
	"GET questions":      {},
	"POST answer":        {parameters: []string{"id", "answer"}, body: true},
	"POST record":        {parameters: []string{"toolbox", "server", "seconds"}},
	"POST record/stop":   {parameters: []string{"name"}},
	"GET recordings":     {},
	"GET recording":      {parameters: []string{"name"}, attachment: true},
	"GET recording/html": {parameters: []string{"name"}, attachment: true},
	"GET logs":           {parameters: []string{"toolbox", "server", "lines", "follow"}},
	"POST restart":       {parameters: []string{"toolbox", "server"}},
	"GET history":        {parameters: []string{"after", "follow"}},
}

// forward passes a request on to a workbench, and what comes back as it comes.
func (p *Page) forward(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("request")
	allowed, ok := routes[r.Method+" "+name]
	if !ok {
		refuse(w, http.StatusNotFound, "The page may not send this request to a workbench", "")
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, "The parameters of the request cannot be read", "")
		return
	}
	for parameter := range query {
		if !slices.Contains(allowed.parameters, parameter) {
			query.Del(parameter)
		}
	}
	who := personOf(r)
	switch name {
	case "call":
		query.Del("caller") // without a token, it is a person at a terminal
		if who.name != "" {
			query.Set("caller", callerOf(who))
		}
	case "answer":
		query.Set("via", "page")
	}
	body, ok := readBody(w, r, allowed.body)
	if !ok {
		return
	}
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	default:
		refuse(w, http.StatusServiceUnavailable, "Too many requests of the page are open", "Close other tabs of the page, or views that follow a log.")
		return
	}
	pid, _ := strconv.Atoi(r.PathValue("pid"))
	client := p.books.get(r.Context(), pid)
	if client == nil {
		refuse(w, http.StatusGone, "This workbench does not run any more", "")
		return
	}
	response, err := client.Forward(r.Context(), r.Method, name, query, body, callerOf(who))
	if err != nil {
		refuse(w, http.StatusBadGateway, "The workbench does not answer: "+err.Error(), "")
		return
	}
	defer response.Body.Close()
	passOn(w, response, allowed.attachment)
}

// callerOf returns who a person is to the rules of the policy: whoever has the link is the user of this machine, as at a
// terminal.
func callerOf(who person) string {
	if who.name == "" {
		return config.CallerTerminal
	}
	return config.CallerToken + who.name
}

// readBody reads a body as a whole: only then net/http notices that the browser is gone, which cancels a call.
func readBody(w http.ResponseWriter, r *http.Request, isAllowed bool) (body []byte, ok bool) {
	limit := int64(0)
	if isAllowed {
		limit = maxBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLong, is := errors.AsType[*http.MaxBytesError](err); is {
		refuse(w, http.StatusRequestEntityTooLarge, "The body of the request is longer than "+strconv.FormatInt(tooLong.Limit, 10)+" bytes", "")
		return nil, false
	}
	return body, err == nil
}

// passOn writes the response of a workbench, each part once it is there.
func passOn(w http.ResponseWriter, response *http.Response, asFile bool) {
	kind := "application/json"
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/x-ndjson") {
		kind = "application/x-ndjson"
	}
	if asFile && response.StatusCode == http.StatusOK {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Type", kind)
	out, buffer := http.NewResponseController(w), make([]byte, 32<<10)
	w.WriteHeader(response.StatusCode)
	_ = out.Flush()
	for {
		n, err := response.Body.Read(buffer)
		if _, unread := w.Write(buffer[:n]); unread != nil || out.Flush() != nil {
			return
		}
		if err != nil {
			return
		}
	}
}
