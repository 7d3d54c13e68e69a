// Package telemetry sends spans of requests and metrics to a receiver of OpenTelemetry, by the conventions for MCP.
//
// A request that is traced is described after it ended, in the background, from what the router tells observers. Nothing
// waits for the receiver: queues are bounded, and what does not fit is dropped and counted. Arguments, results, URIs,
// and the texts of errors are never sent.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Options configure what is sent.
type Options struct {
	Settings Settings
	Version  string
	Environ  []string     // for proxies and certificates
	Log      *slog.Logger // default: discard
	// Mask hides secrets in what clients and servers chose: names of tools and prompts, ids. Default: nothing is hidden.
	Mask func(text string) string
	// Metrics returns what is counted, and the state of servers. Default: there are no metrics.
	Metrics func() (meter.Snapshot, []ServerState)
}

// ServerState is the state of one session with a server.
type ServerState struct {
	Toolbox, Server string
	State           fleet.State
	Memory          int64 // bytes; 0 if it is not known
	Questions       int   // calls of the server that wait for a person, the same in all its sessions
	IsLocked        bool  // only approved definitions of the server are offered
}

func (s *ServerState) key() serverKey { return serverKey{s.Toolbox, s.Server} }

// Limits of what is kept for a receiver that is slow or down.
const (
	maxQueue  = 2048                    // traced requests that wait to be sent; further ones are dropped
	maxBatch  = 256                     // requests whose spans are sent in one message
	batchTime = time.Second             // that a request waits for others, to be sent with them
	flushTime = 1500 * time.Millisecond // that Close waits for the receiver; the rest is dropped then
	complain  = time.Minute             // between two warnings about the receiver
)

// Sender is an observer that sends what it is told, and the tracer that decides what is traced.
type Sender struct {
	*sampler
	options  Options
	resource *resource
	queue    chan record
	traces   *poster // nil: spans are not sent
	metrics  *poster // nil: metrics are not sent

	life    context.Context
	cancel  context.CancelFunc
	closing chan struct{}
	once    sync.Once
	running sync.WaitGroup

	lost   atomic.Int64 // requests whose spans were dropped since the last warning
	warned atomic.Int64 // when it was last warned, in nanoseconds since 1970
}

// New makes a sender, which Start starts; it returns nil if nothing is configured. It says what is wrong with the settings.
func New(options Options) *Sender {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Mask == nil {
		options.Mask = func(text string) string { return text }
	}
	for _, problem := range options.Settings.Problems {
		options.Log.Warn("OpenTelemetry: " + problem)
	}
	if !options.Settings.IsOn() {
		return nil
	}
	s := &Sender{sampler: newSampler(&options.Settings), options: options, queue: make(chan record, maxQueue), closing: make(chan struct{})}
	s.resource = newResource(&options, tracecontext.NewTraceID().String())
	s.life, s.cancel = context.WithCancel(context.Background())
	if options.Settings.Traces.URL != "" {
		s.traces = newPoster(options.Settings.Traces, &options)
	}
	if options.Settings.Metrics.URL != "" && options.Metrics != nil {
		s.metrics = newPoster(options.Settings.Metrics, &options)
	}
	return s
}

// Start begins to send. Close ends it.
func (s *Sender) Start() {
	if s == nil {
		return
	}
	if s.traces != nil {
		s.running.Go(s.sendTraces)
	}
	if s.metrics != nil {
		s.running.Go(s.sendMetrics)
	}
}

// Tracer returns the tracer for the router; nil if spans are not sent.
func (s *Sender) Tracer() call.Tracer {
	if s == nil || s.traces == nil {
		return nil
	}
	return s.sampler
}

// Close sends what is left, waits for it until ctx ends or for flushTime, and drops the rest.
func (s *Sender) Close(ctx context.Context) {
	if s == nil {
		return
	}
	bounded, end := context.WithTimeout(ctx, flushTime)
	defer end()
	stop := context.AfterFunc(bounded, s.cancel)
	defer stop()
	s.once.Do(func() { close(s.closing) })
	s.running.Wait()
	s.cancel()
	if lost := s.lost.Swap(0) + int64(len(s.queue)); lost > 0 {
		s.options.Log.Warn("OpenTelemetry: spans could not be sent before the end", "requests", lost)
	}
}

// CallBegan implements call.Observer.
func (s *Sender) CallBegan(*call.Call, time.Time) {}

// CallEnded implements call.Observer.
func (s *Sender) CallEnded(c *call.Call, end call.End) {
	if c.Trace == nil || s.traces == nil {
		return
	}
	r := record{Routed: c.RoutedWith(end), method: protocol.FindMethod(c.Method).Name}
	if origin := call.OriginOf(c.Client); origin != nil {
		if origin.Route(r.Routed) {
			return // it is told when its client's request is answered
		}
		r.isPart = true
	}
	s.enqueue(r)
}

