package page

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

// What shows a recording is in the page and in the files that stand alone. The page has a copy, so that --assets has all of it.
func TestRecordingsLookTheSameEverywhere(t *testing.T) {
	for _, name := range []string{"recording-view.js", "recording-view.css"} {
		want, err := fs.ReadFile(recording.View, "view/"+name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile(builtIn, "assets/"+name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("copy internal/observe/recording/view/%s to internal/web/page/assets: %v", name, err)
		}
	}
}
