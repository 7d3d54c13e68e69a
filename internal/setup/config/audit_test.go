package config

import (
	"strings"
	"testing"
	"time"
)

func TestAudit(t *testing.T) {
	const day = 24 * time.Hour
	for value, want := range map[string]Audit{
		`false`: {}, `true`: {On: true}, `{}`: {On: true}, `{"required": true}`: {On: true, Required: true},
		`{"folder": "log", "keep": "90d"}`: {On: true, Folder: "/etc/log", Keep: 90 * day}, `{"folder": "/log", "keep": "36h"}`: {On: true, Folder: "/log", Keep: 36 * time.Hour},
		`{"folder": "~/log"}`: {On: true, Folder: "/home/me/log"},
	} {
		cfg, err := Parse("f", []byte(`{"audit": `+value+`, "toolboxes": {}}`), ParseOptions{Dir: "/etc", Home: "/home/me"})
		if err != nil || cfg.Audit != want {
			t.Errorf("%s: %+v, %v", value, cfg, err)
		}
	}
	for _, value := range []string{`"true"`, `{"keep": "90"}`, `{"keep": "1h"}`, `{"keep": "4000d"}`, `{"keep": "d"}`, `{"keep": "1d-2h"}`, `{"require": true}`, `{"required": 1}`, `{"folder": ""}`} {
		if _, err := Parse("f", []byte(`{"audit": `+value+`, "toolboxes": {}}`), ParseOptions{}); err == nil || !strings.Contains(err.Error(), "audit") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestProjectHasNoAudit(t *testing.T) {
	cfg, err := Parse("f", []byte(`{"audit": {"required": true}, "toolboxes": {}}`), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	without := cfg.WithoutAudit()
	if without.Audit.On || !cfg.Audit.On || len(without.Warnings) != len(cfg.Warnings)+1 {
		t.Errorf("%+v", without)
	}
	if without.WithoutAudit() != without {
		t.Error("it warns twice")
	}
}

// What a project does is recorded although the user's own file is broken.
func TestAuditOfABrokenFile(t *testing.T) {
	for text, want := range map[string]Audit{
		`{"toolboxes": `: {}, `{"audit": true, "toolboxes": `: {On: true}, `{"audit": {"required": true}, "toolboxes": `: {On: true, Required: true},
	} {
		if got := Withheld("/u.json", &Source{Data: []byte(text)}).Audit; got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := Withheld("/u.json", nil).Audit; got != (Audit{}) {
		t.Errorf("%+v", got)
	}
}
