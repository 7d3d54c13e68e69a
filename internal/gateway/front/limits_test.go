package front

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// byWho has requests say who sends them.
func byWho(r *http.Request) Identity {
	who := r.Header.Get("Who")
	return Identity{ID: "id of " + who, Caller: config.CallerPerson + who}
}

// chanLog is a log whose lines can be received; those without room are lost.
type chanLog chan string

func (l chanLog) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// A person who has as many sessions as the limit allows loses the one that was idle for longest; if none is idle, the next one is
// refused. Others do not notice.
func TestSessionsOfOnePersonAreLimited(t *testing.T) {
	var limit atomic.Int64
	limit.Store(2)
	ended := make(chanLog, 10)
	address, _ := listen(t, newServer(Options{Log: slog.New(slog.NewTextHandler(ended, nil))}), HTTPOptions{
		Identify: byWho, Limits: func() config.PersonLimits { return config.PersonLimits{Sessions: int(limit.Load())} },
	})
	address += "/mcp"
	status := func(session string) int {
		response, _ := exchangeWith(t, "POST", address, listTools, session, "Who: ada")
		return response.StatusCode
	}
	other := join(t, address, "Who: bob")
	first, second := join(t, address, "Who: ada"), join(t, address, "Who: ada")
	if got := status(first); got != http.StatusOK { // now the second one is idle for longer
		t.Fatalf("a session is gone before the limit: %d", got)
	}
	third := join(t, address, "Who: ada")
	if line := <-ended; !strings.Contains(line, `msg="ended an idle session to make room for another" caller=person:ada`) {
		t.Errorf("the log has %s", line)
	}
	for session, want := range map[string]int{first: 200, second: 404, third: 200} {
		if got := status(session); got != want {
			t.Errorf("%s: status %d, want %d", session, got, want)
		}
	}
	firstStream := open(t, "GET", address, "", first, "Who: ada")
	defer firstStream.Body.Close()
	thirdStream := open(t, "GET", address, "", third, "Who: ada")
	defer thirdStream.Body.Close()
	initialize := strings.Replace(initialize, "%s", string(protocol.Revision20251125), 1)
	response, body := exchangeWith(t, "POST", address, initialize, "Who: ada")
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" || !strings.Contains(body, "http.limits.sessions") {
		t.Errorf("with all in use: %s, %v, %s", response.Status, response.Header, body)
	}
	list, headers := modernRequest("tools/list", "")
	if response, body := exchangeWith(t, "POST", address, list, append(headers, "Who: ada")...); response.StatusCode != http.StatusOK {
		t.Errorf("a client of the modern era: %s %s", response.Status, body)
	}
	join(t, address, "Who: bob")
	if response, _ := exchangeWith(t, "POST", address, listTools, other, "Who: bob"); response.StatusCode != http.StatusOK {
		t.Errorf("the session of another person is gone: %s", response.Status)
	}
	limit.Store(3) // by a reload
	join(t, address, "Who: ada")
}

// Another person's session is not found, whatever they know of it; another token of the same person continues it.
func TestSessionsBelongToPeople(t *testing.T) {
	address, _ := listen(t, newServer(Options{}), HTTPOptions{
		Identify: func(r *http.Request) Identity {
			who := byWho(r)
			who.ID += r.Header.Get("Made-Anew") // a token of the same name is another one
			who.Credential, who.Toolboxes = Credential{ID: r.Header.Get("Test-Token")}, r.Header["Toolbox"]
			return who
		},
	})
	address += "/mcp"
	session := join(t, address, "Who: ada", "Test-Token: 1", "Toolbox: dev")
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"the same token":    {[]string{"Who: ada", "Test-Token: 1", "Toolbox: dev"}, 200},
		"the next token":    {[]string{"Who: ada", "Test-Token: 2", "Toolbox: dev"}, 200},
		"other toolboxes":   {[]string{"Who: ada", "Test-Token: 2", "Toolbox: ops"}, 404},
		"all toolboxes":     {[]string{"Who: ada", "Test-Token: 2"}, 404},
		"only by its name":  {[]string{"Who: ada", "Made-Anew: 1", "Test-Token: 1", "Toolbox: dev"}, 404},
		"another person":    {[]string{"Who: eve", "Test-Token: 1", "Toolbox: dev"}, 404},
		"nobody":            {[]string{"Toolbox: dev"}, 404},
		"again, afterwards": {[]string{"Who: ada", "Test-Token: 3", "Toolbox: dev"}, 200},
	} {
		for _, method := range []string{"POST", "DELETE"} {
			if method == "DELETE" && test.status == 200 {
				continue // which would end it
			}
			response, _ := exchangeWith(t, method, address, listTools, append([]string{session}, test.headers...)...)
			if response.StatusCode != test.status {
				t.Errorf("%s, %s: %s, want %d", name, method, response.Status, test.status)
			}
		}
	}
}

