package telemetry

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"golang.org/x/time/rate"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
)

// SamplerSettings say which requests are traced.
type SamplerSettings struct {
	ParentBased bool    // a request with a trace is traced if its client traces it
	Ratio       float64 // of the others, from 0 to 1
	PerSecond   float64 // the most of the others in a second; 0: any number
}

// maxNewTraces bounds the traces that begin here in a second, unless OTEL_TRACES_SAMPLER says otherwise; requests beyond
// it are not traced.
const maxNewTraces = 100

// sampler reads OTEL_TRACES_SAMPLER.
func (e *environment) sampler() SamplerSettings {
	const variable, argument = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	usual := SamplerSettings{ParentBased: true, Ratio: 1, PerSecond: maxNewTraces}
	name, parentBased := strings.CutPrefix(e.values[variable], "parentbased_")
	switch name {
	case "":
		return usual
	case "always_on":
		return SamplerSettings{ParentBased: parentBased, Ratio: 1}
	case "always_off":
		return SamplerSettings{ParentBased: parentBased}
	case "traceidratio":
		ratio, err := strconv.ParseFloat(e.values[argument], 64)
		if e.values[argument] == "" {
			ratio, err = 1, nil
		}
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			e.complain(argument, "is not a number from 0 to 1; 1 is used")
			ratio = 1
		}
		return SamplerSettings{ParentBased: parentBased, Ratio: ratio}
	}
	e.complain(variable, "names a sampler that is not supported; the usual one is used: that of the client's trace, or else at most 100 traces a second")
	return usual
}

// sampler decides which requests are traced.
type sampler struct {
	settings     SamplerSettings
	below        uint64        // the bound of the ratio; see decide
	limit        *rate.Limiter // nil: any number
	traceContext bool
	baggage      bool
}

func newSampler(settings *Settings) *sampler {
	s := &sampler{settings: settings.Sampler, traceContext: settings.TraceContext, baggage: settings.Baggage}
	s.below = uint64(min(settings.Sampler.Ratio*(1<<63), math.MaxInt64))
	if settings.Sampler.PerSecond > 0 {
		s.limit = rate.NewLimiter(rate.Limit(settings.Sampler.PerSecond), int(settings.Sampler.PerSecond))
	}
	return s
}

// Trace implements call.Tracer. All parts of a client's request are in one trace, with one span towards the client.
func (s *sampler) Trace(c *call.Call) *call.Trace {
	origin := call.OriginOf(c.Client)
	if origin == nil {
		return s.begin(tracecontext.FromMeta(c.Meta), tracecontext.Carrier{})
	}
	whole := s.traceOf(origin)
	if whole == nil {
		return nil
	}
	return &call.Trace{ID: whole.ID, Span: whole.Span, Parent: whole.Parent, Carrier: whole.Carrier, Silent: whole.Silent}
}

// traceOf returns the trace of a client's request; nil if it is not traced.
func (s *sampler) traceOf(origin *call.Origin) *call.Trace {
	return origin.Decide(func() *call.Trace { return s.begin(origin.Meta, origin.Header) })
}

// begin decides about a request by what its _meta and headers say.
func (s *sampler) begin(meta, header tracecontext.Carrier) *call.Trace {
	var carrier tracecontext.Carrier
	var parent tracecontext.Parent
	hasParent := false
	if s.traceContext {
		carrier, parent, hasParent = s.carried(meta, header)
	}
	id := parent.Trace
	if !hasParent {
		id = tracecontext.NewTraceID()
	}
	if !s.decide(id, parent, hasParent) {
		return nil
	}
	return &call.Trace{ID: id, Span: tracecontext.NewSpanID(), Parent: parent.Span, Carrier: carrier, Silent: !s.traceContext}
}

// carried returns what the client says about its trace: _meta counts more than the headers.
func (s *sampler) carried(meta, header tracecontext.Carrier) (carrier tracecontext.Carrier, parent tracecontext.Parent, ok bool) {
	carrier = meta
	if parent, ok = tracecontext.ParseParent(carrier.Parent); !ok {
		parent, ok = tracecontext.ParseParent(header.Parent)
		carrier.State = header.State
	}
	if carrier.Baggage == "" {
		carrier.Baggage = header.Baggage
	}
	if !ok {
		carrier.State = ""
	}
	if !s.baggage {
		carrier.Baggage = ""
	}
	return carrier, parent, ok
}

func (s *sampler) decide(id tracecontext.TraceID, parent tracecontext.Parent, hasParent bool) bool {
	if s.settings.ParentBased && hasParent {
		return parent.Sampled
	}
	switch {
	case s.settings.Ratio <= 0:
		return false
	case s.settings.Ratio < 1 && binary.BigEndian.Uint64(id[8:])>>1 >= s.below:
		return false
	}
	return s.limit == nil || s.limit.Allow()
}
