package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// certificateNotice is how long before its end a certificate is warned of.
	certificateNotice = 14 * 24 * time.Hour
	// neighbourTime is for the answer of a program that listens on the port already.
	neighbourTime = 3 * time.Second
	// maxNeighbour is how much of its answer is read.
	maxNeighbour = 4 << 10
)

// Names of the checks of serving.
const (
	checkTokens      = "tokens"
	checkPeople      = "identity provider"
	checkCertificate = "certificate"
	checkClientCerts = "client certificates"
	checkListen      = "address"
	checkTables      = "toolboxes"
	checkProxies     = "trusted proxies"
	checkServer      = "server"
)

// Serving is what 'serve' would do.
type Serving struct {
	Config  *config.Config
	Address string                          // to listen on
	Tokens  func() (*httpauth.Store, error) // nil: none is required
	Environ []string
	Version string
}

// Faults tells of the servers whose definitions are wrong, as 'validate' does. Without accounts, people cannot be served as configured;
// on other servers nothing else depends.
func Faults(cfg *config.Config) (checks []Check) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			server := &box.Servers[i]
			if server.Fault == nil || server.Disabled {
				continue
			}
			check := Check{Name: checkServer, Verdict: Warning, Detail: places(server.Fault), Fix: hints(server.Fault)}
			if slices.ContainsFunc(server.Fault.Problems, isOfPeople) {
				check.Verdict = Failed
				if check.Fix == "" {
					check.Fix = "Correct it; docs/team.md has examples."
				}
			}
			checks = append(checks, check)
		}
	}
	return checks
}

// isOfPeople reports whether a problem of a server is about the accounts of people, which 'http.oauth' is needed for.
func isOfPeople(problem config.Problem) bool {
	return strings.Contains(problem.Message, "'oauth.accounts'") || strings.Contains(problem.Message, `"accounts": "`)
}

// Check looks at what serving needs besides the configuration itself.
func (s Serving) Check(ctx context.Context) []Check {
	checks := []Check{s.tokens()}
	checks = append(checks, s.people(ctx)...)
	checks = append(checks, s.tables()...)
	certificate, clients := s.certificates()
	checks = append(checks, certificate...)
	checks = append(checks, clients...)
	checks = append(checks, s.proxies()...)
	checks = append(checks, s.prefix()...)
	return append(checks, s.listen(ctx))
}

// Failure returns the check that an error is the result of.
func Failure(name string, err error) Check { return failed(name, err) }

// tokens checks that somebody can come in.
func (s Serving) tokens() Check {
	store, err := s.Tokens()
	if err != nil {
		return failed(checkTokens, err)
	}
	if store == nil {
		return Check{Name: checkTokens, Verdict: Warning, Detail: "none is required: every program of this machine may use the tools"}
	}
	now, valid := time.Now(), 0
	for _, token := range store.List() {
		if token.Expires.IsZero() || now.Before(token.Expires) {
			valid++
		}
	}
	if valid > 0 {
		return Check{Name: checkTokens, Verdict: Fine, Detail: toolbox.Count(valid, "token is valid", "tokens are valid")}
	}
	if s.Config.HTTP.OAuth != nil || s.Config.HTTP.TLS.ClientCA != "" {
		return Check{Name: checkTokens, Verdict: Fine, Detail: "none, which is fine: clients are known in another way"}
	}
	return Check{Name: checkTokens, Verdict: Warning, Detail: "there is none that is valid, so no client can connect", Fix: "mcp-workbench token add NAME"}
}

