package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// asCertificate sends requests on connections with a certificate; nil: without.
func asCertificate(t *testing.T, client *issued, address string) (post func(path, session, body string) (int, string, http.Header)) {
	t.Helper()
	settings := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test is about the certificates of clients
	if client != nil {
		settings.Certificates = []tls.Certificate{client.pair()}
	}
	transport := &http.Transport{TLSClientConfig: settings}
	t.Cleanup(transport.CloseIdleConnections)
	return func(path, session, body string) (int, string, http.Header) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text), response.Header
	}
}

// Who has a certificate of the table uses its toolboxes without a token, until a reload takes the entry away; others do not.
func TestCertificatesAreIdentities(t *testing.T) {
	folder, later := t.TempDir(), time.Now().Add(time.Hour)
	authority := issue(t, "authority", later, nil)
	server := issue(t, "server", later, authority, x509.ExtKeyUsageServerAuth)
	cert, key := server.pem(t)
	root, _ := authority.pem(t)
	files := config.TLS{Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem"), ClientCA: filepath.Join(folder, "ca.pem")}
	for name, data := range map[string][]byte{files.Cert: cert, files.Key: key, files.ClientCA: root} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files.Clients = []config.ToolboxGrant{{Value: "ci.example.com", Toolboxes: []string{"ops"}}, {Value: "admin.example.com"}}
	configured := func(clients []config.ToolboxGrant) *config.Config {
		files.Clients = clients
		return &config.Config{
			Path: "f", MaxMessageSize: 1 << 20, HTTP: config.HTTP{SessionIdle: time.Hour, ClientIdle: time.Hour, Drain: time.Second, TLS: files},
			Toolboxes: []config.Toolbox{{Name: "ops", Description: "o"}, {Name: "dev", Description: "d"}},
		}
	}
	workbench, err := app.New(app.Options{Config: configured(files.Clients), Version: "1", StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpauth.Open(filepath.Join(t.TempDir(), httpauth.FileName))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := Listen("127.0.0.1:0", files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- workbench.ServeHTTP(ctx, listener, app.HTTPOptions{Tokens: tokens}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := workbench.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	address := "https://" + listener.Addr().String()
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	ci := asCertificate(t, issue(t, "ci.example.com", later, authority, x509.ExtKeyUsageClientAuth), address)
	admin := asCertificate(t, issue(t, "admin.example.com", later, authority, x509.ExtKeyUsageClientAuth), address)
	status, text, header := ci("/mcp", "", begin)
	if status != http.StatusOK || !strings.Contains(text, "ops") || strings.Contains(text, "dev (") {
		t.Fatalf("a certificate of the table: %d %s", status, text)
	}
	session := header.Get("Mcp-Session-Id")
	for name, test := range map[string]struct {
		post                func(path, session, body string) (int, string, http.Header)
		path, session, body string
		status              int
	}{
		"its own toolbox":         {ci, "/mcp/ops", "", begin, http.StatusOK},
		"another toolbox":         {ci, "/mcp/dev", "", begin, http.StatusNotFound},
		"its own session":         {ci, "/mcp", session, list, http.StatusOK},
		"another's session":       {admin, "/mcp", session, list, http.StatusNotFound},
		"all toolboxes":           {admin, "/mcp/dev", "", begin, http.StatusOK},
		"the metrics":             {admin, "/metrics", "", "", http.StatusForbidden},
		"a name of nobody":        {asCertificate(t, issue(t, "other.example.com", later, authority, x509.ExtKeyUsageClientAuth), address), "/mcp", "", begin, http.StatusUnauthorized},
		"no certificate":          {asCertificate(t, nil, address), "/mcp", "", begin, http.StatusUnauthorized},
		"no session of anybody's": {asCertificate(t, nil, address), "/mcp", session, list, http.StatusUnauthorized},
	} {
		if status, text, _ := test.post(test.path, test.session, test.body); status != test.status {
			t.Errorf("%s: %d %s, want %d", name, status, text, test.status)
		}
	}
	if err := workbench.Reload(configured([]config.ToolboxGrant{{Value: "admin.example.com"}}), ""); err != nil {
		t.Fatal(err)
	}
	if status, text, _ := ci("/mcp", session, list); status != http.StatusUnauthorized {
		t.Errorf("after the entry has gone: %d %s", status, text)
	}
	if status, text, _ := admin("/mcp", "", begin); status != http.StatusOK {
		t.Errorf("whose entry stays: %d %s", status, text)
	}
}
