package exposition

import (
	"math"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// Document is metrics for scripts that do not read the formats of Prometheus.
type Document struct {
	Metrics []documentFamily `json:"metrics"`
}

type (
	documentFamily struct {
		Name    string           `json:"name"`
		Type    string           `json:"type"` // counter, gauge, histogram or summary
		Help    string           `json:"help"`
		Samples []documentSample `json:"samples"`
	}
	documentSample struct {
		Labels  map[string]string `json:"labels"`
		Value   *float64          `json:"value,omitempty"` // of a counter or gauge
		Count   *uint64           `json:"count,omitempty"` // of a histogram or summary
		Sum     *float64          `json:"sum,omitempty"`
		Buckets []documentBucket  `json:"buckets,omitempty"`
	}
	documentBucket struct {
		UpTo  float64 `json:"upTo"` // the bound; what is above the last one is only in the count
		Count uint64  `json:"count"`
	}
)

// NewDocument returns metrics as values for JSON.
func NewDocument(families []*dto.MetricFamily) Document {
	d := Document{Metrics: []documentFamily{}}
	for _, family := range families {
		one := documentFamily{
			Name: family.GetName(), Type: strings.ToLower(family.GetType().String()), Help: family.GetHelp(), Samples: []documentSample{},
		}
		for _, metric := range family.GetMetric() {
			one.Samples = append(one.Samples, newSample(metric))
		}
		d.Metrics = append(d.Metrics, one)
	}
	return d
}

func newSample(metric *dto.Metric) documentSample {
	sample := documentSample{Labels: make(map[string]string)}
	for _, label := range metric.GetLabel() {
		sample.Labels[label.GetName()] = label.GetValue()
	}
	switch {
	case metric.Counter != nil:
		sample.Value = finite(metric.Counter.GetValue())
	case metric.Gauge != nil:
		sample.Value = finite(metric.Gauge.GetValue())
	case metric.Untyped != nil:
		sample.Value = finite(metric.Untyped.GetValue())
	case metric.Summary != nil:
		count := metric.Summary.GetSampleCount()
		sample.Count, sample.Sum = &count, finite(metric.Summary.GetSampleSum())
	case metric.Histogram != nil:
		count := metric.Histogram.GetSampleCount()
		sample.Count, sample.Sum = &count, finite(metric.Histogram.GetSampleSum())
		for _, bucket := range metric.Histogram.GetBucket() {
			if bound := bucket.GetUpperBound(); !math.IsInf(bound, 0) {
				sample.Buckets = append(sample.Buckets, documentBucket{bound, bucket.GetCumulativeCount()})
			}
		}
	}
	return sample
}

// finite leaves out what JSON has no number for.
func finite(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}
