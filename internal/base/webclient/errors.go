package webclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

// RefusedError means that an address was not contacted, because it must not be.
type RefusedError struct {
	Address string // without user, query and fragment
	Reason  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s was not contacted: %s", e.Address, e.Reason)
}

// UnreachableError means that an address did not answer. Another attempt may succeed.
type UnreachableError struct {
	Address string // without user, query and fragment
	text    string
	err     error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach %s: %s", e.Address, e.text)
}

// Unwrap returns the error of the system.
func (e *UnreachableError) Unwrap() error { return e.err }

// TooLargeError means that a response was larger than any honest one.
type TooLargeError struct {
	Address string
	limit   int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response of %s is larger than %d KiB, and was not read", e.Address, e.limit>>10)
}

// failure converts an error of the HTTP client to one for people. It drops the client's own text, which contains the
// whole address.
func (g *Guard) failure(ctx context.Context, address string, limit time.Duration, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	plain := plainText(address)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return &RefusedError{plain, refused.Reason}
	}
	text := ConnectProblem(err, "")
	var timeout interface{ Timeout() bool }
	switch {
	case text != "":
	case errors.As(err, &timeout) && timeout.Timeout():
		text = fmt.Sprintf("it did not answer within %v", limit)
	default:
		text = "the connection broke off: " + excerpt(inner(err).Error())
	}
	return &UnreachableError{plain, text, inner(err)}
}

// inner removes the HTTP client's own layer, whose text has the address with its query.
func inner(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// ConnectProblem says in words why no connection was made, and what to do about it; "" if the error is another one.
// setting is the name of the setting that holds the address, or "".
func ConnectProblem(err error, setting string) string {
	err = inner(err)
	if text := certificateProblem(err, setting); text != "" {
		return text
	}
	if proxy, ok := errors.AsType[*ProxyError](err); ok {
		return proxy.Error()
	}
	network, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return ""
	}
	advice := ""
	if setting != "" {
		advice = "; is it running, and is " + setting + " right?"
	}
	switch network.Op {
	case "dial", "proxyconnect", "socks connect":
		return network.Error() + advice
	}
	return ""
}

// Passes reports whether the cause of an error may pass without anybody doing something about it: not an unknown
// certificate, an unknown name or a mistake in a variable.
func Passes(err error) bool {
	if certificateProblem(err, "") != "" {
		return false
	}
	if proxy, ok := errors.AsType[*ProxyError](err); ok {
		return proxy.status >= http.StatusInternalServerError
	}
	lookup, ok := errors.AsType[*net.DNSError](err)
	return !ok || !lookup.IsNotFound
}

// IsUntrusted reports whether the certificate of a server is that of an authority which is not known here.
func IsUntrusted(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

// IsTLS reports whether something is wrong with TLS or a certificate.
func IsTLS(err error) bool { return certificateProblem(err, "") != "" }

// certificateProblem returns what is wrong with TLS, or "".
func certificateProblem(err error, setting string) string {
	const trust = "; if you trust it, name a file with its certificate in SSL_CERT_FILE (instead of the system's) or NODE_EXTRA_CA_CERTS (beside them)"
	const noTLS = "it does not speak TLS"
	rename, plain := "", ""
	if setting != "" {
		rename, plain = "; use the name that it was issued for in "+setting, "; does "+setting+" have to begin with http://?"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is self-signed, or signed by an unknown authority" + trust
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("its certificate is not valid for the host name '%.200s'", name.Host) + rename
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "its certificate has expired or is not valid yet; renew it, or set this machine's clock"
		}
		return "its certificate is not valid: " + invalid.Error() + trust
	}
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return verification.Err.Error() + trust
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return noTLS + plain
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return noTLS + plain
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return "it refuses TLS: " + alert.Error()
	}
	return ""
}

// maxExcerpt is how much of a text of others an error shows.
const maxExcerpt = 300

// excerpt converts a text of others to one visible line of bounded length.
func excerpt(text string) string { return hidden.Line(text, maxExcerpt) }
