package telemetry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

// issue writes a self-signed certificate and its key to files.
func issue(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, "CERTIFICATE", signed), writePEM(t, "PRIVATE KEY", encoded)
}

func writePEM(t *testing.T, kind string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// secured is a receiver over TLS that wants a certificate of its clients.
func secured(t *testing.T, clients string) (receiver *otlptest.Receiver, address, authority string) {
	t.Helper()
	receiver = otlptest.New(t)
	server := httptest.NewUnstartedServer(receiver)
	text, err := os.ReadFile(clients)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	server.TLS = &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return receiver, server.URL, writePEM(t, "CERTIFICATE", server.Certificate().Raw)
}

func TestCertificates(t *testing.T) {
	certificate, key := issue(t, "the workbench")
	receiver, address, authority := secured(t, certificate)
	for _, kind := range []string{"", "TRACES_"} {
		before := len(receiver.Spans())
		s, log := start(t, address, "OTEL_METRICS_EXPORTER=none", "OTEL_EXPORTER_OTLP_"+kind+"CERTIFICATE="+authority,
			"OTEL_EXPORTER_OTLP_"+kind+"CLIENT_CERTIFICATE="+certificate, "OTEL_EXPORTER_OTLP_"+kind+"CLIENT_KEY="+key)
		s.end(aCall(t, nil), call.End{})
		s.Close(t.Context())
		if len(receiver.Spans()) != before+1 || log.String() != "" {
			t.Errorf("%sCERTIFICATE: there are %d spans, the log is %s", kind, len(receiver.Spans()), log)
		}
	}
	s, log := start(t, address, "OTEL_METRICS_EXPORTER=none", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="+certificate, "OTEL_EXPORTER_OTLP_CLIENT_KEY="+key)
	s.end(aCall(t, nil), call.End{})
	s.Close(t.Context())
	if len(receiver.Spans()) != 2 || !strings.Contains(log.String(), "OTEL_EXPORTER_OTLP_CERTIFICATE") {
		t.Errorf("an unknown receiver: there are %d spans, the log is %s", len(receiver.Spans()), log)
	}
}

func TestUnusableCertificates(t *testing.T) {
	certificate, key := issue(t, "a")
	_, foreign := issue(t, "b")
	const all = "OTEL_EXPORTER_OTLP_"
	for _, test := range []struct {
		name, variables, problem string
	}{
		{"no file", "CERTIFICATE=/no/such/secret", all + "CERTIFICATE does not name a file with certificates, and nothing is sent: "},
		{"a folder", "CERTIFICATE=" + t.TempDir(), "not a file of at most 16 MiB"},
		{"no certificate", "CERTIFICATE=" + key, "the file holds no certificate in PEM format"},
		{"of one kind", "TRACES_CERTIFICATE=/no/such/secret", all + "TRACES_CERTIFICATE does not name"},
		{"no key", "CLIENT_CERTIFICATE=" + certificate, all + "CLIENT_CERTIFICATE is set without " + all + "CLIENT_KEY"},
		{"no client certificate", "CLIENT_KEY=" + key, all + "CLIENT_KEY is set without " + all + "CLIENT_CERTIFICATE"},
		{"another key", "CLIENT_CERTIFICATE=" + certificate + " CLIENT_KEY=" + foreign, "the files do not hold a certificate and its key"},
		{"no such key", "CLIENT_CERTIFICATE=" + certificate + " CLIENT_KEY=/no/such/secret", "the key: "},
	} {
		environ := []string{all + "TRACES_ENDPOINT=https://h/"}
		for _, variable := range strings.Fields(test.variables) {
			environ = append(environ, all+variable)
		}
		got := Read(environ)
		if len(got.Problems) != 1 || !strings.Contains(got.Problems[0], test.problem) || strings.Contains(got.Problems[0], "secret") || got.IsOn() {
			t.Errorf("%s: %q, it is on: %t", test.name, got.Problems, got.IsOn())
		}
	}
}
