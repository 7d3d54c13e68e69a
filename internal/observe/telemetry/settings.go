package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Settings are what the OTEL_* variables of the environment say.
type Settings struct {
	Traces, Metrics Endpoint
	Service         string
	Resource        map[string]string // without the service's name
	Sampler         SamplerSettings
	Interval        time.Duration // between two exports of metrics
	// Propagation: of traceparent and tracestate, and of baggage.
	TraceContext, Baggage bool
	// Problems say which variables are not followed, and why. They quote no values, which may be secrets.
	Problems []string
}

// Endpoint is where one kind of data is sent.
type Endpoint struct {
	URL     string // "": it is not sent
	Headers map[string]string
	Timeout time.Duration // of one attempt
	Gzip    bool
	// Of TLS: those that may have signed the receiver's certificate, nil for the usual ones; and our own one, or nil.
	Authorities *x509.CertPool
	Certificate *tls.Certificate
}

// IsOn reports whether anything is sent.
func (s *Settings) IsOn() bool { return s.Traces.URL != "" || s.Metrics.URL != "" }

const (
	defaultService  = "mcp-workbench"
	defaultTimeout  = 10 * time.Second // of one attempt to send
	defaultInterval = time.Minute      // between two exports of metrics
	minInterval     = time.Second      // between two exports of metrics, whatever is configured
	maxAttributes   = 64               // resource attributes; further ones are left out
)

// environment reads variables, and collects what is wrong with them.
type environment struct {
	values   map[string]string
	problems []string
}

// Read returns the settings of an environment. Wrong values are left out and described.
func Read(environ []string) Settings {
	e := &environment{values: make(map[string]string)}
	for _, variable := range environ {
		if name, value, ok := strings.Cut(variable, "="); ok && strings.HasPrefix(name, "OTEL_") {
			e.values[name] = strings.TrimSpace(value)
		}
	}
	if strings.EqualFold(e.values["OTEL_SDK_DISABLED"], "true") {
		return Settings{}
	}
	if disabled := e.values["OTEL_SDK_DISABLED"]; disabled != "" && !strings.EqualFold(disabled, "false") {
		e.complain("OTEL_SDK_DISABLED", "is neither 'true' nor 'false', and counts as 'false'")
	}
	s := Settings{Traces: e.endpoint("TRACES", "v1/traces"), Metrics: e.endpoint("METRICS", "v1/metrics")}
	if !s.IsOn() {
		s.Problems = e.problems
		return s
	}
	s.Resource = e.pairs("OTEL_RESOURCE_ATTRIBUTES")
	for len(s.Resource) > maxAttributes {
		delete(s.Resource, slices.Max(slices.Collect(maps.Keys(s.Resource))))
	}
	s.Service = e.values["OTEL_SERVICE_NAME"]
	if s.Service == "" {
		s.Service = s.Resource["service.name"]
	}
	if s.Service == "" {
		s.Service = defaultService
	}
	delete(s.Resource, "service.name")
	s.Sampler = e.sampler()
	if s.Interval = e.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", defaultInterval); s.Interval < minInterval {
		e.complain("OTEL_METRIC_EXPORT_INTERVAL", fmt.Sprintf("is below %s, which is used", minInterval))
		s.Interval = minInterval
	}
	s.TraceContext, s.Baggage = e.propagators()
	s.Problems = e.problems
	return s
}

// complain describes what is wrong with a variable, once if it is for several kinds of data.
func (e *environment) complain(variable, problem string) {
	if text := fmt.Sprintf("the variable %s %s", variable, problem); !slices.Contains(e.problems, text) {
		e.problems = append(e.problems, text)
	}
}

// find returns the variable of one kind of data, or else that of all.
func (e *environment) find(kind, name string) (variable, value string) {
	variable = "OTEL_EXPORTER_OTLP_" + kind + "_" + name
	if value = e.values[variable]; value != "" {
		return variable, value
	}
	variable = "OTEL_EXPORTER_OTLP_" + name
	return variable, e.values[variable]
}

// endpoint returns where one kind of data is sent. An address for all kinds is extended by the path of the kind.
func (e *environment) endpoint(kind, path string) (to Endpoint) {
	switch exporter := e.values["OTEL_"+kind+"_EXPORTER"]; exporter {
	case "", "otlp":
	case "none":
		return to
	default:
		e.complain("OTEL_"+kind+"_EXPORTER", "is not followed, and nothing of this kind is sent: only 'otlp' and 'none' are supported")
		return to
	}
	variable, address := e.find(kind, "ENDPOINT")
	if address == "" {
		return to
	}
	if variable, protocol := e.find(kind, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		e.complain(variable, "is not followed, and nothing is sent: only 'http/protobuf' is supported; the endpoint for it often has the port 4318")
		return to
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		e.complain(variable, "is not an address that begins with 'http://' or 'https://'; nothing is sent there")
		return to
	}
	if variable == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		parsed = parsed.JoinPath(path)
	}
	if !e.certificates(kind, &to) {
		return Endpoint{}
	}
	to.URL = parsed.String()
	variable, _ = e.find(kind, "HEADERS")
	to.Headers = e.headers(variable)
	variable, _ = e.find(kind, "TIMEOUT")
	to.Timeout = e.milliseconds(variable, defaultTimeout)
	switch variable, compression := e.find(kind, "COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		to.Gzip = true
	default:
		e.complain(variable, "is not followed: only 'gzip' and 'none' are supported")
	}
	return to
}

// headers returns pairs that can be headers.
func (e *environment) headers(variable string) map[string]string {
	all := e.pairs(variable)
	for name, value := range all {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			e.complain(variable, "has a header that cannot be sent, which is left out")
			delete(all, name)
		}
	}
	return all
}

// pairs reads a list such as "a=b,c=d", with values that are percent-encoded.
func (e *environment) pairs(variable string) map[string]string {
	all := make(map[string]string)
	for pair := range strings.SplitSeq(e.values[variable], ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			e.complain(variable, "has an entry that is not of the form 'name=value', which is left out")
			continue
		}
		all[name] = decoded
	}
	return all
}

func (e *environment) milliseconds(variable string, usual time.Duration) time.Duration {
	text := e.values[variable]
	if text == "" {
		return usual
	}
	ms, err := strconv.ParseUint(text, 10, 31)
	if err != nil || ms == 0 {
		e.complain(variable, fmt.Sprintf("is not a number of milliseconds; %s is used", usual))
		return usual
	}
	return time.Duration(ms) * time.Millisecond
}

func (e *environment) propagators() (traceContext, baggage bool) {
	const variable = "OTEL_PROPAGATORS"
	list := e.values[variable]
	if list == "" {
		return true, true
	}
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "tracecontext":
			traceContext = true
		case "baggage":
			baggage = true
		case "none", "":
		default:
			e.complain(variable, "names a propagator that is not supported: only 'tracecontext', 'baggage' and 'none' are")
		}
	}
	return traceContext, baggage && traceContext
}
