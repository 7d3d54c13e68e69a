package exposition

import (
	"cmp"
	"io"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protodelim"
)

// Label adds a label to all metrics.
func Label(families []*dto.MetricFamily, name, value string) {
	for _, family := range families {
		for _, metric := range family.Metric {
			metric.Label = append(metric.Label, &dto.LabelPair{Name: &name, Value: &value})
		}
	}
}

// Merge returns the metrics of several workbenches as one, by name. They differ in a label; see Label.
func Merge(parts [][]*dto.MetricFamily) []*dto.MetricFamily {
	byName := make(map[string]*dto.MetricFamily)
	var all []*dto.MetricFamily
	for _, families := range parts {
		for _, family := range families {
			known := byName[family.GetName()]
			switch {
			case known == nil:
				byName[family.GetName()] = family
				all = append(all, family)
			case known.GetType() == family.GetType(): // it is another one in another version otherwise, and cannot be shown beside this one
				known.Metric = append(known.Metric, family.Metric...)
			}
		}
	}
	slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}

// Write writes metrics in the text format of Prometheus or, with their exemplars, of OpenMetrics.
func Write(out io.Writer, families []*dto.MetricFamily, openMetrics bool) error {
	if openMetrics {
		return encode(out, families, expfmt.TypeOpenMetrics)
	}
	return encode(out, families, expfmt.TypeTextPlain)
}

// encode writes metrics in one of the formats that are offered. It calls the writer of each itself: the encoder of
// expfmt, and promhttp, would bring those that nobody asks for into the binary.
func encode(out io.Writer, families []*dto.MetricFamily, format expfmt.FormatType) (err error) {
	for _, family := range families {
		switch format {
		case expfmt.TypeOpenMetrics:
			_, err = expfmt.MetricFamilyToOpenMetrics(out, family)
		case expfmt.TypeProtoDelim:
			_, err = protodelim.MarshalTo(out, family)
		default:
			_, err = expfmt.MetricFamilyToText(out, family)
		}
		if err != nil {
			return err
		}
	}
	if format == expfmt.TypeOpenMetrics {
		_, err = expfmt.FinalizeOpenMetrics(out)
	}
	return err
}
