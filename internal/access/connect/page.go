package connect

import (
	"errors"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

const (
	// maxName is how many characters of a name a page shows; the rest is left out.
	maxName = 100
	// maxText is how many characters of an error a page shows; the rest is left out.
	maxText = 1000
)

// setHeaders keeps a page from being framed, cached, or from telling others its address, which is a secret.
func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
}

// show writes a page of a title and a few sentences. Nothing in them is taken for markup.
func show(w http.ResponseWriter, status int, title string, sentences ...string) {
	var body strings.Builder
	escaped := html.EscapeString(title)
	body.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>` + escaped + "</title><h1>" + escaped + "</h1>")
	for _, sentence := range sentences {
		if sentence != "" {
			body.WriteString("<p>" + html.EscapeString(sentence) + "</p>")
		}
	}
	body.WriteString("</html>\n")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body.String())
}

// named returns a name of others for a page: one visible line of bounded length.
func named(text string) string { return hidden.Line(text, maxName) }

// sentence makes a sentence of an error.
func sentence(text string) string {
	text = strings.TrimSuffix(hidden.Line(text, maxText), ".")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// name returns the server that a link is for.
func (l *Link) name() string {
	return "'" + named(l.request.Server) + "' (toolbox '" + named(l.request.Toolbox) + "')"
}

// What to do after a link that cannot be used.
const anotherLink = "Make the call again in your MCP client, which brings another link."

// showEnd says how a link has ended. It tells nobody whose it was.
func (l *Link) showEnd(w http.ResponseWriter) {
	l.pages.mu.Lock()
	err, notice := l.err, l.notice
	l.pages.mu.Unlock()
	switch {
	case err == nil:
		show(w, http.StatusOK, "You are signed in", "MCP Workbench can use the server "+l.name()+" for you now. You can close this window.", sentence(notice))
	case errors.Is(err, errLate):
		show(w, http.StatusGone, "This link has expired", anotherLink)
	case errors.Is(err, errOther):
		show(w, http.StatusGone, "This link cannot be used any more", anotherLink)
	default:
		message, hint := l.pages.options.Explain(err)
		show(w, http.StatusOK, "You are not signed in", "The server "+l.name()+" was not linked. "+sentence(message), sentence(hint))
	}
}
