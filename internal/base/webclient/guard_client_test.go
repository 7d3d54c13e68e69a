package webclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestClientOfAGuard(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/large":
			io.WriteString(w, strings.Repeat("x", 3000))
		default:
			io.WriteString(w, strings.Repeat("x", 2048))
		}
	}))
	defer server.Close()
	client := newGuard(t, server.URL, Options{Largest: 2048}).Client()
	fetch := func(address string) (status int, body string, err error) {
		response, err := client.Post(address, "text/plain", strings.NewReader("x"))
		if err != nil {
			return 0, "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return response.StatusCode, string(text), err
	}
	if status, body, err := fetch(server.URL); err != nil || status != http.StatusOK || len(body) != 2048 {
		t.Error(status, len(body), err)
	}
	if status, _, err := fetch(server.URL + "/redirect"); err != nil || status != http.StatusTemporaryRedirect || reached != 2 {
		t.Error("a redirect was followed: ", status, reached, err)
	}
	_, body, err := fetch(server.URL + "/large?key=hidden")
	if err == nil || err.Error() != "the response of "+server.URL+"/large is larger than 2 KiB, and was not read" || len(body) != 2048 {
		t.Error(len(body), err)
	}
	for _, address := range []string{"http://10.0.0.1/", "https://10.0.0.1/", "http://example.com/", "ftp://127.0.0.1/"} {
		if _, _, err := fetch(address); err == nil || !strings.Contains(err.Error(), "was not contacted") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestMetadataOf(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://H:443":        "https://h/.well-known/oauth-authorization-server https://h/.well-known/openid-configuration",
		"https://h/":           "https://h/.well-known/oauth-authorization-server https://h/.well-known/openid-configuration",
		"http://h:8080/a%2Fb/": "http://h:8080/.well-known/oauth-authorization-server/a%2Fb http://h:8080/.well-known/openid-configuration/a%2Fb http://h:8080/a%2Fb/.well-known/openid-configuration",
	} {
		u, err := url.Parse(issuer)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(MetadataOf(u), " "); got != want {
			t.Errorf("%s: got %s", issuer, got)
		}
	}
}
