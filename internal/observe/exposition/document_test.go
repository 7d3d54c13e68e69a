package exposition

import (
	"encoding/json"
	"math"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

func TestDocument(t *testing.T) {
	count, sum, bound, infinite := uint64(3), 1.5, .1, math.Inf(1)
	family := func(kind dto.MetricType, metric *dto.Metric) *dto.MetricFamily {
		name, help := "m", "h"
		return &dto.MetricFamily{Name: &name, Help: &help, Type: &kind, Metric: []*dto.Metric{metric}}
	}
	for _, test := range []struct {
		family *dto.MetricFamily
		want   string
	}{
		{family(dto.MetricType_COUNTER, &dto.Metric{Counter: &dto.Counter{Value: &sum}}), `"type":"counter","help":"h","samples":[{"labels":{},"value":1.5}]`},
		{family(dto.MetricType_GAUGE, &dto.Metric{Gauge: &dto.Gauge{Value: &infinite}}), `"type":"gauge","help":"h","samples":[{"labels":{}}]`},
		{
			family(dto.MetricType_HISTOGRAM, &dto.Metric{Histogram: &dto.Histogram{SampleCount: &count, SampleSum: &sum, Bucket: []*dto.Bucket{
				{UpperBound: &bound, CumulativeCount: &count}, {UpperBound: &infinite, CumulativeCount: &count},
			}}}),
			`"type":"histogram","help":"h","samples":[{"labels":{},"count":3,"sum":1.5,"buckets":[{"upTo":0.1,"count":3}]}]`,
		},
		{family(dto.MetricType_SUMMARY, &dto.Metric{Summary: &dto.Summary{SampleCount: &count, SampleSum: &sum}}), `"type":"summary","help":"h","samples":[{"labels":{},"count":3,"sum":1.5}]`},
	} {
		got, err := json.Marshal(NewDocument([]*dto.MetricFamily{test.family}))
		if want := `{"metrics":[{"name":"m",` + test.want + `}]}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