func newStdioSession(server *Server) *session { return newSession(server, identity{}) }

// countedRequest is a request of a client with a limit that nobody answers yet.
func countedRequest(s *session, to replyPath, key, method string) *request {
	s.idle.hold()
	r := &request{session: s, method: method, reply: reply{to: to, key: key, id: []byte(key)}}
	return r
}

// Calls in flight are counted for each person, over all of their sessions, until they are answered.
func TestCallsInFlightAreLimited(t *testing.T) {
	server := newServer(Options{})
	h := server.newHTTPServer(HTTPOptions{Limits: func() config.PersonLimits { return config.PersonLimits{Calls: 2} }})
	newSession := func(of account) *session {
		client := newHTTPSession(server, h.spill.of(of), sender{person: string(of)})
		client.limits = h.options.Limits
		return client.session
	}
	ada, alsoAda, bob := newSession("ada"), newSession("ada"), newSession("bob")
	begin := func(s *session, method string) (*request, string) {
		r := countedRequest(s, noAnswer{}, "1", method)
		return r, r.countCall()
	}
	first, _ := begin(ada, protocol.MethodToolsCall)
	if _, problem := begin(alsoAda, protocol.MethodResourcesRead); problem != "" {
		t.Errorf("the second of two: %s", problem)
	}
	if _, problem := begin(alsoAda, protocol.MethodToolsCall); !strings.Contains(problem, "http.limits.calls") {
		t.Errorf("the third of two: %q", problem)
	}
	for _, method := range []string{protocol.MethodPing, protocol.MethodDiscover, protocol.MethodListen} {
		if r, problem := begin(ada, method); problem != "" || r.reply.isCounted {
			t.Errorf("%s is counted", method)
		}
	}
	if _, problem := begin(bob, protocol.MethodToolsCall); problem != "" {
		t.Errorf("another person: %s", problem)
	}
	ada.uncountCall(first.reply)
	if _, problem := begin(alsoAda, protocol.MethodToolsCall); problem != "" {
		t.Errorf("after one has ended: %s", problem)
	}
	alone := newStdioSession(server)
	for range 10 {
		if _, problem := begin(alone, protocol.MethodToolsCall); problem != "" {
			t.Fatalf("over stdio: %s", problem)
		}
	}
}

// Who is beyond a limit of their own is in the log, once a second, and others do not hide them.
func TestLimitsThatAreReachedAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		server := newServer(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		h := server.newHTTPServer(HTTPOptions{Limits: func() config.PersonLimits { return config.PersonLimits{Calls: 1, Sessions: 3} }})
		beyond := func(who string) {
			s := sender{person: who, account: account(who), audience: Audience{Caller: config.CallerPerson + who}}
			client := newHTTPSession(server, h.spill.of(s.account), s)
			client.limits = h.options.Limits
			for i := range 4 {
				r := countedRequest(client.session, noAnswer{}, strconv.Itoa(i), protocol.MethodToolsCall)
				if problem := r.countCall(); problem == "" {
					defer client.uncountCall(r.reply)
				}
			}
		}
		beyond("ada")
		beyond("ada")
		beyond("bob")
		<-time.After(tooManyPause) // of the bubble
		h.refuseOwn(exchange{w: httptest.NewRecorder(), sender: sender{account: "ada", audience: Audience{Caller: "person:ada"}}}, true)
		const line = `level=INFO msg="refused a request beyond a limit" caller=person:`
		for want, n := range map[string]int{line + "ada limit=http.limits.calls most=1": 1, line + "bob limit=http.limits.calls most=1": 1, line + "ada limit=http.limits.sessions most=3": 1, "\n": 3} {
			if got := strings.Count(log.String(), want); got != n {
				t.Errorf("%q is %d times in the log, want %d:\n%s", want, got, n, &log)
			}
		}
		for i := range 2 * maxTooMany {
			server.tooMany.isDue(account(strconv.Itoa(i)))
		}
		if got := len(server.tooMany.logged); got > maxTooMany {
			t.Errorf("%d accounts are remembered", got)
		}
		<-time.After(tooManyPause) // of the bubble
		if !server.tooMany.isDue("a new one") || len(server.tooMany.logged) != 1 {
			t.Errorf("%d accounts are remembered a second later", len(server.tooMany.logged))
		}
	})
}

