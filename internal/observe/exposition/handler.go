package exposition

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
)

// maxReaders is how many read the metrics at once; others get 503, since finding the memory of all servers is expensive.
const maxReaders = 4

// Options say where metrics come from.
type Options struct {
	Read func() Measured
	// Mask removes secrets from names that servers chose.
	Mask func(string) string
	// Visible returns the toolboxes that a reader may see; nil: all. Default: all for everybody.
	Visible func(*http.Request) []string
	Log     *slog.Logger
}

// Handler answers with the metrics, as text, as OpenMetrics with exemplars, or as protocol buffers, whatever the reader
// accepts.
type Handler struct {
	options Options
	program func() []prometheus.Collector // of the program itself; made when they are first needed
	readers chan struct{}
}

// NewHandler makes a handler.
func NewHandler(options Options) *Handler {
	if options.Visible == nil {
		options.Visible = func(*http.Request) []string { return nil }
	}
	return &Handler{
		options: options, readers: make(chan struct{}, maxReaders),
		program: sync.OnceValue(func() []prometheus.Collector {
			return []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
		}),
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	select {
	case h.readers <- struct{}{}:
		defer func() { <-h.readers }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many read the metrics at once", http.StatusServiceUnavailable)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{read: h.visibleTo(r), mask: h.options.Mask})
	registry.MustRegister(h.program()...)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError, ErrorLog: reporter{h.options.Log},
	}).ServeHTTP(w, r)
}

// visibleTo returns how to read what a reader may see.
func (h *Handler) visibleTo(r *http.Request) func() Measured {
	visible := h.options.Visible(r)
	if visible == nil {
		return h.options.Read
	}
	return func() Measured {
		seen := h.options.Read()
		seen.Servers = slices.DeleteFunc(seen.Servers, func(s Server) bool { return !slices.Contains(visible, s.Toolbox) })
		seen.Counted.Servers = slices.DeleteFunc(seen.Counted.Servers, func(s meter.Totals) bool { return !slices.Contains(visible, s.Toolbox) })
		return seen
	}
}

// reporter logs what is wrong with metrics.
type reporter struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (r reporter) Println(parts ...any) { r.log.Warn("metrics are incomplete", "reason", parts) }