// Answered returns what is to be told of each request of a client that was answered; nil if spans are not sent.
func (s *Sender) Answered() func(*call.Origin, call.Answer) {
	if s.Tracer() == nil {
		return nil
	}
	return s.answered
}

// answered makes the span of a client's request, whether a server answered it or the workbench itself.
func (s *Sender) answered(origin *call.Origin, answer call.Answer) {
	trace := s.traceOf(origin)
	if trace == nil {
		return
	}
	r := record{origin: origin, parts: origin.Answer(), method: protocol.FindMethod(origin.Method).Name}
	part, isRouted := origin.Routed()
	if isRouted {
		r.Routed = part
	} else {
		r.Tool = origin.Tool
	}
	// What a server did says more than the answer, in which an error may be the text of a result.
	if hasFailed := part.End.ErrorType != ""; answer.Status == call.StatusOK || answer.Status != 0 && !hasFailed || part.End.Status == 0 {
		r.End = call.End{Status: max(answer.Status, call.StatusOK), ErrorType: answer.ErrorType}
	}
	r.End.Began, r.End.Took, r.Trace = origin.Began, time.Since(origin.Began), trace
	s.enqueue(r)
}

func (s *Sender) enqueue(r record) {
	select {
	case s.queue <- r:
	default:
		s.drop(1, "the queue is full")
	}
}

// drop counts requests whose spans are not sent, and says so from time to time.
func (s *Sender) drop(requests int, why string) {
	s.lost.Add(int64(requests))
	now, last := time.Now(), s.warned.Load()
	if now.Sub(time.Unix(0, last)) < complain || !s.warned.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	s.options.Log.Warn("OpenTelemetry: spans were dropped", "requests", s.lost.Swap(0), "reason", why)
}

// sendTraces sends the spans of requests, until the sender is closed and the queue is empty.
func (s *Sender) sendTraces() {
	defer s.traces.close()
	for {
		batch, more := s.nextBatch()
		if len(batch) > 0 {
			s.sendBatch(batch)
		}
		if !more || s.life.Err() != nil {
			return
		}
	}
}

// nextBatch waits for requests. more is false if none will come after them.
func (s *Sender) nextBatch() (batch []record, more bool) {
	select {
	case first := <-s.queue:
		batch = append(batch, first)
	case <-s.closing:
	}
	full := time.NewTimer(batchTime)
	defer full.Stop()
	for closing := s.closing; len(batch) < maxBatch; {
		select {
		case next := <-s.queue:
			batch = append(batch, next)
		case <-full.C:
			return batch, true
		case <-closing:
			for len(batch) < maxBatch {
				select {
				case next := <-s.queue:
					batch = append(batch, next)
				default:
					return batch, false
				}
			}
		}
	}
	return batch, true
}

func (s *Sender) sendBatch(batch []record) {
	body, err := proto.Marshal(s.resource.traces(batch))
	if err != nil { // only if a text is not UTF-8, which clean prevents
		s.drop(len(batch), "they could not be encoded")
		return
	}
	answer, err := s.traces.deliver(s.life, s.closing, body)
	if err != nil {
		s.drop(len(batch), err.Error())
		return
	}
	var response collectortrace.ExportTraceServiceResponse
	if proto.Unmarshal(answer, &response) == nil && response.GetPartialSuccess().GetRejectedSpans() > 0 {
		s.drop(int(min(response.GetPartialSuccess().GetRejectedSpans(), int64(len(batch)))), "the receiver rejected them")
	}
}

// sendMetrics sends the metrics at intervals, and once more at the end. They are totals, so that nothing is lost if one
// message is.
func (s *Sender) sendMetrics() {
	defer s.metrics.close()
	interval := s.options.Settings.Interval
	// Workbenches that start together do not send together.
	timer := time.NewTimer(interval/2 + rand.N(interval/2))
	defer timer.Stop()
	warned := false
	for open := true; open; {
		select {
		case <-timer.C:
			timer.Reset(interval)
		case <-s.closing:
			open = false
		}
		err := s.sendSnapshot()
		if err != nil && !warned {
			s.options.Log.Warn("OpenTelemetry: metrics could not be sent", "reason", err)
		}
		warned = err != nil
	}
}

func (s *Sender) sendSnapshot() error {
	snapshot, states := s.options.Metrics()
	body, err := proto.Marshal(s.resource.metrics(snapshot, states, time.Now()))
	if err != nil {
		return err
	}
	answer, err := s.metrics.post(s.life, body)
	if err != nil {
		return err
	}
	var response collectormetrics.ExportMetricsServiceResponse
	if proto.Unmarshal(answer, &response) == nil && response.GetPartialSuccess().GetRejectedDataPoints() > 0 {
		return fmt.Errorf("the receiver rejected %d data points", response.GetPartialSuccess().GetRejectedDataPoints())
	}
	return nil
}
