package config

import (
	"fmt"
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

// Beside a user's own file, a project cannot begin, end or change the log, and every way of trying is named.
func TestProjectHasNoAudit(t *testing.T) {
	for _, mine := range []Audit{{}, {On: true, Required: true}} {
		for value, at := range map[string]string{`true`: "audit", `{}`: "audit", `{"required": true, "keep": "1d"}`: "audit.keep"} {
			user := Empty()
			user.Path, user.Audit = "/u.json", mine
			cfg, err := Parse("f", []byte(`{"audit": `+value+`, "toolboxes": {}}`), ParseOptions{User: user})
			if err != nil || cfg.Audit != mine {
				t.Errorf("%s beside %+v: %+v, %v", value, mine, cfg, err)
				continue
			}
			if !strings.Contains(fmt.Sprint(cfg.Warnings), "'"+at+"' of a project's file does not count") {
				t.Errorf("%s beside %+v: %v", value, mine, cfg.Warnings)
			}
		}
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
