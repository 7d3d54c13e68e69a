package service

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// IsLoopback reports whether only this machine can reach an address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Listen opens a TCP listener, with TLS if files are configured.
func Listen(address string, files config.TLS) (_ net.Listener, scheme string, err error) {
	var settings *tls.Config
	if files.Cert != "" {
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, "", &toolbox.Error{
				Code:    toolbox.CertificateInvalid,
				Message: fmt.Sprintf("the certificate of http.tls cannot be used: %v", err),
				Hint:    "http.tls.cert and http.tls.key name the files of one certificate and its key, in PEM form.",
				Cause:   err,
			}
		}
		settings = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, "", &toolbox.Error{
			Code:    toolbox.CannotListen,
			Message: fmt.Sprintf("cannot listen on %s: another program does, perhaps another workbench", address),
			Hint:    "Choose another port with --listen 127.0.0.1:PORT; 0 chooses a free one.",
		}
	case err != nil:
		return nil, "", &toolbox.Error{
			Code:    toolbox.CannotListen,
			Message: fmt.Sprintf("cannot listen on %s: %v", address, err),
			Hint:    "Choose an address of this machine with --listen, such as " + config.DefaultListen + ".",
			Cause:   err,
		}
	case settings == nil:
		return listener, "http", nil
	}
	return tls.NewListener(listener, settings), "https", nil
}
