package oauth

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// TestIssuerOfTheAnswer is the table of the specification (Authorization Response Validation).
func TestIssuerOfTheAnswer(t *testing.T) {
	for iss, want := range map[string]string{
		"":                         "",
		"unadvertised":             "",
		"none":                     "",
		"missing":                  "its parameter 'iss' is missing",
		"unexpected":               "its parameter 'iss' differs",
		"https://attacker.example": "its parameter 'iss' differs",
		"normalized":               "its parameter 'iss' differs",
	} {
		t.Run(iss, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			sent := iss
			if iss == "normalized" {
				sent = b.provider.Issuer() + "/"
			}
			b.provider.Change(func(o *oauthtest.Options) { o.Iss = sent })
			_, err := b.logIn(LoginOptions{})
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Do not go on") {
				t.Errorf("got %v", err)
			}
			if n := b.provider.Count(oauthtest.Token); n != 0 {
				t.Error("the code was sent to a token endpoint")
			}
		})
	}
}

// TestErrorOfSomeoneElse: nothing of an error is shown whose sender is wrong.
func TestErrorOfSomeoneElse(t *testing.T) {
	for name, iss := range map[string]string{"right": "", "wrong": "&iss=https%3A%2F%2Fattacker.example", "missing": "-"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			a := b.begin(LoginOptions{})
			switch iss {
			case "":
				iss = "&iss=" + url.QueryEscape(b.provider.Issuer())
			case "-":
				iss = ""
			}
			description := "call +1 555 \x1b[31m" + strings.Repeat("x", 1000)
			err := a.Paste(a.redirectURI + "?state=" + a.state + "&error=access_denied&error_description=" + url.QueryEscape(description) + iss)
			_, waited := a.Wait(t.Context())
			if err == nil || waited == nil || err.Error() != waited.Error() {
				t.Fatalf("got %v and %v", err, waited)
			}
			isShown := strings.Contains(err.Error(), "555")
			if isShown != (name == "right") || len(err.Error()) > 600 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeniedLogin(t *testing.T) {
	b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{Consent: "deny"}}, nil)
	if _, err := b.logIn(LoginOptions{}); err == nil || !strings.HasPrefix(err.Error(), "the login was refused at the authorization server: access_denied") {
		t.Errorf("got %v", err)
	}
}

func TestScopeThatIsUnknown(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, &config.OAuth{Scopes: []string{"read", "old"}})
	a := b.begin(LoginOptions{})
	err := a.Paste("?error=invalid_scope&state=" + a.state + "&iss=" + url.QueryEscape(b.provider.Issuer()))
	if err == nil || !strings.Contains(err.Error(), "invalid_scope; requested were: read old. Log in with --fresh") {
		t.Errorf("got %v", err)
	}
}

// browser sends requests to the loopback address as a page or another program may.
type browser struct {
	t      *testing.T
	cookie *http.Cookie
}

// shownPage is what a browser gets, without the body.
type shownPage struct {
	StatusCode int
	Header     http.Header
	cookies    []*http.Cookie
}

func (v *browser) send(method, address string, edit func(*http.Request)) shownPage {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, address, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if v.cookie != nil {
		request.AddCookie(v.cookie)
	}
	if edit != nil {
		edit(request)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		v.t.Fatal(err)
	}
	response.Body.Close()
	return shownPage{response.StatusCode, response.Header, response.Cookies()}
}

func TestPageOfTheLogin(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	a := b.begin(LoginOptions{})
	page, err := url.Parse(a.Page())
	if err != nil || page.Hostname() != "127.0.0.1" || page.RawQuery != "" || !strings.HasPrefix(page.Path, "/go/") || len(page.Path) < 40 {
		t.Errorf("the page is %s", a.Page())
	}
	v := &browser{t: t}
	v.send(http.MethodHead, a.Page(), nil) // opens nothing
	first := v.send(http.MethodGet, a.Page(), nil)
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != a.AuthorizeURL() || first.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("got %d %v", first.StatusCode, first.Header)
	}
	cookies := first.cookies
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Domain != "" {
		t.Fatalf("the cookies are %v", cookies)
	}
	if again := v.send(http.MethodGet, a.Page(), nil); again.StatusCode != http.StatusGone || len(again.cookies) != 0 || again.Header.Get("Location") != "" {
		t.Errorf("another browser got %d %v", again.StatusCode, again.Header)
	}
	v.cookie = cookies[0]
	if again := v.send(http.MethodGet, a.Page(), nil); again.StatusCode != http.StatusSeeOther {
		t.Errorf("the same browser got %d", again.StatusCode)
	}
}

