package webclient

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// newProxy returns the function that selects the proxy of a request by the rules of net/http, from an environment that
// need not be the process's own.
func newProxy(environ []string) func(*http.Request) (*url.URL, error) {
	either := func(upper, lower string) string {
		if value := variable(environ, upper); value != "" {
			return value
		}
		return variable(environ, lower)
	}
	config := httpproxy.Config{
		HTTPProxy:  either("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: either("HTTPS_PROXY", "https_proxy"),
		NoProxy:    either("NO_PROXY", "no_proxy"),
		CGI:        variable(environ, "REQUEST_METHOD") != "",
	}
	if config.HTTPProxy == "" && config.HTTPSProxy == "" {
		return nil
	}
	// The rules of net/http ignore a value that cannot be parsed, and would connect without the proxy.
	asked := config
	asked.HTTPProxy, asked.HTTPSProxy = parsable(config.HTTPProxy), parsable(config.HTTPSProxy)
	choose := asked.ProxyFunc()
	return func(request *http.Request) (*url.URL, error) {
		proxy, err := choose(request.URL)
		name, value := "HTTP_PROXY", config.HTTPProxy
		if request.URL.Scheme == "https" {
			name, value = "HTTPS_PROXY", config.HTTPSProxy
		}
		if err != nil || proxy != nil && (proxy.Host == noProxyHost || !isProxy(proxy, value)) { // the error's text has the address with the password
			return nil, &ProxyError{text: name + " is not an address that can be used; write it as http://HOST:PORT"}
		}
		return proxy, nil
	}
}

// noProxyHost stands for a proxy whose address cannot be parsed.
const noProxyHost = "not-a-proxy.invalid"

// parsable returns the value of a variable, or an address in its place if no proxy can be read from it.
func parsable(value string) string {
	if value == "" {
		return ""
	}
	if _, err := url.Parse(value); err == nil {
		return value
	}
	if _, err := url.Parse("http://" + value); err == nil { // HOST:PORT
		return value
	}
	return "http://" + noProxyHost
}

// isProxy reports whether a value that was parsed names a proxy. The rules of net/http make a host named "http" of an
// address with a mistake in it.
func isProxy(parsed *url.URL, value string) bool {
	switch parsed.Scheme {
	case "http", "https", "socks5", "socks5h":
		_, err := url.Parse(value)
		return parsed.Hostname() != "" && (err == nil || !strings.Contains(value, "://"))
	}
	return false
}

// ProxyError means that the configured proxy does not let a request through.
type ProxyError struct {
	text   string
	status int // of its answer; 0: none
}

func (e *ProxyError) Error() string { return e.text }

// checkProxy replaces the error of a refused CONNECT, which is the status without a word about the proxy.
func checkProxy(_ context.Context, proxy *url.URL, _ *http.Request, response *http.Response) error {
	advice := "add the host to NO_PROXY if it can be reached without the proxy"
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		advice = "put the user and the password into HTTPS_PROXY, as http://USER:PASSWORD@HOST:PORT"
	}
	return &ProxyError{
		fmt.Sprintf("the proxy %s refused the connection with status %d; %s", excerpt(proxy.Host), response.StatusCode, advice), response.StatusCode,
	}
}
