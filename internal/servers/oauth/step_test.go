package oauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// A place where nothing is found is told apart from what is found.
func TestStepsOfMissingDocuments(t *testing.T) {
	for _, test := range []struct {
		body string
		want bool
	}{{`{}`, false}, {`<html>`, true}} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) }))
		defer web.Close()
		server, _ := url.Parse(web.URL)
		guard, err := webclient.NewGuard(server, webclient.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var steps []Step
		d := newDiscoverer(guard, server, nil, func(step Step) { steps = append(steps, step) })
		if _, err := d.document(t.Context(), "metadata", web.URL, &struct{}{}); err != nil {
			t.Fatal(err)
		}
		if len(steps) != 1 || steps[0].Missing != test.want {
			t.Errorf("%s: the steps are %+v", test.body, steps)
		}
	}
}
