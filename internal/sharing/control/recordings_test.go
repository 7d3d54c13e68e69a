//go:build unix

package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

func TestRecordings(t *testing.T) {
	s, client, _ := serve(t)
	server := client.Status.Servers[0]
	info, err := client.Record(t.Context(), server, time.Minute)
	if err != nil || !info.Running || !info.Waiting || info.Toolbox != server.Toolbox || info.Server != server.Name {
		t.Fatalf("%+v, %v", info, err)
	}
	var known *toolbox.Error
	if _, err := client.Record(t.Context(), server, time.Minute); !errors.As(err, &known) || known.Code != toolbox.RecordingRunning {
		t.Errorf("a second one: %v", err)
	}
	if _, err := client.Record(t.Context(), server, 2*time.Hour); err == nil || !strings.Contains(err.Error(), "from 1 to 3600") {
		t.Errorf("too long: %v", err)
	}
	if all, err := client.Recordings(t.Context()); err != nil || len(all) != 1 || all[0].Name != info.Name || !all[0].Running {
		t.Errorf("%+v, %v", all, err)
	}
	if info, err = client.StopRecording(t.Context(), info.Name); err != nil || info.Running || info.Ended != "stopped" {
		t.Errorf("%+v, %v", info, err)
	}
	if len(s.book.Running()) > 0 {
		t.Error("it still runs")
	}
	var file bytes.Buffer
	if err := client.CopyRecording(t.Context(), info.Name, &file); err != nil || !strings.HasPrefix(file.String(), `{"recording":1,`) {
		t.Errorf("%s, %v", &file, err)
	}
	body, err := client.send(context.Background(), http.MethodGet, recordingHTMLPath, url.Values{nameParameter: {info.Name}})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if page, err := io.ReadAll(body); err != nil || !strings.HasPrefix(string(page), "<!doctype html>") {
		t.Errorf("%.100s, %v", page, err)
	}
	for _, name := range []string{"", "../control-1", "none.jsonl"} {
		if err := client.CopyRecording(t.Context(), name, io.Discard); !errors.As(err, &known) || known.Code != toolbox.RecordingNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}
