package fleet

import (
	"crypto/tls"
	"fmt"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// The steps of a start, in order. The first two are for a server with a command, the next three for a remote server, as
// far as they are needed.
const (
	StepCommand   = "command"
	StepStart     = "start"
	StepLookup    = "dns"
	StepConnect   = "connect"
	StepTLS       = "tls"
	StepHandshake = "handshake"
	StepTools     = "tools"
)

// Step is one step of a start.
type Step struct {
	Name   string
	Done   bool          // it succeeded
	Failed bool          // the start failed at it; neither: it is under way
	Detail string        // its outcome, secrets masked
	Took   time.Duration // so far, if it is under way
}

// progress records the steps of a start. The goroutine that starts the server writes it; for a remote server, so do the
// goroutines of its connections.
type progress struct {
	mu    sync.Mutex
	steps []Step
	begun time.Time // of the last step
}

// restart begins the first step.
func (p *progress) restart(first string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps, p.begun = []Step{{Name: first}}, time.Now()
}

// nextStep ends the last step with its outcome and begins another.
func (p *progress) nextStep(name, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishStep(detail)
	p.appendStep(name)
}

// endStep ends the last step with its outcome.
func (p *progress) endStep(detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishStep(detail)
}

// fail marks the last step as failed. Only the first call has an effect.
func (p *progress) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := &p.steps[len(p.steps)-1]; !last.Failed {
		p.finishStep("")
		last.Done, last.Failed = false, true
	}
}

// appendStep begins a step. Called with mu held.
func (p *progress) appendStep(name string) {
	p.steps, p.begun = append(p.steps, Step{Name: name}), time.Now()
}

// finishStep ends the last step. Called with mu held.
func (p *progress) finishStep(detail string) {
	last := &p.steps[len(p.steps)-1]
	last.Done, last.Took = true, time.Since(p.begun)
	if detail != "" {
		last.Detail = detail
	}
}

// updateStep changes the last step if it has this name and is under way.
func (p *progress) updateStep(name string, change func(last *Step)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := &p.steps[len(p.steps)-1]; last.Name == name && !last.Done && !last.Failed {
		change(last)
	}
}

// nextStepAfter does the same as nextStep if the last step has this name and is under way.
func (p *progress) nextStepAfter(name, following, detail string) {
	p.updateStep(name, func(*Step) {
		p.finishStep(detail)
		p.appendStep(following)
	})
}

// snapshot returns the steps as they are now.
func (p *progress) snapshot() []Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	steps := append([]Step(nil), p.steps...)
	if n := len(steps); n > 0 && !steps[n-1].Done && !steps[n-1].Failed {
		steps[n-1].Took = time.Since(p.begun)
	}
	return steps
}

// trace records the first connection to a remote server. Later and parallel connections change nothing.
func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) {
			p.updateStep(StepConnect, func(last *Step) { last.Name = StepLookup })
		},
		DNSDone: func(info httptrace.DNSDoneInfo) {
			if info.Err == nil {
				p.nextStepAfter(StepLookup, StepConnect, joinAddresses(info))
			}
		},
		ConnectDone: func(_, address string, err error) {
			if err == nil {
				p.updateStep(StepConnect, func(last *Step) { last.Detail = address })
			}
		},
		TLSHandshakeStart: func() { p.nextStepAfter(StepConnect, StepTLS, "") },
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			if err == nil {
				p.nextStepAfter(StepTLS, StepHandshake, describeTLS(state))
			}
		},
		GotConn: func(httptrace.GotConnInfo) { p.nextStepAfter(StepConnect, StepHandshake, "") },
	}
}

// shownAddresses is the number of addresses of a host name that are shown.
const shownAddresses = 3

func joinAddresses(info httptrace.DNSDoneInfo) string {
	var texts []string
	for _, address := range info.Addrs[:min(len(info.Addrs), shownAddresses)] {
		texts = append(texts, address.String())
	}
	if more := len(info.Addrs) - shownAddresses; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

func describeTLS(state tls.ConnectionState) string {
	text := tls.VersionName(state.Version)
	if len(state.PeerCertificates) > 0 {
		text += ", certificate valid until " + state.PeerCertificates[0].NotAfter.Format(time.DateOnly)
	}
	return text
}

// describeCommand returns the executable of the command.
func (s *Server) describeCommand(child *process.Process) string {
	if s.config.Builtin != "" {
		return "built in"
	}
	return s.fleet.masker.Load().Mask(child.Path())
}

// describeHandshake returns the server's software and the negotiated revision.
func (s *Server) describeHandshake(session *downstream.Session) string {
	text := "revision " + string(session.Revision())
	if software := s.software(session); software != "" {
		text = software + ", " + text
	}
	return text
}

// maxSoftware limits the name and version of a server, in bytes.
const maxSoftware = 200

// software returns the name and version that the server declares.
func (s *Server) software(session *downstream.Session) string {
	text := strings.TrimSpace(session.ServerName() + " " + session.ServerVersion())
	if len(text) > maxSoftware {
		text = strings.ToValidUTF8(text[:maxSoftware], "") + "…"
	}
	return s.fleet.cleanServerText(text)
}
