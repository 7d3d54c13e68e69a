package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/browser"
)

// questionQueue puts one question after another to the person.
type questionQueue struct {
	turn   sync.Mutex  // held while asking
	asking atomic.Bool // progress would overwrite the question
}

// The responses to a question that have no content.
const (
	accepted  = `{"action":"accept"}`
	declined  = `{"action":"decline"}`
	cancelled = `{"action":"cancel"}`
)

var (
	errDecline = errors.New("the person declined")
	errCancel  = errors.New("the person cancelled")
)

// progress prints the progress of the call.
func (r *activeCall) progress(params wire.Payload) {
	if r.asking.Load() {
		return
	}
	number := func(key string) float64 {
		n, _ := strconv.ParseFloat(string(params.Member(key).Bytes()), 64) // absent is zero
		return n
	}
	if number("progress") < 0 { // the workbench has not sent the call yet
		r.bar.Say(text(params.Member("message")))
		return
	}
	r.bar.Show(number("progress"), number("total"), text(params.Member("message")))
}

// log prints the server's log messages.
func (r *activeCall) log(params wire.Payload) {
	data := params.Member("data")
	message, isText := data.Text()
	if !isText {
		message = string(data.Bytes())
	}
	level := text(params.Member("level"))
	style := tty.Faint
	switch level {
	case "warning", "error", "critical", "alert", "emergency":
		style = tty.Caution
	}
	from := text(params.Member("logger"))
	if from == "" {
		from = r.at.Server
	}
	if !r.asking.Load() {
		r.bar.Clear()
	}
	fmt.Fprintln(tty.Behind(r.Err), r.Err.Paint(style, tty.CleanLine(from+" "+level+":"))+" "+tty.Clean(strings.TrimSpace(message)))
}

// elicit puts a server's question to the person, if one is present.
func (r *activeCall) elicit(ctx context.Context, params wire.Payload) ([]byte, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err() // withdrawn while others were asked
	}
	if isLoginPage(params) && (r.logsIn || !r.Err.IsInteractive()) {
		return []byte(declined), nil // this command logs in itself and calls again, or its error says what to do
	}
	defer tty.HoldLines()() // of all its parts
	r.asking.Store(true)
	defer r.asking.Store(false)
	r.bar.Clear()
	if approval.IsQuestion(params) {
		return r.approve(ctx, params)
	}
	message := strings.ReplaceAll(strings.TrimSpace(tty.Clean(text(params.Member("message")))), "\n", "\n  ")
	if !r.Err.IsInteractive() {
		fmt.Fprintf(r.Err, "Server '%s' asks something, and nobody can answer here, so it was declined:\n  %s\n", tty.CleanLine(r.at.String()), message)
		return []byte(declined), nil
	}
	fmt.Fprintf(r.Err, "%s\n  %s\n", r.Err.Paint(tty.Strong, "Server '"+tty.CleanLine(r.at.String())+"' asks:"), message)
	var answer []byte
	var err error
	if text(params.Member("mode")) == "url" {
		answer, err = r.confirmVisit(ctx, text(params.Member("url")))
	} else {
		answer, err = r.fillIn(ctx, params.Member("requestedSchema"))
	}
	switch {
	case errors.Is(err, errDecline):
		return []byte(declined), nil
	case errors.Is(err, errCancel), errors.Is(err, io.EOF):
		return []byte(cancelled), nil
	}
	return answer, err
}

// confirmVisit asks whether the person agrees to open a page. It never opens one without consent.
func (r *activeCall) confirmVisit(ctx context.Context, address string) ([]byte, error) {
	page, err := url.Parse(address)
	if err != nil || page.Scheme != "https" && page.Scheme != "http" || page.Host == "" {
		fmt.Fprintf(r.Err, "  It wants you to visit a page with an invalid address: %s\n  It was declined.\n", tty.CleanLine(address))
		return nil, errDecline
	}
	fmt.Fprintf(r.Err, "  It wants you to visit a page of %s:\n  %s\n", r.Err.Paint(tty.Strong, tty.CleanLine(page.Host)), page.String())
	choice, err := r.Err.Choose(ctx, "What now?", []string{"open it in the browser", "I open it myself", "decline", "cancel"})
	switch {
	case err != nil:
		return nil, err
	case choice == 2:
		return nil, errDecline
	case choice == 3:
		return nil, errCancel
	case choice == 0:
		r.browse(ctx, page.String())
	}
	return []byte(accepted), nil
}

// browseTime is how long an opener may take to report that it failed: one that opens the browser itself does not end.
const browseTime = 2 * time.Second

// browse opens a page without waiting for the browser.
func (r *activeCall) browse(ctx context.Context, address string) {
	opener, err := browser.Find(os.Getenv)
	if err == nil {
		select {
		case err = <-opener.Open(address):
		case <-time.After(browseTime):
		case <-ctx.Done():
		}
	}
	if err != nil {
		fmt.Fprintf(r.Err, "  The browser could not be opened (%s). Open the page yourself.\n", tty.CleanLine(err.Error()))
	}
}
