package httpauth

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// byCertificate returns who has the certificate of the connection that a request came on; ok is false if it has none with a name
// that is configured. The names are looked up for each request, since a reload may change them.
func (g *Gate) byCertificate(request *http.Request) (who Identity, refused *refusal, ok bool) {
	clients := g.rules.Load().clients
	if len(clients) == 0 || request.TLS == nil || len(request.TLS.VerifiedChains) == 0 || !g.trusts(request.TLS) {
		return Identity{}, nil, false
	}
	certificate := request.TLS.VerifiedChains[0][0]
	name, grant := CertificateName(certificate, clients)
	if grant == nil {
		return Identity{}, nil, false
	}
	who = Identity{
		Kind: ByCertificate, Name: name, ID: certificateID(name), Toolboxes: sorted(grant.Toolboxes),
		Rights: []Right{Calls}, Credential: certificateCredential(*grant), Expires: certificate.NotAfter,
	}
	switch {
	case !time.Now().Before(certificate.NotAfter): // since the connection began
		return who, g.unauthorized(request, "the certificate has expired", "The certificate of the connection has expired"), true
	case grant.Toolboxes != nil && len(grant.Toolboxes) == 0:
		return who, &refusal{
			status: http.StatusForbidden, reason: "the certificate is for no toolbox", Error: "The certificate of the connection is for no toolbox here",
			Hint: "Name toolboxes for it in 'http.tls.clients' of the workbench's configuration.",
		}, true
	}
	return who, nil, true
}

// unlisted returns why the certificate of a connection, which is verified, gives nothing; "" if there is none.
func (g *Gate) unlisted(request *http.Request) string {
	if request.TLS == nil || len(request.TLS.VerifiedChains) == 0 {
		return ""
	}
	if !g.trusts(request.TLS) {
		return "the authority of the certificate does not count any more, or has expired"
	}
	name, _ := CertificateName(request.TLS.VerifiedChains[0][0], nil)
	if name = hidden.Line(name, maxShownName); name == "" {
		return "the certificate has no name that could be in http.tls.clients, and no token came"
	}
	return fmt.Sprintf("the certificate of '%s' is not in http.tls.clients, and no token came", name)
}

// maxShownName bounds the name in a certificate that the log shows, in characters.
const maxShownName = 100

// certificateCredential identifies what an entry of the table gives: it counts for as long as there is such an entry.
func certificateCredential(grant config.ToolboxGrant) string {
	text := strconv.Quote(grant.Value)
	if grant.Toolboxes != nil {
		for _, name := range sorted(grant.Toolboxes) {
			text += " " + strconv.Quote(name)
		}
		text += "."
	}
	return certificatePrefix + strings.TrimPrefix(certificateID(text), certificatePrefix)
}
