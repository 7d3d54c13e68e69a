package exposition

import (
	"compress/gzip"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

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
	readers chan struct{}
}

// offered are the formats, the preferred ones first.
var offered = []expfmt.Format{expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtProtoDelim, expfmt.FmtText}

// NewHandler makes a handler.
func NewHandler(options Options) *Handler {
	if options.Visible == nil {
		options.Visible = func(*http.Request) []string { return nil }
	}
	return &Handler{options: options, readers: make(chan struct{}, maxReaders)}
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
	// Those of the program itself are in the registry of the library.
	families, err := prometheus.Gatherers{registry, prometheus.DefaultGatherer}.Gather()
	if err != nil {
		h.incomplete(err)
		if len(families) == 0 {
			http.Error(w, "the metrics cannot be read; the log says why", http.StatusInternalServerError)
			return
		}
	}
	h.answer(w, r, families)
}

// answer writes metrics in the format that the reader accepts.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, families []*dto.MetricFamily) {
	format := expfmt.NegotiateAccept(r.Header, offered...)
	w.Header().Set("Content-Type", string(format))
	w.Header().Add("Vary", "Accept, Accept-Encoding")
	if !acceptsGzip(r.Header) {
		if err := encode(w, families, format.FormatType()); err != nil {
			h.incomplete(err)
		}
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	compressed := gzip.NewWriter(w)
	err := encode(compressed, families, format.FormatType())
	if err = errors.Join(err, compressed.Close()); err != nil {
		h.incomplete(err)
	}
}

func (h *Handler) incomplete(reason error) {
	h.options.Log.Warn("metrics are incomplete", "reason", reason)
}

// acceptsGzip reports whether a reader wants its answer compressed.
func acceptsGzip(header http.Header) bool {
	for accepted := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(accepted, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		if quality, isGiven := strings.CutPrefix(strings.TrimSpace(weight), "q="); isGiven {
			value, err := strconv.ParseFloat(quality, 64)
			return err == nil && value > 0
		}
		return true
	}
	return false
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
		seen.Counted.Clients = nil // they are not about a toolbox
		seen.Counted.Servers = slices.DeleteFunc(seen.Counted.Servers, func(s *meter.Totals) bool { return !slices.Contains(visible, s.Toolbox) })
		return seen
	}
}