// What is refused for the limit has a status that clients and proxies understand, and an answer to the request; a server's own use
// of the code has not.
func TestTooManyCallsIsAStatus(t *testing.T) {
	st := newStream(newSpillBuffer().of(""), 1, []byte("7"))
	st.respond(errorTo([]byte("7"), protocol.CodeTooMany, "too many"))
	in, hangUp := lines(t, func(w http.ResponseWriter, r *http.Request) {
		client := newHTTPSession(newServer(Options{}), newSpillBuffer().of(""), sender{})
		recorded := &statusRecorder{ResponseWriter: w}
		exchange{w: recorded, r: r}.answer(client, st, accepts{json: true, stream: true})
		if recorded.status != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d, %v", recorded.status, w.Header())
		}
	})
	defer hangUp()
	var answer struct {
		ID    int
		Error struct{ Code int }
	}
	if text, err := io.ReadAll(in); err != nil || json.Unmarshal(text, &answer) != nil || answer.ID != 7 || answer.Error.Code != protocol.CodeTooMany {
		t.Errorf("the answer is %s, %v", text, err)
	}
	theirs := response{answer: answeredWithError(`{"code":` + strconv.Itoa(protocol.CodeTooMany) + `,"message":"limit exceeded"}`)}
	if got := statusOf(theirs.errorCode()); got != http.StatusOK {
		t.Errorf("a server's error with that code has status %d", got)
	}
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// A session lives on when the token of its person has expired, and ends when that was revoked.
func TestSweepKeepsPeopleWhoMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(Options{})
		isRevoked := atomic.Bool{}
		h := server.newHTTPServer(HTTPOptions{Valid: func() func(id, credential string, expires time.Time) bool {
			return func(_, credential string, expires time.Time) bool {
				return !time.Now().Before(expires) || credential == "1" && !isRevoked.Load()
			}
		}})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.sweep(ctx)
		add := func(expires time.Duration) *httpSession {
			client := newHTTPSession(server, h.spill.of("ada"), sender{person: "ada", credential: Credential{"1", time.Now().Add(expires)}})
			server.add(client.session)
			h.sessions.enter([]byte(client.id), client.account, func() *httpSession { return client })
			client.idle.release()
			return client
		}
		expired, revoked := add(time.Minute), add(time.Hour)
		<-time.After(10 * time.Minute) // of the bubble
		isRevoked.Store(true)
		<-time.After(time.Minute)
		synctest.Wait()
		if _, ok := h.sessions.find(expired.id); !ok {
			t.Error("the session of a person whose token has expired has ended")
		}
		if _, ok := h.sessions.find(revoked.id); ok {
			t.Error("the session of a revoked token goes on")
		}
		stop()
		h.dropSession(expired)
	})
}

func answeredWithError(text string) metatool.Answer {
	return metatool.Answer{Outcome: call.Outcome{Error: wire.Raw([]byte(text))}}
}

// What a request began ends with its token; that its client is gone ends nothing, since it may come back.
func TestCallsEndWithTheirToken(t *testing.T) {
	for name, test := range map[string]struct {
		cause error
		ends  bool
	}{"the client is gone": {context.Canceled, false}, "the token has ended": {httpauth.ErrTokenEnded, true}} {
		_, client := slow(t)
		inFlight := &request{session: client.session}
		if _, ok := client.requests.add("1", inFlight); !ok {
			t.Fatal("no request is taken")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		exchange{r: r}.cancelEnded(client, "1", "2")
		if ended := inFlight.canceller.Cause() != nil; ended != test.ends {
			t.Errorf("%s: the call has ended: %v", name, ended)
		}
	}
}
