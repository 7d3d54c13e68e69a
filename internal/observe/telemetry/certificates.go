package telemetry

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// certificates reads the files for TLS. If one cannot be used, nothing is sent: the receiver would not be the one that was
// meant, or would refuse it.
func (e *environment) certificates(kind string, to *Endpoint) (ok bool) {
	variable, file := e.find(kind, "CERTIFICATE")
	if file != "" {
		authorities, err := webclient.AuthoritiesOf(file)
		if err != nil {
			e.complain(variable, "does not name a file with certificates, and nothing is sent: "+err.Error())
			return false
		}
		to.Authorities = authorities
	}
	variable, certificate := e.find(kind, "CLIENT_CERTIFICATE")
	keyVariable, key := e.find(kind, "CLIENT_KEY")
	switch {
	case certificate == "" && key == "":
		return true
	case certificate == "":
		e.complain(keyVariable, "is set without "+variable+", and nothing is sent")
		return false
	case key == "":
		e.complain(variable, "is set without "+keyVariable+", and nothing is sent")
		return false
	}
	pair, err := webclient.KeyPairOf(certificate, key)
	if err != nil {
		e.complain(variable, "does not name a file with a certificate whose key is in "+keyVariable+", and nothing is sent: "+err.Error())
		return false
	}
	to.Certificate = pair
	return true
}
