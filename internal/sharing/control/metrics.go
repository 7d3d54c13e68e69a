package control

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protodelim"
)

// Metrics returns the metrics of the workbench.
func (c *Client) Metrics(ctx context.Context) (all []*dto.MetricFamily, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://workbench"+metricsPath, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	body, err := c.do(request)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	bounded := &io.LimitedReader{R: body, N: maxAnswer}
	families, limits := bufio.NewReader(bounded), protodelim.UnmarshalOptions{MaxSize: maxAnswer}
	for {
		family := new(dto.MetricFamily)
		switch err := limits.UnmarshalFrom(families, family); {
		case bounded.N <= 0:
			return nil, errors.New("its metrics are too large")
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, family)
	}
}
