package httpauth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// reportHandshake logs that a closed connection was refused because of its client's certificate: the client alone hears of it
// otherwise. Nothing of the certificate is logged, since anybody can make one.
func (c *connections) reportHandshake(conn net.Conn) {
	secure, ok := conn.(*tls.Conn)
	if !ok || secure.ConnectionState().HandshakeComplete {
		return
	}
	err := secure.Handshake() // returns the error of the one that failed; one that never began fails, since the connection is closed
	refused, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || !c.handshakeLimit.Allow() {
		return
	}
	c.log.Info("refused a connection for its client certificate", "reason", whyUnverified(refused), "remote", conn.RemoteAddr().String())
}

// whyUnverified returns why a client certificate was not accepted.
func whyUnverified(err error) string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		switch invalid.Reason {
		case x509.Expired:
			return "it, or that of its authority, has expired or is not valid yet"
		case x509.IncompatibleUsage:
			return "it is not for client authentication (extended key usage)"
		}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "it is of no authority in http.tls.clientCa"
	}
	return "it cannot be verified"
}
