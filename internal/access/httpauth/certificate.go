package httpauth

import (
	"crypto/x509"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// CertificateName returns the name of the owner of a verified client certificate, and what the table gives to that name.
// The names of a certificate are tried in this order: the URIs, the DNS names and the e-mail addresses among its
// alternative names. Its common name counts only without any of them: authorities that check alternative names let whoever
// requests a certificate choose that one. If none is in the table, grant is nil and name is the first; "" if the certificate
// has no name, or is not for client authentication.
func CertificateName(cert *x509.Certificate, table []config.ToolboxGrant) (name string, grant *config.ToolboxGrant) {
	if cert == nil || !slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageClientAuth) {
		return "", nil
	}
	try := func(candidate string, isSame func(a, b string) bool) bool {
		if candidate == "" {
			return false
		}
		for i := range table {
			if isSame(candidate, table[i].Value) {
				name, grant = table[i].Value, &table[i] // as the table writes it: rules of the policy do not ignore case
				return true
			}
		}
		if name == "" {
			name = candidate
		}
		return false
	}
	exactly := func(a, b string) bool { return a == b }
	for _, uri := range cert.URIs {
		if try(uri.String(), exactly) {
			return name, grant
		}
	}
	for _, host := range cert.DNSNames {
		if try(host, strings.EqualFold) {
			return name, grant
		}
	}
	for _, address := range cert.EmailAddresses {
		if try(address, exactly) {
			return name, grant
		}
	}
	if len(cert.URIs)+len(cert.DNSNames)+len(cert.EmailAddresses)+len(cert.IPAddresses) == 0 {
		try(cert.Subject.CommonName, exactly)
	}
	return name, grant
}
