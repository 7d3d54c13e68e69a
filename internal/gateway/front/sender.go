package front

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Identity is who sent a request over HTTP. A session can be used by the one who began it only.
type Identity struct {
	ID         string   // unique, and the same for all tokens of one person; "" where clients are not told apart
	Caller     string   // who they are to the rules of the policy; "": config.CallerHTTP
	Display    string   // a name for people to read, which others may have as well; "": there is none
	Issuer     string   // the identity provider that vouches for them; "": none does
	Toolboxes  []string // that they may see; nil: all
	Credential Credential
}

// Credential is what a request was sent with; see HTTPOptions.Valid.
type Credential struct {
	ID      string
	Expires time.Time // zero: it does not
}

// sender is who sends the requests of a client, and what they may see. The zero value is the user of the workbench.
type sender struct {
	person   string // Identity.ID
	account  account
	audience Audience
	display  string
	issuer   string

	credential Credential
}

// senderOf returns who sent a request from an address; only is as in Audience.
func senderOf(who Identity, remote, only string) sender {
	if who.Caller == "" {
		who.Caller = config.CallerHTTP
	}
	return sender{
		person: who.ID, account: accountOf(who.ID, remote), audience: Audience{Toolboxes: who.Toolboxes, Only: only, Caller: who.Caller},
		display: who.Display, issuer: who.Issuer, credential: who.Credential,
	}
}

// personName returns a name of the sender for people to read; "" for the user of the workbench.
func (s *sender) personName() string {
	if s.person == "" || s.display != "" {
		return s.display
	}
	_, name, _ := strings.Cut(s.audience.Caller, ":")
	return name
}

// use notes that a request of the client came with a credential.
func (s *session) use(credential Credential) {
	if last := s.lastUsed.Load(); last == nil || *last != credential {
		s.lastUsed.Store(new(credential))
	}
}

// mayGoOn reports whether the client is still that of somebody who may use the workbench.
func (s *session) mayGoOn(isValid validity) bool {
	last := s.lastUsed.Load()
	if last == nil {
		last = &Credential{}
	}
	return isValid(s.person, last.ID, last.Expires)
}

// countCall counts a request that a server may have to answer among the calls in flight of its sender, until uncountCall. It
// returns why there may be no further one; "": there may.
func (r *request) countCall() (problem string) {
	s := r.session
	if s.limits == nil {
		return ""
	}
	most := s.limits().Calls
	if most <= 0 || r.method == protocol.MethodPing || r.method == protocol.MethodDiscover || r.method == protocol.MethodListen {
		return ""
	}
	if r.reply.isCounted = s.server.calls.reserveUpTo(s.account, 1, int64(most)); r.reply.isCounted {
		return ""
	}
	s.server.logTooMany(&s.sender, "calls", most)
	return fmt.Sprintf("You have %d calls in flight, which is the limit of 'http.limits.calls'. This one was not run. Wait until another one has ended, and try again", most)
}

// uncountCall ends what countCall counted for a reply.
func (s *session) uncountCall(of reply) {
	if of.isCounted {
		s.server.calls.release(s.account, 1)
	}
}

// retryOwn is for whoever has reached a limit of their own, in seconds: it ends with their own calls and sessions.
const retryOwn = "5"

// refuseOwn refuses a further client of somebody who has reached http.limits.sessions with clients that are all in use.
func (h *httpServer) refuseOwn(e exchange, isAtLimit bool) bool {
	if !isAtLimit {
		return false
	}
	most := h.options.Limits().Sessions
	h.server.logTooMany(&e.sender, "sessions", most)
	e.w.Header().Set("Retry-After", retryOwn)
	refuse(e.w, http.StatusTooManyRequests, protocol.CodeTooMany,
		fmt.Sprintf("You have %d sessions that are all in use, which is the limit of 'http.limits.sessions'. End one of them, and try again", most))
	return true
}
