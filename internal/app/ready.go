package app

import (
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
)

const (
	readyInterval      = time.Second      // between two looks at whether clients can be served; /readyz answers the last in between
	auditProbeInterval = 10 * time.Second // between two tries to write beside a required audit log
)

// readiness answers whether clients can be served over HTTP. Anybody may ask, so the answer is kept for a moment, and has
// nothing in it that strangers must not know.
type readiness struct {
	look func() []string

	mu      sync.Mutex
	looked  time.Time
	reasons []string
}

// why returns a line for each reason why clients cannot be served.
func (r *readiness) why() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looked.IsZero() || time.Since(r.looked) >= readyInterval {
		r.reasons, r.looked = r.look(), time.Now()
	}
	return r.reasons
}

// newReadiness returns what tells whether clients can be served with these options.
func (a *App) newReadiness(options HTTPOptions) *readiness {
	var probed time.Time
	var unwritable bool
	return &readiness{look: func() (reasons []string) {
		if a.withheld.Load().(string) != "" {
			reasons = append(reasons, "the configuration cannot be used")
		}
		if options.Tokens != nil && options.Tokens.Problem() != nil {
			reasons = append(reasons, "the tokens cannot be read")
		}
		if a.mustAudit {
			if time.Since(probed) >= auditProbeInterval {
				probed, unwritable = time.Now(), audit.Probe(a.auditAt) != nil
			}
			if unwritable || a.audit.Failing() != nil {
				reasons = append(reasons, "the audit log cannot be written, and is required")
			}
		}
		if verifier := a.verifier.Load(); verifier != nil && verifier.Ready() != nil {
			reasons = append(reasons, "the identity provider cannot be asked, so that people cannot be verified")
		}
		for _, check := range options.Checks {
			if err := check(); err != nil {
				line, _, _ := strings.Cut(err.Error(), "\n")
				reasons = append(reasons, a.Mask(line))
			}
		}
		return reasons
	}}
}
