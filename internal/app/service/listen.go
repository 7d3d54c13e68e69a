package service

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
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

// Listener is where clients connect.
type Listener struct {
	net.Listener
	Scheme       string
	Certificates *Certificates // nil without TLS
}

// Listen opens a TCP listener, with TLS if files are configured.
func Listen(address string, files config.TLS, log *slog.Logger) (*Listener, error) {
	certificates, err := OpenCertificates(files, log)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &toolbox.Error{
			Code:    toolbox.CannotListen,
			Message: fmt.Sprintf("cannot listen on %s: another program does, perhaps another workbench", address),
			Hint:    "Choose another port with --listen 127.0.0.1:PORT; 0 chooses a free one.",
			Cause:   err,
		}
	case err != nil:
		return nil, &toolbox.Error{
			Code:    toolbox.CannotListen,
			Message: fmt.Sprintf("cannot listen on %s: %v", address, err),
			Hint:    "Choose an address of this machine with --listen, such as " + config.DefaultListen + ".",
			Cause:   err,
		}
	case certificates == nil:
		return &Listener{Listener: listener, Scheme: "http"}, nil
	}
	secure := tls.NewListener(listener, &tls.Config{GetConfigForClient: certificates.config, MinVersion: tls.VersionTLS12})
	return &Listener{Listener: secure, Scheme: "https", Certificates: certificates}, nil
}
