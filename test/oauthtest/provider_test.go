package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is one that was written for these tests: just what the RFCs say.
type client struct {
	t        *testing.T
	provider *Provider
	id       string
	secret   string
}

const redirect = "http://127.0.0.1:1/callback"

func newClient(t *testing.T, p *Provider) *client {
	t.Helper()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return &client{t: t, provider: p}
}

func (c *client) register() {
	c.t.Helper()
	status, answer := c.send(http.MethodPost, c.provider.Issuer()+"/register", "application/json",
		`{"client_name":"test","redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"none"}`, nil)
	if status != http.StatusCreated {
		c.t.Fatalf("registration: %d %v", status, answer)
	}
	c.id, _ = answer["client_id"].(string)
	c.secret, _ = answer["client_secret"].(string)
}

func (c *client) send(verb, address, kind, body string, header map[string]string) (int, map[string]any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), verb, address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	var answer map[string]any
	_ = json.Unmarshal(text, &answer)
	return response.StatusCode, answer
}

// login goes through the flow up to the tokens.
func (c *client) login(scope string) (access, refresh string) {
	c.t.Helper()
	callback := c.callback(scope)
	status, answer := c.token(url.Values{
		"grant_type": {codeGrant}, "code": {callback.Get("code")}, "redirect_uri": {redirect},
		"code_verifier": {"verifier"}, "resource": {c.provider.URL()},
	})
	if status != http.StatusOK {
		c.t.Fatalf("token: %d %v", status, answer)
	}
	access, _ = answer["access_token"].(string)
	refresh, _ = answer["refresh_token"].(string)
	return access, refresh
}

func (c *client) callback(scope string) url.Values {
	c.t.Helper()
	sum := sha256.Sum256([]byte("verifier"))
	address, err := Callback(c.provider.Issuer() + "/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {redirect}, "state": {"state"}, "scope": {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {c.provider.URL()},
	}.Encode())
	if err != nil {
		c.t.Fatal(err)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		c.t.Fatal(err)
	}
	return parsed.Query()
}

func (c *client) token(form url.Values) (int, map[string]any) {
	form.Set("client_id", c.id)
	if c.secret != "" {
		form.Set("client_secret", c.secret)
	}
	return c.send(http.MethodPost, c.provider.Issuer()+"/token", "application/x-www-form-urlencoded", form.Encode(), nil)
}

func (c *client) refresh(token string) (int, map[string]any) {
	return c.token(url.Values{"grant_type": {refreshGrant}, "refresh_token": {token}, "resource": {c.provider.URL()}})
}

func (c *client) mcp(token, body string) int {
	header := map[string]string{"Accept": "application/json, text/event-stream"}
	if token != "" {
		header["Authorization"] = "Bearer " + token
	}
	status, _ := c.send(http.MethodPost, c.provider.URL(), "application/json", body, header)
	return status
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	call       = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
)

func TestLoginCallRefreshAndReuse(t *testing.T) {
	p := Start(t, Options{})
	c := newClient(t, p)
	if status := c.mcp("", initialize); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	c.register()
	access, refresh := c.login("")
	if status := c.mcp(access, initialize); status != http.StatusOK {
		t.Errorf("with a token: %d", status)
	}
	p.ExpireAccess()
	if status := c.mcp(access, initialize); status != http.StatusUnauthorized {
		t.Errorf("with a token that has expired: %d", status)
	}
	status, answer := c.refresh(refresh)
	if status != http.StatusOK {
		t.Fatalf("refresh: %d %v", status, answer)
	}
	access, _ = answer["access_token"].(string)
	if status := c.mcp(access, initialize); status != http.StatusOK {
		t.Errorf("with the new token: %d", status)
	}
	if status, answer := c.refresh(refresh); status != http.StatusBadRequest || answer["error"] != "invalid_grant" {
		t.Errorf("reuse: %d %v", status, answer)
	}
	if status := c.mcp(access, initialize); status != http.StatusUnauthorized {
		t.Errorf("after reuse, the winner's token: %d", status)
	}
	if n := p.Count(Refresh); n != 2 {
		t.Errorf("%d refreshes in the log", n)
	}
}

func TestForm(t *testing.T) {
	p := Start(t, Options{ClientOptions: ClientOptions{Consent: "form"}})
	c := newClient(t, p)
	c.register()
	if access, _ := c.login(""); c.mcp(access, initialize) != http.StatusOK {
		t.Error("the token of a login by form is refused")
	}
}

func TestScopes(t *testing.T) {
	p := Start(t, Options{ResourceOptions: ResourceOptions{ToolScopes: map[string]string{"echo": "write"}}})
	c := newClient(t, p)
	c.register()
	access, _ := c.login("read")
	if status := c.mcp(access, call); status != http.StatusForbidden {
		t.Errorf("without the scope: %d", status)
	}
	access, _ = c.login("read write")
	if status := c.mcp(access, call); status == http.StatusForbidden || status == http.StatusUnauthorized {
		t.Errorf("with the scope: %d", status)
	}
}

