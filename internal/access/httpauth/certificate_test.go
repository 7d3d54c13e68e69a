package httpauth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/url"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestCertificateName(t *testing.T) {
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	spiffe := &url.URL{Scheme: "spiffe", Host: "example.com", Path: "/ci"}
	table := []config.ToolboxGrant{
		{Value: "common", Toolboxes: []string{"c"}},
		{Value: "me@example.com", Toolboxes: []string{"m"}},
		{Value: "ci.example.com", Toolboxes: []string{"d"}},
		{Value: "spiffe://example.com/ci"},
	}
	everything := x509.Certificate{
		ExtKeyUsage: client, URIs: []*url.URL{spiffe}, DNSNames: []string{"other.example.com", "CI.example.com"},
		EmailAddresses: []string{"me@example.com"}, Subject: pkix.Name{CommonName: "common"},
	}
	with := func(change func(*x509.Certificate)) *x509.Certificate {
		cert := everything
		change(&cert)
		return &cert
	}
	for _, test := range []struct {
		name, want string
		cert       *x509.Certificate
		granted    bool
	}{
		{"a URI first", "spiffe://example.com/ci", &everything, true},
		{"then a DNS name, whatever its case", "ci.example.com", with(func(c *x509.Certificate) { c.URIs = nil }), true},
		{"then an address", "me@example.com", with(func(c *x509.Certificate) { c.URIs, c.DNSNames = nil, nil }), true},
		{"addresses have a case", "ME@example.com", with(func(c *x509.Certificate) {
			c.URIs, c.DNSNames, c.EmailAddresses, c.Subject = nil, nil, []string{"ME@example.com"}, pkix.Name{}
		}), false},
		{"the common name last", "common", with(func(c *x509.Certificate) { c.URIs, c.DNSNames, c.EmailAddresses = nil, nil, nil }), true},
		{"not in the table", "other.example.com", with(func(c *x509.Certificate) {
			c.URIs, c.DNSNames, c.EmailAddresses, c.Subject = nil, []string{"other.example.com"}, nil, pkix.Name{CommonName: "somebody"}
		}), false},
		{"a common name beside another one", "x", with(func(c *x509.Certificate) {
			c.URIs, c.DNSNames, c.EmailAddresses = nil, []string{"x"}, nil
		}), false},
		{"a common name beside an IP address", "", with(func(c *x509.Certificate) {
			c.URIs, c.DNSNames, c.EmailAddresses, c.IPAddresses = nil, nil, nil, []net.IP{net.IPv4(192, 0, 2, 1)}
		}), false},
		{"for servers only", "", with(func(c *x509.Certificate) { c.ExtKeyUsage = client[:1] }), false},
		{"for anything", "", with(func(c *x509.Certificate) { c.ExtKeyUsage = nil }), false},
		{"nobody", "", &x509.Certificate{ExtKeyUsage: client}, false},
		{"none", "", nil, false},
	} {
		name, grant := CertificateName(test.cert, table)
		if name != test.want || (grant != nil) != test.granted {
			t.Errorf("%s: %q, %v", test.name, name, grant)
		}
		if grant != nil && grant.Value != test.want {
			t.Errorf("%s: the grant of %q", test.name, grant.Value)
		}
	}
	// An empty name in a table is for nobody.
	if name, grant := CertificateName(&x509.Certificate{ExtKeyUsage: client, DNSNames: []string{""}}, []config.ToolboxGrant{{Value: ""}}); name != "" || grant != nil {
		t.Errorf("%q, %v", name, grant)
	}
}
