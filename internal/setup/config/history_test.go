package config

import (
	"strings"
	"testing"
	"time"
)

func TestHistory(t *testing.T) {
	const day = 24 * time.Hour
	for value, want := range map[string]time.Duration{
		`{}`: 0, `{"keep": "7d"}`: 7 * day, `{"keep": "1h"}`: time.Hour, `{"keep": "36h"}`: 36 * time.Hour, `{"keep": "1d12h"}`: 36 * time.Hour, `{"keep": "366d"}`: 366 * day,
	} {
		cfg, err := Parse("f", []byte(`{"history": `+value+`, "toolboxes": {}}`), ParseOptions{})
		if err != nil || cfg.History.Keep != want {
			t.Errorf("%s: %v, %v", value, cfg.History.Keep, err)
		}
	}
	for _, value := range []string{`"7"`, `"7 d"`, `"d"`, `"-1d"`, `"1d-12h"`, `"0"`, `"59m"`, `"367d"`, `"99999999999d"`, `"7d7d"`, `"a week"`} {
		_, err := Parse("f", []byte(`{"history": {"keep": `+value+`}, "toolboxes": {}}`), ParseOptions{})
		if err == nil || !strings.Contains(err.Error(), `'history.keep' must be a time from "1h" to "366d"`) {
			t.Errorf("%s: %v", value, err)
		}
	}
	if _, err := Parse("f", []byte(`{"history": "7d", "toolboxes": {}}`), ParseOptions{}); err == nil {
		t.Error("a text is accepted in place of an object")
	}
}