// TestForeignRequestsToTheLoopbackAddress: each is refused, and the login goes on.
func TestForeignRequestsToTheLoopbackAddress(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	a := b.begin(LoginOptions{})
	v := &browser{t: t}
	v.cookie = v.send(http.MethodGet, a.Page(), nil).cookies[0]
	good := "?code=injected&iss=" + url.QueryEscape(b.provider.Issuer()) + "&state="
	root := "http://" + a.host
	without := func(r *http.Request) { r.Header.Del("Cookie") }
	for _, test := range []struct {
		name, method, address string
		edit                  func(*http.Request)
		want                  int
	}{
		{"another host", "GET", a.redirectURI + good + a.state, func(r *http.Request) { r.Host = "attacker.example" }, 421},
		{"localhost", "GET", a.redirectURI + good + a.state, func(r *http.Request) { r.Host = strings.Replace(a.host, "127.0.0.1", "localhost", 1) }, 421},
		{"POST", "POST", a.redirectURI + good + a.state, nil, 405},
		{"HEAD", "HEAD", a.redirectURI + good + a.state, nil, 405},
		{"another path", "GET", root + "/callback/x" + good + a.state, nil, 404},
		{"the root", "GET", root + "/", nil, 404},
		{"another page", "GET", root + "/go/x", nil, 404},
		{"no state", "GET", a.redirectURI + "?code=injected", nil, 400},
		{"wrong state", "GET", a.redirectURI + good + "x", nil, 400},
		{"two states", "GET", a.redirectURI + good + a.state + "&state=x", nil, 400},
		{"two codes", "GET", a.redirectURI + good + a.state + "&code=x", nil, 400},
		{"no code", "GET", a.redirectURI + "?state=" + a.state, nil, 400},
		{"no cookie", "GET", a.redirectURI + good + a.state, without, 400},
		{"no cookie, an error", "GET", a.redirectURI + "?error=access_denied&state=" + a.state, without, 400},
		{"wrong cookie", "GET", a.redirectURI + good + a.state, func(r *http.Request) {
			without(r)
			r.AddCookie(&http.Cookie{Name: v.cookie.Name, Value: "x"})
		}, 400},
	} {
		response := v.send(test.method, test.address, test.edit)
		if response.StatusCode != test.want {
			t.Errorf("%s: status %d, want %d", test.name, response.StatusCode, test.want)
		}
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || response.Header.Get("X-Content-Type-Options") != "nosniff" || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", test.name, response.Header)
		}
	}
	if n := b.provider.Count(oauthtest.Token); n != 0 {
		t.Fatalf("a code was exchanged")
	}
	callback, err := oauthtest.Callback(a.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Paste(callback); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Wait(t.Context()); err != nil {
		t.Errorf("the login did not go on: %v", err)
	}
}

func TestLoopbackOnly(t *testing.T) {
	a := newBench(t, oauthtest.Options{}, nil).begin(LoginOptions{})
	if address := a.listener.Addr().(*net.TCPAddr); !address.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		t.Errorf("it listens at %v", address)
	}
}

func TestPagesAreEscaped(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	a := b.begin(LoginOptions{})
	person := &oauthtest.Person{Stop: func(at *url.URL) bool { return at.Host != a.host }}
	if _, err := person.Visit(a.Page()); err != nil {
		t.Fatal(err)
	}
	page, err := person.Visit(a.redirectURI + "?state=" + a.state + "&iss=" + url.QueryEscape(b.provider.Issuer()) +
		"&error=" + url.QueryEscape("<script>alert(1)</script>") + "&error_description=" + url.QueryEscape(`<img src="x">`))
	if err != nil || strings.Contains(page.Body, "<script") || strings.Contains(page.Body, "<img") || !strings.Contains(page.Body, "&lt;img") {
		t.Errorf("got %+v, %v", page, err)
	}
}

func TestPastedAddresses(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	a := b.begin(LoginOptions{})
	callback, err := oauthtest.Callback(a.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	withoutState, _, _ := strings.Cut(callback, "&state")
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "this is not the address of an answer: it begins with " + a.redirectURI},
		{"another text", "yes", "this is not the address of an answer"},
		{"the wrong address", a.AuthorizeURL(), "this is the address to open in a browser; paste the one that the browser shows after the login, which begins with " + a.redirectURI},
		{"without state", a.redirectURI + "?code=abc", "this address cannot be used: it has no parameter 'state'; copy the whole address"},
		{"another login", a.redirectURI + "?code=abc&state=def", "this address cannot be used: it belongs to another login; open the address that this login shows"},
		{"cut off", withoutState, "this address cannot be used: it has no parameter 'state'"},
		{"too long", strings.Repeat("x", maxPasted+1), "the text is too long"},
	} {
		if err := a.Paste(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	half := len(callback) / 2
	if err := a.Paste("  '" + callback[:half] + "\r\n " + callback[half:] + "' \n"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := a.Paste(callback); err == nil || !strings.Contains(err.Error(), "was answered already") {
		t.Errorf("a second time: %v", err)
	}
	b.mustCall("echo")
}

func TestPastedQuery(t *testing.T) {
	a := newBench(t, oauthtest.Options{}, nil).begin(LoginOptions{})
	callback, err := oauthtest.Callback(a.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(callback, "?")
	if err := a.Paste(query); err != nil {
		t.Error(err)
	}
	if _, err := a.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
