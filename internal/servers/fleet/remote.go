package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// connectRemote begins a session with a remote server. Unless the configuration names one of the two HTTP transports, the
// newer one is tried first. The next start begins with the transport that worked.
func (s *Server) connectRemote(ctx context.Context, opening downstream.Opening) (*instance, error) {
	sse := s.config.Transport == "sse" || s.config.Transport == "" && s.startHints.speaksSSE.Load()
	in, err := s.connectVia(ctx, sse, opening)
	if err == nil || s.config.Transport != "" {
		return in, s.explainRemote(err)
	}
	status, refused := errors.AsType[*downstream.StatusError](err)
	if !refused || !status.NoEndpoint() || ctx.Err() != nil {
		return nil, s.explainRemote(err)
	}
	in, other := s.connectVia(ctx, !sse, opening)
	if other == nil {
		s.startHints.speaksSSE.Store(!sse)
		return in, nil
	}
	first, second := s.explainRemote(err), s.explainRemote(other)
	if _, ok := errors.AsType[*LoginNeededError](second); ok {
		return nil, second
	}
	return nil, fmt.Errorf("%w; and as %s: %w", first, transportName(!sse), second)
}

func transportName(sse bool) string {
	if sse {
		return "HTTP+SSE"
	}
	return "Streamable HTTP"
}

// connectVia begins a session over one of the transports.
func (s *Server) connectVia(ctx context.Context, sse bool, opening downstream.Opening) (*instance, error) {
	started := time.Now()
	s.progress.restart(StepConnect)
	filled, err := s.fill(ctx)
	if err != nil {
		return nil, err
	}
	in := newInstance(nil)
	options := s.sessionOptions(in, opening)
	options.Remote = &downstream.Remote{
		URL: filled.URL, SSE: sse, Environ: s.fleet.options.Environ, Trace: s.progress.trace(),
	}
	if s.signIn != nil {
		options.Remote.Credentials = s.signIn
	}
	for _, header := range filled.Headers {
		options.Remote.Headers = append(options.Remote.Headers, downstream.Header{Name: header.Name, Value: header.Value})
	}
	if err := s.connect(ctx, in, options); err != nil {
		if isDenied(err) {
			s.forgetSecrets()
		}
		s.progress.fail()
		s.discard(in)
		return nil, err
	}
	in.took = time.Since(started)
	return in, nil
}

func (s *Server) explainRemote(err error) error {
	if err == nil {
		return nil
	}
	return s.explain(nil, err, s.config.Timeouts.Connect)
}