// people checks the identity provider.
func (s Serving) people(ctx context.Context) (checks []Check) {
	if s.Config.HTTP.OAuth == nil {
		return nil
	}
	verifier, err := identity.New(identity.Options{Settings: *s.Config.HTTP.OAuth, Environ: s.Environ, Version: s.Version})
	if err != nil {
		return []Check{failed(checkPeople, err)}
	}
	for _, step := range verifier.Check(ctx) {
		check := Check{Name: checkPeople, Verdict: Fine, Detail: joinNonEmpty(step.Title, step.Detail)}
		if step.Err != nil {
			check.Verdict, check.Detail, check.Fix = Failed, joinNonEmpty(step.Title, step.Detail, step.Err.Error()), step.Hint
		}
		checks = append(checks, check)
	}
	return checks
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// tables checks that the toolboxes that people and certificates are given exist.
func (s Serving) tables() (checks []Check) {
	var names []string
	for _, box := range s.Config.Toolboxes {
		names = append(names, box.Name)
	}
	table := func(key string, grants []config.ToolboxGrant) {
		if len(grants) == 0 {
			return
		}
		var missing []string
		fix := ""
		for _, grant := range grants {
			for _, name := range grant.Toolboxes {
				if slices.Contains(names, name) || slices.Contains(missing, "'"+name+"'") {
					continue
				}
				missing = append(missing, "'"+name+"'")
				if near := toolbox.Nearest(name, names, 1); len(near) > 0 && fix == "" {
					fix = fmt.Sprintf("Did you mean '%s' by '%s'?", near[0], name)
				}
			}
		}
		check := Check{Name: checkTables, Verdict: Fine, Detail: fmt.Sprintf("all in '%s' exist", key)}
		if len(missing) > 0 {
			check.Verdict, check.Fix = Failed, cmp.Or(fix, "Name toolboxes that the configuration has, or add these to it.")
			check.Detail = fmt.Sprintf("'%s' names toolboxes that do not exist: %s", key, strings.Join(missing, ", "))
		}
		checks = append(checks, check)
	}
	if people := s.Config.HTTP.OAuth; people != nil {
		table("http.oauth.toolboxes", people.Toolboxes)
	}
	table("http.tls.clients", s.Config.HTTP.TLS.Clients)
	return checks
}

// certificates checks the certificate, and the authorities of client certificates.
func (s Serving) certificates() (certificate, clients []Check) {
	files := s.Config.HTTP.TLS
	if files.Cert == "" {
		return nil, nil
	}
	used, err := service.OpenCertificates(files, nil)
	if err != nil {
		return []Check{failed(checkCertificate, err)}, nil
	}
	left := time.Until(used.Expires())
	check := Check{
		Name: checkCertificate, Verdict: Fine,
		Detail: fmt.Sprintf("%s is valid for %s, until %s", files.Cert, toolbox.Count(int(left.Hours()/24), "day", "days"), used.Expires().UTC().Format(time.DateOnly)),
	}
	unfit := used.Serves(s.host())
	switch {
	case left <= 0:
		check.Verdict, check.Fix = Failed, "Renew it. A workbench that serves reads it again by itself."
		check.Detail = fmt.Sprintf("%s expired on %s", files.Cert, used.Expires().UTC().Format(time.DateOnly))
	case unfit != nil:
		check.Verdict, check.Fix = Failed, "Use a certificate for servers whose alternative names have the host under which clients connect, which is that of 'http.oauth.resource'."
		check.Detail = fmt.Sprintf("clients refuse %s: %v", files.Cert, unfit)
	case left < certificateNotice:
		check.Verdict, check.Fix = Warning, "Renew it. A workbench that serves reads it again by itself."
	}
	if files.ClientCA != "" {
		clients = []Check{{
			Name: checkClientCerts, Verdict: Fine,
			Detail: fmt.Sprintf("%s, %s", toolbox.Count(used.Authorities(), "authority", "authorities"), toolbox.Count(len(files.Clients), "name", "names")),
		}}
	}
	return []Check{check}, clients
}

// host returns the host under which people's clients connect; "" if the configuration does not say it.
func (s Serving) host() string {
	if s.Config.HTTP.OAuth == nil {
		return ""
	}
	u, err := url.Parse(s.Config.HTTP.OAuth.Resource)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// prefix warns of a path before /mcp, which the workbench itself does not serve.
func (s Serving) prefix() []Check {
	people := s.Config.HTTP.OAuth
	if people == nil {
		return nil
	}
	u, err := url.Parse(people.Resource)
	if err != nil {
		return nil
	}
	before := strings.TrimSuffix(u.EscapedPath(), "/mcp")
	if before == "" {
		return nil
	}
	return []Check{{
		Name: checkProxies, Verdict: Warning,
		Detail: fmt.Sprintf("'http.oauth.resource' has %s before /mcp, which the workbench does not serve: a proxy must take it away", before),
		Fix:    "Have it pass " + before + "/ as /, and /.well-known/oauth-protected-resource" + before + "/ as it is; docs/team.md has it for nginx.",
	}}
}

// proxies shows whose word about clients counts.
func (s Serving) proxies() []Check {
	trusted := s.Config.HTTP.TrustedProxies
	if len(trusted) == 0 {
		people := s.Config.HTTP.OAuth
		if people == nil || !strings.HasPrefix(people.Resource, "https:") || s.Config.HTTP.TLS.Cert != "" {
			return nil
		}
		return []Check{{
			Name: checkProxies, Verdict: Warning,
			Detail: "none, though a proxy must be in front: clients use https, and this workbench does not; all of them would count as one address",
			Fix:    `Name the proxy's address, such as "http": {"trustedProxies": ["127.0.0.1"]}.`,
		}}
	}
	var names []string
	for _, prefix := range trusted {
		if prefix.IsSingleIP() {
			names = append(names, prefix.Addr().String())
		} else {
			names = append(names, prefix.String())
		}
	}
	return []Check{{Name: checkProxies, Verdict: Fine, Detail: strings.Join(names, ", ")}}
}

// listen checks that the address can be listened on. A workbench may do that already.
func (s Serving) listen(ctx context.Context) Check {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err == nil {
		_ = listener.Close() // nobody connected
		return Check{Name: checkListen, Verdict: Fine, Detail: s.Address + " is free"}
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return s.neighbour(ctx)
	}
	return Check{
		Name: checkListen, Verdict: Failed, Detail: fmt.Sprintf("cannot listen on %s: %v", s.Address, plainCause(err)),
		Fix: "Choose an address of this machine, with http.listen or --listen, such as " + config.DefaultListen + ".",
	}
}

// neighbour tells who listens on the address already.
func (s Serving) neighbour(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, neighbourTime)
	defer cancel()
	status, text, err := s.ask(ctx, "/healthz")
	if err != nil || status != http.StatusOK || text != "ok" {
		return Check{
			Name: checkListen, Verdict: Failed, Detail: s.Address + " is used by another program",
			Fix: "Choose another port, with http.listen or --listen, or end that program.",
		}
	}
	check := Check{Name: checkListen, Verdict: Fine, Detail: s.Address + " is used by a workbench that serves already, and is ready"}
	if status, text, err = s.ask(ctx, "/readyz"); err != nil || status != http.StatusOK {
		check.Verdict = Warning
		check.Detail = fmt.Sprintf("%s is used by a workbench that serves already, and is not ready: %s", s.Address, strings.ReplaceAll(text, "\n", "; "))
	}
	return check
}

// ask gets a page of what listens on the address.
func (s Serving) ask(ctx context.Context, path string) (status int, text string, err error) {
	scheme := "http"
	if s.Config.HTTP.TLS.Cert != "" {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+reachable(s.Address)+path, nil)
	if err != nil {
		return 0, "", err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		// Nothing secret is sent, and the certificate is that of another name than this address.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxNeighbour))
	return response.StatusCode, strings.TrimSpace(string(body)), err
}

// reachable returns an address to connect to what listens on an address.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
