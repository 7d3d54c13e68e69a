package httpauth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// made is a certificate with its key, made by another one; nil: by itself.
func made(t *testing.T, by *tls.Certificate, until time.Time, usage x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "canary"}, NotBefore: until.Add(-2 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey.(*ecdsa.PrivateKey)
	} else {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage, template.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// A handshake that fails for the client's certificate is in the log, with the reason, and nothing of the certificate.
func TestRefusedClientCertificates(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	ours, others := made(t, nil, hour, 0), made(t, nil, hour, 0)
	pool := x509.NewCertPool()
	pool.AddCert(ours.Leaf)
	for name, test := range map[string]struct {
		client *tls.Certificate
		want   string
	}{
		"good":                 {made(t, ours, hour, x509.ExtKeyUsageClientAuth), ""},
		"none":                 {nil, ""},
		"of another authority": {made(t, others, hour, x509.ExtKeyUsageClientAuth), "it is of no authority in http.tls.clientCa"},
		"for servers":          {made(t, ours, hour, x509.ExtKeyUsageServerAuth), "it is not for client authentication"},
		"expired":              {made(t, ours, time.Now().Add(-time.Minute), x509.ExtKeyUsageClientAuth), "has expired or is not valid yet"},
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
			GuardConnections(server.Config, nil, slog.New(slog.NewTextHandler(&logged, nil)))
			server.StartTLS()
			settings := &tls.Config{InsecureSkipVerify: true}
			settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if test.client == nil {
					return new(tls.Certificate), nil
				}
				return test.client, nil
			}
			for range 3 { // at most one a second is logged
				client := &http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
				response, err := client.Get(server.URL)
				if (err == nil) != (test.want == "") {
					t.Error(err)
				}
				if err == nil {
					_ = response.Body.Close()
				}
			}
			server.Close() // waits for the connections
			text := logged.String()
			switch {
			case test.want == "" && text != "":
				t.Error(text)
			case test.want != "" && (!strings.Contains(text, test.want) || !strings.Contains(text, "remote=127.0.0.1:") || !strings.Contains(text, "level=INFO")):
				t.Errorf("the log has %q", text)
			case strings.Count(text, "\n") > 2 || strings.Contains(text, "canary"):
				t.Errorf("the log has too much: %q", text)
			}
		})
	}
}
