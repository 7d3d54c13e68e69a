package page

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
)

// What shows a recording is in the program once: the page serves what the files that stand alone have, unless a folder that
// replaces the built-in files has its own.
func TestRecordingsLookTheSameEverywhere(t *testing.T) {
	const index = `<script type="importmap">{}</script>`
	for _, one := range []struct {
		options Options
		want    string
	}{
		{Options{}, "export function showRecording"},
		{Options{Assets: fstest.MapFS{"index.html": {Data: []byte(index)}}}, "export function showRecording"},
		{Options{Assets: fstest.MapFS{"index.html": {Data: []byte(index)}, "recording-view.js": {Data: []byte("// mine")}}}, "// mine"},
	} {
		p := newTestPage(t, one.options)
		got := request(p, http.MethodGet, "/ui/assets/recording-view.js", "", "")
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), one.want) || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/javascript") {
			t.Errorf("%d, %s: %.80s", got.Code, got.Header().Get("Content-Type"), got.Body)
		}
		if got := request(p, http.MethodGet, "/ui/assets/alone.js", "", ""); got.Code != http.StatusNotFound {
			t.Errorf("alone.js, which is not for the page: %d", got.Code)
		}
	}
}