func TestClientsDoWhatTheySaid(t *testing.T) {
	p := Start(t, Options{ClientOptions: ClientOptions{SaysNone: true}})
	c := newClient(t, p)
	c.register()
	code := c.callback("").Get("code")
	secret := c.secret
	c.secret = ""
	form := url.Values{"grant_type": {codeGrant}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {"verifier"}, "resource": {p.URL()}}
	if status, answer := c.token(form); status != http.StatusUnauthorized || answer["error"] != "invalid_client" {
		t.Errorf("without the secret: %d %v", status, answer)
	}
	c.secret = secret
	if status, answer := c.token(form); status != http.StatusOK {
		t.Errorf("with the secret: %d %v", status, answer)
	}
}

func TestFaults(t *testing.T) {
	p := Start(t, Options{Faults: map[string]Fault{Register: {Status: http.StatusBadGateway, Times: 1}, Refresh: {Cut: true, Times: 1}}})
	c := newClient(t, p)
	if status, _ := c.send(http.MethodPost, p.Issuer()+"/register", "application/json", "{}", nil); status != http.StatusBadGateway {
		t.Errorf("first registration: %d", status)
	}
	c.register()
	_, refresh := c.login("")
	if status, _ := c.refresh(refresh); status != 0 {
		t.Errorf("first refresh: %d, want a cut connection", status)
	}
	if status, _ := c.refresh(refresh); status != http.StatusBadRequest {
		t.Errorf("second refresh: %d, want reuse", status)
	}
}

func TestHold(t *testing.T) {
	p := Start(t, Options{})
	c := newClient(t, p)
	c.register()
	_, refresh := c.login("")
	waiting, release := p.Hold(Refresh)
	done := make(chan int)
	go func() {
		status, _ := c.refresh(refresh)
		done <- status
	}()
	<-waiting
	if n := p.Count(Refresh); n != 0 {
		t.Errorf("%d refreshes have ended", n)
	}
	release()
	if status := <-done; status != http.StatusOK {
		t.Errorf("refresh: %d", status)
	}
}

func TestControl(t *testing.T) {
	p := Start(t, Options{})
	c := newClient(t, p)
	control := p.Issuer() + "/control/"
	if status, _ := c.send(http.MethodPost, control+"options", "application/json", `{"noRegistration":true,"faults":{"token":{"status":500}}}`, nil); status != http.StatusOK {
		t.Errorf("options: %d", status)
	}
	if options := p.now(); !options.NoRegistration || options.Faults[Token].Status != 500 {
		t.Errorf("options = %+v", options)
	}
	if err := p.ChangeJSON([]byte(`{"noRegistration":false}`)); err != nil || p.now().Faults[Token].Status != 500 {
		t.Errorf("a change of something else: %v, %+v", err, p.now())
	}
	if status, _ := c.send(http.MethodPost, control+"expire", "", "", nil); status != http.StatusOK {
		t.Errorf("expire: %d", status)
	}
	if status, _ := c.send(http.MethodPost, control+"nonsense", "", "", nil); status != http.StatusNotFound {
		t.Errorf("nonsense: %d", status)
	}
}

func TestServerOverSSE(t *testing.T) {
	p := Start(t, Options{Transport: "sse"})
	c := newClient(t, p)
	if status, _ := c.send(http.MethodGet, p.URL(), "", "", nil); status != http.StatusUnauthorized {
		t.Errorf("the stream without a token: %d", status)
	}
	c.register()
	access, _ := c.login("")
	status, _ := c.send(http.MethodPost, p.origin()+"/message?session=1", "application/json", initialize, map[string]string{"Authorization": "Bearer " + access})
	if status != http.StatusNotFound {
		t.Errorf("a message with a token for no session: %d", status)
	}
}

func TestMachines(t *testing.T) {
	p := Start(t, Options{
		ClientOptions: ClientOptions{Clients: []Client{{ID: "machine", Secret: "se cret", Method: "client_secret_basic"}}},
		TokenOptions:  TokenOptions{Assertions: []string{"assertion"}, IDTokens: []string{"identity"}},
	})
	c := newClient(t, p)
	const form = "application/x-www-form-urlencoded"
	basic := map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("machine:se+cret"))}
	exchange := url.Values{
		"grant_type": {exchangeGrant}, "requested_token_type": {"urn:ietf:params:oauth:token-type:id-jag"}, "subject_token": {"identity"},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"}, "audience": {p.Issuer()}, "resource": {p.URL()},
	}
	status, jag := c.send(http.MethodPost, p.Issuer()+"/token", form, exchange.Encode(), basic)
	if status != http.StatusOK {
		t.Fatalf("token exchange: %d %v", status, jag)
	}
	assertion, _ := jag["access_token"].(string)
	for name, values := range map[string]url.Values{
		"client_credentials": {"grant_type": {credentialsGrant}, "resource": {p.URL()}},
		"assertion":          {"grant_type": {assertionGrant}, "assertion": {"assertion"}, "resource": {p.URL()}},
		"id-jag":             {"grant_type": {assertionGrant}, "assertion": {assertion}, "resource": {p.URL()}},
	} {
		status, answer := c.send(http.MethodPost, p.Issuer()+"/token", form, values.Encode(), basic)
		access, _ := answer["access_token"].(string)
		if status != http.StatusOK || c.mcp(access, initialize) != http.StatusOK {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}
