// Package page serves the page on which a person watches and steers running workbenches with a browser: its assets, the
// sessions that open it, what changes in all workbenches as one stream, and the requests that it may pass on.
package page

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Path is where the page is.
const Path = "/ui/"

const apiPath = Path + "api/"

// The modes of the page.
const (
	ModeUI    = "ui"    // all workbenches of the user, for whoever has the link
	ModeServe = "serve" // the workbench that serves it, for tokens
)

const (
	writeTime    = 10 * time.Second // for a part of an answer to be read; then the connection is closed
	maxBody      = 4 << 20          // size of the body of a request of the page; a longer one is refused
	maxSmallBody = 1 << 10          // likewise, of one that opens a session
	maxForwarded = 16               // requests of all tabs to workbenches at once; a further one is refused
)

// Options configure a page.
type Options struct {
	Version string
	Mode    string // ModeUI or ModeServe
	// Find returns the workbenches to show, with those that do not answer in the error.
	Find func(context.Context) ([]*control.Client, error)
	// Sessions says that the page is opened with a link. Otherwise httpauth.Gate must have checked a token for each request
	// below /ui/api/.
	Sessions bool
	// FromFile says that a file leads browsers to the page, which to them is another site.
	FromFile bool
	// Assets replace the built-in ones, and are read for each request. Nil: the built-in ones.
	Assets fs.FS
	Log    *slog.Logger
}

// Page is the handler of everything below Path.
type Page struct {
	options  Options
	assets   *assets
	sessions *sessions
	books    *books
	watch    *hub
	peers    peerCheck
	places   chan struct{} // taken by requests to workbenches
	mux      *http.ServeMux
}

// New returns a page. Its watch runs only while somebody looks.
func New(options Options) (*Page, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	loaded, err := loadAssets(options.Assets)
	if err != nil {
		return nil, err
	}
	known := &books{find: options.Find}
	p := &Page{
		options: options, assets: loaded, sessions: newSessions(), books: known, watch: newHub(known, options.Log), peers: checkPeer,
		places: make(chan struct{}, maxForwarded), mux: http.NewServeMux(),
	}
	p.routes()
	return p, nil
}

func (p *Page) routes() {
	p.mux.Handle("GET /{$}", http.RedirectHandler(Path, http.StatusFound))
	p.mux.HandleFunc("GET "+Path+"{$}", p.assets.serveIndex)
	p.mux.HandleFunc("GET "+Path+"assets/", p.assets.serve)
	if p.options.Sessions {
		p.mux.HandleFunc("POST "+apiPath+"session", p.openSession)
	}
	p.mux.HandleFunc("GET "+apiPath+"hello", p.signedIn(p.hello))
	p.mux.HandleFunc("GET "+apiPath+"watch", p.signedIn(p.serveWatch))
	p.mux.HandleFunc("POST "+apiPath+"form", p.signedIn(p.form))
	p.mux.HandleFunc("POST "+apiPath+"check", p.signedIn(p.check))
	p.mux.HandleFunc(apiPath+"w/{pid}/{request...}", p.signedIn(p.forward))
	p.mux.HandleFunc(Path, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "The page has nothing at this address", "Open "+Path)
	})
}

// ServeHTTP answers a request whose host and origin httpauth.Gate has checked.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	p.mux.ServeHTTP(w, r)
}

// IsPublic reports whether a path, as sent, needs no token: the files of the page, which are the same for everybody.
func IsPublic(path string) bool {
	return path == "/ui" || len(path) >= len(Path) && path[:len(Path)] == Path && !isAPI(path)
}

func isAPI(path string) bool { return len(path) >= len(apiPath) && path[:len(apiPath)] == apiPath }

// setHeaders sets the headers of each response. Index and assets replace the policy.
func setHeaders(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox")
}

// Guard sets the headers of the page also on what a handler in front of it refuses, and gives each part of a response its
// time.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timed := newTimedWriter(w)
		if IsPublic(r.URL.Path) || isAPI(r.URL.Path) {
			setHeaders(w.Header())
			w = timed
		}
		next.ServeHTTP(w, r)
	})
}

// person is who uses the page.
type person struct {
	name string // of the token; "" for whoever opened it with a link
	ends func() bool
}

type personKey struct{}

func personOf(r *http.Request) person {
	who, _ := r.Context().Value(personKey{}).(person)
	return who
}

// signedIn passes on the requests of those who may use the page.
func (p *Page) signedIn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := person{ends: func() bool { return false }}
		if p.options.Sessions {
			token, ok := bearer(r)
			if !ok || !p.sessions.use(token) {
				w.Header().Set("WWW-Authenticate", "Bearer")
				answer(w, http.StatusUnauthorized, problem{
					Error: "The page is not open in this tab, or was not used for an hour", Needs: "link",
					Hint: "Open a new link. Where 'mcp-workbench ui' runs, the Enter key prints one.",
				})
				return
			}
			who.ends = func() bool { return !p.sessions.use(token) }
		} else {
			identity, ok := httpauth.IdentityFrom(r.Context())
			if !ok || identity.ID == "" || !slices.Contains(identity.Rights, httpauth.Page) {
				answer(w, http.StatusUnauthorized, problem{Error: "The page needs a token", Needs: "token", Hint: "To make one: mcp-workbench token add NAME --for page"})
				return
			}
			if identity.Toolboxes != nil {
				answer(w, http.StatusForbidden, problem{
					Error: "This token is for some toolboxes only, and the page shows the whole workbench", Needs: "token",
					Hint: "Make one for all toolboxes: mcp-workbench token add NAME --for page",
				})
				return
			}
			who.name = identity.Name
		}
		next(w, r.WithContext(context.WithValue(r.Context(), personKey{}, who)))
	}
}

// hello is what the page has to know first.
type hello struct {
	Version string `json:"version"`
	Mode    string `json:"mode"`
	Name    string `json:"name,omitempty"` // of the token
	Needs   string `json:"needs"`          // "" for who may use the page; a refusal has "link" or "token"
}

func (p *Page) hello(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, hello{Version: p.options.Version, Mode: p.options.Mode, Name: personOf(r).name})
}

// problem is an error for the page.
type problem struct {
	Error string       `json:"error"`
	Hint  string       `json:"hint,omitempty"`
	Code  toolbox.Code `json:"code,omitempty"`
	Needs string       `json:"needs,omitempty"` // what would help: a new "link", or a "token"
}

func refuse(w http.ResponseWriter, status int, text, hint string) {
	answer(w, status, problem{Error: text, Hint: hint})
}

// answer writes a value. An error means that the page is gone.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
